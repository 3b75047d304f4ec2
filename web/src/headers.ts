import type { HeadersOption } from "turnwire";
import { tagOf } from "./byte-reader.ts";
import type { Header } from "./contract.ts";
import { invalid } from "./invalid.ts";

/** Headers as a list, each name once. */
export function headers(value: HeadersOption | undefined, field: string): Header[] {
  if (value === undefined) return [];
  const found = new Map<string, [string, string]>();
  try {
    for (const pair of pairs(value)) {
      if (!Array.isArray(pair) || pair.length !== 2 || !pair.every((part) => typeof part === "string")) throw new TypeError("no pair");
      const [name, text] = pair as [string, string];
      const before = found.get(name.toLowerCase());
      // Fetch standard, "combine": the module would send the last one alone.
      found.set(name.toLowerCase(), before ? [before[0], `${before[1]}, ${text}`] : [name, text]);
    }
    new Headers([...found.values()]);
  } catch {
    // Not in the platform's words, which do not name the option.
    throw invalid(field, "an object, Headers, a Map or an array of pairs, with header names and string values that HTTP allows");
  }
  return [...found.values()];
}

/** The names and values of headers, in whichever form they are. An object of another class may hide its own. */
function pairs(value: HeadersOption): Iterable<unknown> {
  if (Array.isArray(value) || /^(Headers|Map)$/.test(tagOf(value))) return value as Iterable<unknown>;
  if (isPlain(value)) return Object.entries(value);
  throw new TypeError("no headers");
}

/** Made by {}, Object.create(null) or JSON.parse, in this frame or another one. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (tagOf(value) !== "Object") return false;
  const parent = Object.getPrototypeOf(value);
  return parent === null || Object.getPrototypeOf(parent) === null;
}
