// Nonsense from a seed, as JSON text: what no serialiser would write is nonsense too. Runs in Node and in the page.

/**
 * The most characters of a structure, and of a string: one value can only be parsed in one go, and what JSON.parse takes
 * for it is no fault of the client's.
 */
export const large = { structure: 1 << 17, string: 1 << 20 };

/** Chooses by weight: { name: weight } gives a name. */
export function weighted(r, weights) {
  let at = r.next() * Object.values(weights).reduce((a, b) => a + b, 0);
  for (const [name, weight] of Object.entries(weights)) if ((at -= weight) < 0) return name;
  return Object.keys(weights)[0];
}

export const chance = (r, probability) => r.next() < probability;

const words = [
  "", " ", "0", "null", "undefined", "true", "message", "text_delta", "turn_complete", "error", "ready", "upload_failed", "processing_failed",
  "__proto__", "constructor", "toString", "hasOwnProperty", "then", "toJSON", "[DONE]", "data: x\n\n", "\r\n", "../..", ".", "..", "/", "?a=b#c", "%00", "%2e%2e",
  "https://example.invalid/?sig=x", "http://", "javascript:alert(1)", "data:,x", "//host/path", "é", "漢字", "👩‍👩‍👧", "\u202e", "\ufeff", "\u0000", "\u2028", "a".repeat(300),
];
/** String literals that JavaScript would not write: escapes of plain letters, halves of surrogate pairs, NUL. */
const literals = ['"\\ud83d"', '"\\ude00"', '"\\ud83d\\ud83d\\ude00"', '"\\u0000"', '"turn\\u005fcomplete"', '"\\/"', '"\\b\\f\\n\\r\\t"', '"\\ud800x"'];
const numbers = ["0", "-0", "1", "-1", "7", "200", "3.5", "1e9", "1e308", "1e999", "-1e999", "9007199254740993", "18446744073709551616", "1e-400", "2147483648", "4294967296", "0.1e1"];

/** A string as JSON text, now and then a literal, and rarely a long one. */
export function string(r) {
  if (chance(r, 0.03)) return JSON.stringify("long ".repeat(1 + r.below(20_000)));
  return chance(r, 0.3) ? r.pick(literals) : JSON.stringify(r.pick(words));
}

export function scalar(r) {
  switch (weighted(r, { string: 4, number: 3, word: 2 })) {
    case "string": return string(r);
    case "number": return r.pick(numbers);
    default: return r.pick(["null", "true", "false"]);
  }
}

/** Any JSON value as text, rarely deep or wide. */
export function any(r, depth = 0) {
  if (depth === 0 && chance(r, 0.02)) return deep(r);
  if (depth > 3 || chance(r, 0.55)) return scalar(r);
  if (chance(r, 0.02)) return `[${"0,".repeat(r.below(20_000))}0]`;
  const items = Array.from({ length: r.below(5) }, () => any(r, depth + 1));
  return chance(r, 0.4) ? `[${items.join()}]` : `{${items.map((item) => `${string(r)}:${item}`).join()}}`;
}

/** Nested far below what a function that calls itself can walk. */
function deep(r) {
  const n = chance(r, 0.5) ? 500 : large.structure / 8;
  return chance(r, 0.5) ? "[".repeat(n) + "]".repeat(n) : `${'{"a":'.repeat(n)}1${"}".repeat(n)}`;
}

/** A record is a list of [name, JSON text]. */
export const text = (record) => `{${record.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`;

/** A record with one member changed, as text. */
export function changed(r, record) {
  const out = record.map((member) => [...member]);
  const i = r.below(out.length);
  switch (weighted(r, { value: 6, gone: 2, twice: 2, renamed: 1, wrapped: 1, list: 1, inside: 1, added: 1 })) {
    case "value": out[i][1] = any(r); break;
    case "gone": out.splice(i, 1); break;
    case "twice": out.splice(r.below(out.length + 1), 0, [out[i][0], any(r)]); break;
    case "renamed": out[i][0] = r.pick(["id", "ID", "data", "file", "url", "status", `${out[i][0]} `, ""]); break;
    case "wrapped": out[i][1] = chance(r, 0.5) ? `[${out[i][1]}]` : `{"value":${out[i][1]}}`; break;
    case "list": return `[${text(record)}]`;
    case "inside": return `{${string(r)}:${any(r)},"${r.pick(["data", "file", "chat", "result"])}":${text(record)}}`;
    default: out.splice(r.below(out.length + 1), 0, [r.pick(["error", "message", "code", "status", "data", "__proto__"]), any(r)]);
  }
  return text(out);
}

/** Bytes with something wrong in them: cut, doubled, turned, no UTF-8. */
export function spoiled(r, bytes) {
  const at = r.below(bytes.length + 1), to = Math.min(at + 1 + r.below(40), bytes.length);
  const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
  if (bytes.length > 10_000) return bytes.subarray(0, at);
  switch (weighted(r, { cut: 3, odd: 3, twice: 1, turned: 1, bom: 1 })) {
    case "cut": return bytes.subarray(0, at);
    case "twice": return join(bytes.subarray(0, to), bytes.subarray(at));
    case "turned": return bytes.map((b, i) => (i === at ? b ^ (1 << r.below(8)) : b));
    case "bom": return join([0xef, 0xbb, 0xbf], bytes);
    default: return join(bytes.subarray(0, at), r.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0xbd], [0xf0, 0x9f], [0], [0xe2, 0x82], [0xfe, 0xff]]), bytes.subarray(at));
  }
}
