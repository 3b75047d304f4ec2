import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { headers } from "../src/headers.ts";

for (const [what, value, expected] of [
  ["none", undefined, []],
  ["an object", { "X-A": "1", "x-b": "" }, [["x-a", "1"], ["x-b", ""]]],
  ["an object without a prototype", Object.assign(Object.create(null), { a: "1" }), [["a", "1"]]],
  ["an object of another frame", runInNewContext("({ a: '1' })"), [["a", "1"]]],
  ["Headers", new Headers({ "X-A": "1" }), [["x-a", "1"]]],
  ["a Map", new Map([["X-A", "1"], ["x-b", "2"]]), [["x-a", "1"], ["x-b", "2"]]],
  ["a Map of another frame", runInNewContext("new Map([['a', '1']])"), [["a", "1"]]],
  ["pairs", [["X-A", "1"], ["x-b", "2"]], [["x-a", "1"], ["x-b", "2"]]],
  ["a name twice", [["X-A", "1"], ["x-b", "2"], ["x-a", "3"]], [["x-a", "1, 3"], ["x-b", "2"]]],
  ["a name twice, the second in capitals", [["x-a", "1"], ["X-A", "3"]], [["x-a", "1, 3"]]],
  ["no pairs", [], []],
]) {
  test(`${what}: names and values, each name once`, () => assert.deepEqual(headers(value, "headers"), expected));
}

for (const [what, value] of Object.entries({
  null: null, "a string": "x-a: 1", "a number": 42, "a function": () => {}, "a Set": new Set(), "a Date": new Date(), "a promise": Promise.resolve({}),
  URLSearchParams: new URLSearchParams("a=1"), "an object of a class": new (class { a = "b"; })(),
  "an array of strings": ["ab"], "an array of three": [["a", "b", "c"]], "a number as a value": { a: 1 }, "undefined as a value": { a: undefined },
  "a Map of numbers": new Map([["a", 1]]), "a name with a space": { "a b": "1" }, "an empty name": { "": "1" }, "a line end": { a: "1\n2" }, "more than Latin-1": { a: "…" },
})) {
  test(`${what} is refused by the option's name`, () => {
    assert.throws(() => headers(value, "headers"), { name: "InvalidArgumentError", code: "invalid_argument", message: /^headers must be an object, Headers, a Map or an array of pairs/ });
  });
}
