import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { lossless } from "../src/lossless.ts";

const shared = { a: 1 };
class Reference {
  type = "image";
  describe() {}
}

for (const [what, value] of Object.entries({
  "a string": "text", "an empty string": "", "a number": 1.5, "minus zero": -0, true: true, null: null, "an array": [1, [2, []]], "an object": { a: { b: [null] } },
  "an object without a prototype": Object.assign(Object.create(null), { a: 1 }),
  "an object of a class": new Reference(),
  "an object of another frame": runInNewContext("({ a: [1, 2] })"),
  "an object twice": [shared, shared],
  "undefined members": { a: undefined, b: 1 },
  "a Date": { at: new Date(0) }, "an address": { at: new URL("https://a.example/") }, "a toJSON that is no function": { toJSON: 1 },
  "a toJSON that knows its name": [{ toJSON: (name) => `at ${name}` }],
  "a toJSON that gives nothing": { gone: { toJSON() {} }, b: 1 },
  "a name like the prototype's": JSON.parse('{"__proto__": {"a": 1}}'),
  "a symbol as a name": { [Symbol("s")]: 1, a: 1 },
})) {
  test(`as JSON says it: ${what}`, () => assert.equal(lossless(value, "value"), JSON.stringify(value)));
}

test("each member is read once", () => {
  const reads = [];
  const value = new Proxy({ a: 1 }, { get: (object, name) => (reads.push(name), object[name]) });
  assert.equal(lossless({ value }, "value"), '{"value":{"a":1}}');
  assert.deepEqual(reads.filter((name) => name === "a"), ["a"]);
});

const loop = {};
loop.self = loop;
let deep = {};
for (let i = 0; i < 1_001; i++) deep = { d: deep };
class Hiding {
  get url() { return "x"; }
}

for (const [what, value, message] of [
  ["undefined", undefined, /^value must be what JSON can say, no undefined$/],
  ["NaN", NaN, /^value must be what JSON can say, no NaN$/],
  ["Infinity", { a: Infinity }, /^value\.a must be .*no Infinity$/],
  ["a bigint", [1n], /^value\[0\] must be .*no bigint$/],
  ["a function", { a() {} }, /^value\.a must be .*no function$/],
  ["a symbol", { a: Symbol("s") }, /^value\.a must be .*no symbol$/],
  ["a Map", { a: new Map() }, /^value\.a must be .*no Map$/],
  ["a Set", new Set(), /^value must be .*no Set$/],
  ["a Blob", { a: [new Blob()] }, /^value\.a\[0\] must be .*no Blob$/],
  ["bytes", new Uint8Array(1), /^value must be .*no Uint8Array$/],
  ["a promise", { "a b": Promise.resolve() }, /^value\["a b"\] must be .*no Promise$/],
  ["a hole", [1, , 2], /^value\[1\] must be .*no hole in an array$/],
  ["undefined in an array", [undefined], /^value\[0\] must be .*no undefined$/],
  ["a named member of an array", Object.assign([1], { more: 2 }), /^value\.more must be .*no named member of an array$/],
  ["an accessor", { get a() { return 1; } }, /^value\.a must be .*no accessor$/],
  ["an accessor of a class", new Hiding(), /^value\.url must be .*no accessor$/],
  ["a loop", { a: loop }, /^value\.a\.self must be .*no part of itself$/],
  ["a thousand values in each other", deep, /no more than 1000 values deep in each other$/],
  ["a toJSON that throws", { toJSON() { throw new Error("thrown by the page"); } }, /^value must be .*no value that throws when it is read$/],
  ["a toJSON that gives a Map", { a: { toJSON: () => new Map() } }, /^value\.a must be .*no Map$/],
]) {
  test(`refused by its place: ${what}`, () => assert.throws(() => lossless(value, "value"), { name: "InvalidArgumentError", code: "invalid_argument", message }));
}

test("a place deep inside is told as far as twenty names", () => {
  assert.throws(() => lossless(deep, "value"), ({ message }) => message.startsWith(`value${".d".repeat(20)} must be `));
});
