import assert from "node:assert/strict";
import { test } from "node:test";
import * as errors from "../src/errors.ts";

const { AgentError, errorOf, textOf } = errors;

const spec = (kind, more) => ({ kind, code: "some_code", message: "what happened", retryable: true, ...more });

for (const [kind, status, name] of [
  ["api", 400, "APIError"], ["api", 401, "AuthenticationError"], ["api", 403, "AuthenticationError"], ["api", 404, "NotFoundError"],
  ["api", 409, "ConflictError"], ["api", 429, "RateLimitError"], ["api", 500, "APIError"],
  ["connection", undefined, "ConnectionError"], ["timeout", undefined, "TimeoutError"], ["protocol", undefined, "ProtocolError"],
  ["turn", undefined, "TurnError"], ["mismatch", undefined, "ReplayMismatchError"], ["upload", 403, "UploadError"], ["file", undefined, "FileError"],
  ["client", undefined, "AgentError"], ["of a later version", undefined, "AgentError"],
]) {
  test(`${kind}${status ? ` ${status}` : ""}: ${name}`, () => {
    const error = errorOf(spec(kind, { status, requestId: "r" }));
    assert.equal(error.constructor, errors[name]);
    assert.ok(error instanceof AgentError && error instanceof Error);
    assert.deepEqual(
      [error.name, error.message, error.code, error.retryable, error.requestId, error.status, "kind" in error, "partial" in error],
      [name, "what happened", "some_code", true, "r", status, false, false],
    );
  });
}

test("what the service refuses is an APIError by every class of it", () => {
  for (const status of [401, 403, 404, 409, 429]) assert.ok(errorOf(spec("api", { status })) instanceof errors.APIError, String(status));
});

const partials = { "a text": { text: "a" }, "a reasoning": { reasoning: "a" }, "a tool call": { toolCalls: [{}] } };
for (const [what, partial] of Object.entries(partials)) {
  test(`a refusal carries ${what} that was received before it`, () => assert.equal(errorOf(spec("api", { status: 409 }), partial).partial, partial));
}

test("a refusal of which nothing was received before has nothing partial, every other error has", () => {
  const nothing = { text: "", reasoning: "", toolCalls: [] };
  assert.equal("partial" in errorOf(spec("api", { status: 409 }), nothing), false);
  assert.equal(errorOf(spec("turn"), nothing).partial, nothing);
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
