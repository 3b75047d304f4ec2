import assert from "node:assert/strict";
import { test } from "node:test";
import * as errors from "../src/errors.ts";

const { AgentError, errorOf, textOf } = errors;

const spec = (kind, more) => ({ kind, code: "some_code", message: "what happened", retryable: true, ...more });

for (const kind of [
  "APIError", "AuthenticationError", "NotFoundError", "ConflictError", "RateLimitError", "ConnectionError", "TimeoutError", "ProtocolError",
  "TurnError", "ReplayMismatchError", "UploadError", "FileError", "AgentError",
]) {
  test(`what the module says of kind ${kind}`, () => {
    const error = errorOf(spec(kind, { status: 400, requestId: "r" }));
    assert.equal(error.constructor, errors[kind]);
    assert.ok(error instanceof AgentError && error instanceof Error);
    assert.deepEqual(
      [error.name, error.message, error.code, error.retryable, error.requestId, error.status, "kind" in error, "partial" in error],
      [kind, "what happened", "some_code", true, "r", 400, false, false],
    );
  });
}

test("what the service refuses is an APIError by every class of it", () => {
  for (const kind of ["AuthenticationError", "NotFoundError", "ConflictError", "RateLimitError"]) assert.ok(errorOf(spec(kind)) instanceof errors.APIError, kind);
});

const partials = { "a text": { text: "a" }, "a reasoning": { reasoning: "a" }, "a tool call": { toolCalls: [{}] } };
for (const [what, partial] of Object.entries(partials)) {
  test(`a refusal carries ${what} that was received before it`, () => assert.equal(errorOf(spec("ConflictError"), partial).partial, partial));
}

test("a refusal of which nothing was received before has nothing partial, every other error has", () => {
  const nothing = { text: "", reasoning: "", toolCalls: [] };
  assert.equal("partial" in errorOf(spec("ConflictError"), nothing), false);
  assert.equal(errorOf(spec("TurnError"), nothing).partial, nothing);
});

test("as JSON an error has its name, its message and its fields, neither stack nor cause", () => {
  const error = new errors.ConnectionError("it broke", "broken", true, { cause: new Error("why"), requestId: "r" });
  assert.deepEqual(JSON.parse(JSON.stringify(error)), { name: "ConnectionError", message: "it broke", code: "broken", retryable: true, requestId: "r" });
  assert.equal(error.cause.message, "why");
  assert.equal("cause" in new AgentError("m", "c"), false);
  assert.equal(new AgentError("m", "c").retryable, false);
});

test("names are of the prototype, so that a list of fields shows none", () => {
  assert.deepEqual(Object.keys(new errors.FileError("m", "c")), ["code", "retryable"]);
});

const hostile = new Proxy({}, { has() { throw new Error("in"); }, get() { throw new Error("get"); } });
for (const [what, value, text] of [
  ["an error", new TypeError("bad"), "TypeError: bad"],
  ["an error without a message", new RangeError(), "RangeError"],
  ["an object like an error", { name: "Odd", message: "thing" }, "Odd: thing"],
  ["a string", "text", "text"],
  ["nothing", undefined, "undefined"],
  ["null", null, "null"],
  ["a symbol", Symbol("s"), "Symbol(s)"],
  ["an object without a prototype", Object.create(null), "an unknown error"],
  ["an object that throws when it is looked at", hostile, "an unknown error"],
]) {
  test(`${what} as text`, () => assert.equal(textOf(value), text));
}
