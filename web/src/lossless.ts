import { tagOf } from "./byte-reader.ts";
import { InvalidArgumentError } from "./errors.ts";
import { invalid } from "./invalid.ts";

/** Deeper than any message, and far from the end of the stack. */
const deepest = 1_000;

/**
 * A value as JSON. What JSON would lose is an InvalidArgumentError that names its place, such as message[0].image; members
 * that are undefined are left out. Each member is read once: what is looked at is what is sent.
 */
export function lossless(value: unknown, name: string): string {
  /** Where an object on the way down lies, in words, and the way: the objects that lead to it, and itself. */
  const places = new Map<object, { place: string; way: object[] }>();

  const under = (place: string, key: string, list: boolean): string =>
    place + (list ? `[${key}]` : /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);
  const wrong = (place: string, not: string): InvalidArgumentError => invalid(place, `what JSON can say, no ${not}`);

  /** Looks at a value as toJSON gave it, and at what holds it. */
  function look(this: object, key: string, value: unknown): unknown {
    const list = Array.isArray(this);
    const holder = places.get(this);
    const way = holder?.way ?? [];
    const place = !holder ? name : way.length > 20 ? holder.place : under(holder.place, key, list);
    if (list && !(key in this)) throw wrong(place, "hole in an array");
    if (Object.getOwnPropertyDescriptor(this, key)?.get) throw wrong(place, "accessor");
    if (value === undefined && holder && !list) return undefined;
    if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return value;
    if (typeof value !== "object") throw wrong(place, typeof value === "number" ? String(value) : typeof value);
    if (way.includes(value)) throw wrong(place, "part of itself");
    if (way.length >= deepest) throw wrong(place, `more than ${deepest} values deep in each other`);
    places.set(value, { place, way: [...way, value] });
    if (Array.isArray(value)) {
      const named = Object.keys(value).find((key) => !/^\d+$/.test(key));
      if (named !== undefined) throw wrong(under(place, named, false), "named member of an array");
      return value;
    }
    const tag = tagOf(value);
    if (tag !== "Object") throw wrong(place, tag);
    // To who reads them, the accessors of a class look like members; to JSON they are none.
    for (let up = Object.getPrototypeOf(value); up && Object.getPrototypeOf(up); up = Object.getPrototypeOf(up)) {
      const hidden = Object.entries(Object.getOwnPropertyDescriptors(up)).find(([, { get }]) => get);
      if (hidden) throw wrong(under(place, hidden[0], false), "accessor");
    }
    return value;
  }

  try {
    return JSON.stringify(value, look);
  } catch (error) {
    // Else a toJSON or a proxy of the page's own threw.
    throw error instanceof InvalidArgumentError ? error : wrong(name, "value that throws when it is read");
  }
}
