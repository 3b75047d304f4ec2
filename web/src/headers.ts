import type { HeadersOption } from "turnwire";
import { tagOf } from "./byte-reader.ts";
import type { Header } from "./contract.ts";
import { invalid } from "./invalid.ts";

/** Headers as a list, each name once, as fetch puts them together: the module would send the last one alone. */
export function headers(value: HeadersOption | undefined, field: string): Header[] {
  if (value === undefined) return [];
  try {
    const given = pairs(value);
    if (given.every((pair) => Array.isArray(pair) && pair.every((part) => typeof part === "string"))) return [...new Headers(given)];
  } catch {
    // Not in the platform's words, which do not name the option.
  }
  throw invalid(field, "an object, Headers, a Map or an array of pairs, with names and strings that HTTP allows");
}

/** The names and values of headers, in whichever form they are. An object of another class may hide its own. */
function pairs(value: HeadersOption): [string, string][] {
  if (/^(Array|Headers|Map)$/.test(tagOf(value))) return [...(value as Headers)];
  if (isPlain(value)) return Object.entries(value as Record<string, string>);
  throw new TypeError();
}

/** Made by {}, Object.create(null) or JSON.parse, in this frame or another one. */
function isPlain(value: unknown): boolean {
  if (tagOf(value) !== "Object") return false;
  const parent = Object.getPrototypeOf(value);
  return parent === null || Object.getPrototypeOf(parent) === null;
}
