import assert from "node:assert/strict";
import { test } from "node:test";
import { answerOf } from "../src/answer.ts";

test("what is needed of an answer is read", () => {
  const response = new Response("x", { status: 429, headers: { "content-type": "text/plain", "request-id": "r", "retry-after": "3" } });
  const { body } = response;
  assert.deepEqual(answerOf(response), { head: { status: 429, contentType: "text/plain", requestId: "r", retryAfter: "3" }, body });
});

test("x-request-id goes before request-id", () => {
  assert.equal(answerOf(new Response("", { headers: { "request-id": "a", "x-request-id": "b" } })).head.requestId, "b");
});

test("headers that give no strings are none", () => {
  assert.deepEqual(answerOf({ status: 200, headers: { get: () => 42 } }).head.contentType, "");
});

for (const [what, response, message] of [
  ["undefined", undefined, /must resolve with a Response/], ["null", null, /must resolve with a Response/], ["a string", "ok", /must resolve with a Response/],
  ["an object without headers", { status: 200 }, /must resolve with a Response/], ["no whole status", { status: 200.5, headers: new Headers() }, /must resolve with a Response/],
  ["a status past all", { status: 1000, headers: new Headers() }, /must resolve with a Response/], ["a negative status", { status: -1, headers: new Headers() }, /must resolve with a Response/],
  ["a network error", Response.error(), /of type error, and says nothing/],
]) {
  test(`no answer: ${what}`, () => assert.throws(() => answerOf(response), { name: "TypeError", message }));
}
