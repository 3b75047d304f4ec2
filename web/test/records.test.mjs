// Who has a key for himself. What is kept under it is the browser's business, and tested there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { claim } from "../src/records.ts";

/** Locks as the Web Locks API gives them: whoever asks waits until the one before has let go, or his signal ends it. */
class Locks {
  #last = new Map();

  request(name, { signal }, run) {
    const before = this.#last.get(name) ?? Promise.resolve();
    const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const taken = Promise.race([before, aborted]).then(run);
    this.#last.set(name, before.then(() => taken).catch(() => {}));
    return taken;
  }
}

function inPage(t, locks, { waits = 300 } = {}) {
  const { timeout } = AbortSignal;
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  AbortSignal.timeout = () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("it took too long", "TimeoutError")), waits);
    return controller.signal;
  };
  t.after(() => {
    AbortSignal.timeout = timeout;
    if (own) Object.defineProperty(globalThis, "navigator", own);
    else delete globalThis.navigator;
  });
}

test("a key is one page's until it lets go", async (t) => {
  inPage(t, new Locks());
  const first = await claim("a");
  assert.equal(first.is, "taken");
  assert.equal((await claim("b")).is, "taken");
  let second;
  const waiting = claim("a").then((claimed) => (second = claimed));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(second, undefined);
  first.release();
  assert.equal((await waiting).is, "taken");
});

test("a key that another page holds on to is busy", async (t) => {
  inPage(t, new Locks(), { waits: 20 });
  assert.equal((await claim("a")).is, "taken");
  assert.deepEqual(await claim("a"), { is: "busy" });
});

for (const [what, locks, why] of [
  ["there are no locks", undefined, /no Web Locks/],
  ["they are refused", { request: () => Promise.reject(new Error("sandboxed")) }, /sandboxed/],
  ["they throw", { request() { throw new Error("no storage"); } }, /no storage/],
]) {
  test(`nobody can take a key where ${what}`, async (t) => {
    inPage(t, locks);
    const { is, why: told } = await claim("a");
    assert.equal(is, "denied");
    assert.match(told, why);
  });
}
