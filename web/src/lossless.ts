import { tagOf } from "./byte-reader.ts";
import { InvalidArgumentError } from "./errors.ts";
import { invalid } from "./invalid.ts";

/** Deeper than any message, and far from the end of the stack. */
const deepest = 1_000;

/**
 * What JSON makes of a value, in a copy that is read once: what is looked at is what is sent. What JSON would lose is an
 * InvalidArgumentError that names its place, such as message[0].image; members that are undefined are left out.
 */
export function lossless(value: unknown, name: string): unknown {
  /** Where the copy is at this moment: the names and indices down from the value, and the objects that they lead through. */
  const path: (string | number)[] = [];
  const within = new Set<object>();

  const wrong = (not: string, ...further: (string | number)[]): InvalidArgumentError => {
    const place = [...path, ...further].slice(0, 20).map((key) =>
      typeof key === "number" ? `[${key}]` : /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);
    return invalid(`${name}${place.join("")}`, `what JSON can say, no ${not}`);
  };

  function copy(value: unknown, needed: boolean): unknown {
    if (value !== null && /^(object|function|bigint)$/.test(typeof value)) {
      const { toJSON } = value as { toJSON?: unknown };
      if (typeof toJSON === "function") value = toJSON.call(value, String(path.at(-1) ?? ""));
    }
    if (value === undefined && !needed) return undefined;
    if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return value;
    if (typeof value !== "object") throw wrong(typeof value === "number" ? String(value) : typeof value);
    if (within.has(value)) throw wrong("part of itself");
    if (within.size >= deepest) throw wrong(`more than ${deepest} values deep in each other`);
    within.add(value);
    const list = Array.isArray(value);
    refuse(value, list);
    const made = list ? [] : Object.create(null);
    for (const key of list ? (value as unknown[]).keys() : Object.keys(value)) {
      path.push(key);
      const found = Object.getOwnPropertyDescriptor(value, key);
      if (!found) throw wrong("hole in an array");
      if (found.get) throw wrong("accessor");
      const member = copy(found.value, list);
      if (member !== undefined) made[key] = member;
      path.pop();
    }
    within.delete(value);
    return made;
  }

  /** Throws where an object has more to it than its own members. */
  function refuse(value: object, list: boolean): void {
    if (list) {
      const named = Object.keys(value).find((key) => !/^\d+$/.test(key));
      if (named !== undefined) throw wrong("named member of an array", named);
      return;
    }
    const tag = tagOf(value);
    if (tag !== "Object") throw wrong(tag);
    // To who reads them, the accessors of a class look like members; to JSON they are none.
    for (let up = Object.getPrototypeOf(value); up && Object.getPrototypeOf(up); up = Object.getPrototypeOf(up)) {
      const hidden = Object.entries(Object.getOwnPropertyDescriptors(up)).find(([, { get }]) => get);
      if (hidden) throw wrong("accessor", hidden[0]);
    }
  }

  try {
    return copy(value, true);
  } catch (error) {
    // Else a toJSON or a proxy of the page's own threw.
    throw error instanceof InvalidArgumentError ? error : wrong("value that throws when it is read");
  }
}
