import assert from "node:assert/strict";
import { test } from "node:test";
import { Hidden } from "../src/hidden.ts";

const key = "sk/secret+key";

function hiding(...keys) {
  const hidden = new Hidden();
  keys.forEach((key) => hidden.add(key));
  return hidden;
}

const unicode = (text) => [...text].map((char) => `\\u00${char.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");

for (const [what, text, expected] of [
  ["by itself", key, "[apiKey]"],
  ["within a text", `the key ${key} is refused`, "the key [apiKey] is refused"],
  ["several times", `${key}, ${key}`, "[apiKey], [apiKey]"],
  ["twice without a space", key + key, "[apiKey][apiKey]"],
  ["within a longer word", `x${key}x`, "x[apiKey]x"],
  ["with an escaped slash", `"${key.replace("/", "\\/")}"`, '"[apiKey]"'],
  ["in escapes", `"${unicode(key)}"`, '"[apiKey]"'],
  ["in escapes of capital digits", unicode(key).replace(/[a-f]/g, (digit) => digit.toUpperCase()), "[apiKey]"],
  ["partly in escapes", unicode(key.slice(0, 5)) + key.slice(5), "[apiKey]"],
  ["beside another escape", `\\n${key}\\u00e9\\\\`, "\\n[apiKey]\\u00e9\\\\"],
  ["not at all", "nothing to hide \\u0041\\/", "nothing to hide \\u0041\\/"],
  ["in part, in the middle", `a ${key.slice(0, -1)} b`, `a ${key.slice(0, -1)} b`],
  ["cut before an ellipsis", `it was ${key.slice(0, 6)}… and more`, "it was [apiKey]… and more"],
  ["cut before an ellipsis, too short to tell", `it was ${key.slice(0, 3)}…`, `it was ${key.slice(0, 3)}…`],
  ["whole, after an ellipsis", `… ${key}`, "… [apiKey]"],
  ["cut within an escape before an ellipsis", `${unicode(key.slice(0, 5))}\\u00…`, "[apiKey]…"],
  ["cut before each of two ellipses", `${key.slice(0, 7)}… ${key.slice(0, 8)}…`, "[apiKey]… [apiKey]…"],
  ["cut at the end of a short text, which is no excerpt", `it was ${key.slice(0, 6)}`, `it was ${key.slice(0, 6)}`],
]) {
  test(`a text that has the key ${what}`, () => assert.equal(hiding(key).text(text), expected));
}

test("a long text may end within the key", () => {
  const filler = "x".repeat(64_000);
  assert.equal(hiding(key).text(filler + key.slice(0, 6)), `${filler}[apiKey]`);
  assert.equal(hiding(key).text(`${filler}${key}`), `${filler}[apiKey]`);
});

test("every key is hidden, of whichever request it was", () => {
  assert.equal(hiding("first-key", "second-key").text("first-key second-key third-key"), "[apiKey] [apiKey] third-key");
});

test("a key of three characters is in every other word, and hides nothing; one of four does", () => {
  assert.equal(hiding("abc").text("abcabc"), "abcabc");
  assert.equal(hiding("abcd").text("abcd"), "[apiKey]");
  assert.equal(hiding("").text("text"), "text");
});

test("of many keys the hundred that were given last are hidden", () => {
  const hidden = hiding(...Array.from({ length: 100 }, (_, i) => `key-${i}.`));
  hidden.add("key-0.");
  hidden.add("key-100.");
  assert.equal(hidden.text("key-0. key-1. key-2. key-100."), "[apiKey] key-1. [apiKey] [apiKey]");
});

test("a value without a key is the same object", () => {
  const value = { a: [1, { b: "text" }], c: null };
  assert.equal(hiding(key).of(value), value);
  assert.equal(new Hidden().of(value), value);
});

test("a value is copied without the keys, in strings and in names, however deep", () => {
  const value = { message: `no ${key}`, [key]: [{ deep: [key, 1, null, true] }], other: { same: "text" } };
  const before = structuredClone(value);
  assert.deepEqual(hiding(key).of(value), { message: "no [apiKey]", "[apiKey]": [{ deep: ["[apiKey]", 1, null, true] }], other: { same: "text" } });
  assert.deepEqual(value, before);
});

test("a list stays one, in its order, and a name that is special stays a name", () => {
  const value = JSON.parse(`{"list": ["${key}", "b", "c"], "__proto__": {"x": "${key}"}}`);
  const shown = hiding(key).of(value);
  assert.deepEqual(shown.list, ["[apiKey]", "b", "c"]);
  assert.equal(Object.getPrototypeOf(shown), Object.prototype);
  assert.deepEqual(Object.getOwnPropertyDescriptor(shown, "__proto__").value, { x: "[apiKey]" });
});

test("a value may be nested deeper than calls can be", () => {
  let value = key;
  for (let i = 0; i < 200_000; i++) value = [value];
  let shown = hiding(key).of(value);
  while (Array.isArray(shown)) shown = shown[0];
  assert.equal(shown, "[apiKey]");
});

test("a long text with many ellipses takes no time to speak of", () => {
  const text = `${"…".repeat(200_000)}${key}`;
  const began = performance.now();
  assert.equal(hiding(key).text(text), `${"…".repeat(200_000)}[apiKey]`);
  assert.ok(performance.now() - began < 2_000);
});
