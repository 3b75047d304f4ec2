import assert from "node:assert/strict";
import { test } from "node:test";
import { guarded, Listeners } from "../src/listeners.ts";

/** What is reported as an uncaught error meanwhile. */
function reported(run) {
  const errors = [];
  globalThis.reportError = (error) => errors.push(error);
  run();
  delete globalThis.reportError;
  return errors;
}

test("what code of the page throws is reported, and goes no further", () => {
  const thrown = new Error("thrown by the page");
  assert.deepEqual(reported(() => guarded(() => { throw thrown; })), [thrown]);
  assert.deepEqual(reported(() => guarded(() => {})), []);
  assert.deepEqual(reported(() => guarded((argument) => { throw argument; }, "given")), ["given"]);
  assert.deepEqual(reported(() => guarded(undefined, "nobody listens")), []);
});

test("listeners are called in order, each once, with what they listen to", () => {
  const called = [];
  const listeners = new Listeners();
  const first = (argument) => called.push(["first", argument]);
  listeners.add("a", first);
  listeners.add("a", (argument) => called.push(["second", argument]));
  listeners.add("a", first);
  listeners.add("b", (argument) => called.push(["other", argument]));
  listeners.emit("a", 1);
  listeners.emit("none", 2);
  assert.deepEqual(called, [["first", 1], ["second", 1]]);
});

test("one that throws keeps nobody else from being called", () => {
  const called = [];
  const listeners = new Listeners();
  listeners.add("a", () => { throw "a text"; });
  listeners.add("a", () => called.push("second"));
  assert.deepEqual(reported(() => listeners.emit("a")), ["a text"]);
  assert.deepEqual(called, ["second"]);
});

test("one that is taken away while others are called is called no more, one that is added not yet", () => {
  const called = [];
  const listeners = new Listeners();
  const second = () => called.push("second");
  listeners.add("a", () => {
    listeners.remove("a", second);
    listeners.add("a", () => called.push("added"));
  });
  listeners.add("a", second);
  listeners.emit("a");
  assert.deepEqual(called, []);
  listeners.emit("a");
  assert.deepEqual(called, ["added"]);
});

test("any tells whether there is a listener left", () => {
  const listeners = new Listeners();
  const one = () => {}, two = () => {};
  assert.equal(listeners.any, false);
  listeners.add("a", one);
  listeners.add("a", two);
  listeners.remove("a", one);
  listeners.remove("a", one);
  listeners.remove("b", two);
  assert.equal(listeners.any, true);
  listeners.remove("a", two);
  assert.equal(listeners.any, false);
});

for (const [what, value] of Object.entries({ undefined, null: null, "an object": {}, "an object that handles events": { handleEvent() {} }, "a string": "f" })) {
  test(`${what} is no listener`, () => {
    assert.throws(() => new Listeners().add("a", value), { name: "InvalidArgumentError", code: "invalid_argument", message: /^listener must be a function/ });
  });
}
