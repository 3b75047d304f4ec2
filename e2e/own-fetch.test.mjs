// A fetch of the page's own, or of a library that replaced the browser's: it may throw where it should reject, and resolve
// with answers that are none.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

/** In the page, ahead of the package: jitter that takes the whole of each back-off, and fetches that throw. */
function throwers() {
  Math.random = () => 0.999;
  const native = globalThis.fetch;
  globalThis.thrower = (times) => (url, init) => {
    if (!String(url).includes("/v1/")) return native(url, init);
    times.push(performance.now());
    throw new TypeError("not today");
  };
}

for (const how of ["the option fetch", "the page's fetch"]) {
  check(`${how} that throws: the tries come at the back-off's times`, async ({ page }) => {
    const seen = await page.evaluate(async (how) => {
      const times = [];
      const options = { maxRetries: 2, timeout: 20_000 };
      if (how === "the option fetch") options.fetch = thrower(times);
      const client = lab.client(options);
      await client.ready();
      if (how !== "the option fetch") globalThis.fetch = thrower(times);
      const seen = await lab.follow(client.chats.open("c1").send("hello"));
      return { ...seen, gaps: times.slice(1).map((time, i) => time - times[i]) };
    }, how);
    assert.deepEqual([seen.status, seen.error.name, seen.error.code], ["interrupted", "ConnectionError", "connection_failed"]);
    assert.match(seen.error.message, /not today/);
    // 500 ms, then twice that; the limit of 20 s is what they were mistaken for.
    assert.equal(seen.gaps.length, 2);
    assert.ok(seen.gaps[0] >= 490 && seen.gaps[1] >= 990, `${seen.gaps}`);
    assert.ok(seen.gaps[0] < 10_000 && seen.gaps[1] < 10_000, `${seen.gaps}`);
  }, { before: throwers });
}

check("a fetch that throws once is asked again, and the turn completes", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client({ maxRetries: 1, timeout: 20_000 });
    const chat = await client.chats.create();
    const { fetch } = globalThis;
    globalThis.fetch = () => {
      globalThis.fetch = fetch;
      throw new TypeError("not yet");
    };
    const began = performance.now();
    const { text } = await chat.send("count to 3").done();
    return { text, ms: performance.now() - began };
  });
  assert.equal(seen.text, "1 2 3");
  assert.ok(seen.ms < 10_000, `${seen.ms} ms`);
});

// What fetch gives where there is no answer to be read.
const none = {
  "Response.error()": async () => Response.error(),
  "an opaque answer": (url) => fetch(url.replace("127.0.0.1", "localhost"), { mode: "no-cors" }),
  "an opaque redirect": (url, init) => fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, "X-Fault": "redirect=/elsewhere" } }),
  "an object of status 0": async () => ({ status: 0, headers: new Headers(), body: null, type: "default" }),
};
for (const [what, own] of Object.entries(none)) {
  check(`${what} is no answer: ConnectionError`, async ({ page }) => {
    await page.evaluate(`globalThis.own = ${own}`);
    const seen = await page.evaluate(async () => {
      let asked = 0;
      const counted = (url, init) => (asked++, own(url, init));
      const { chats, files } = lab.client({ fetch: counted });
      const turn = await lab.follow(chats.open("c1").send("hello"));
      const errors = [];
      for (const call of [() => chats.create(), () => chats.open("c1").abort(), () => files.get("f1"), () => files.upload(new Blob(["data"])).done()]) {
        errors.push(await lab.refusal(call));
      }
      asked = 0;
      const { error } = await lab.settled(lab.client({ fetch: counted, maxRetries: 1 }).chats.open("c1").send("hello").done());
      return { turn, errors: [...errors, lab.told(error)], asked };
    });
    assert.deepEqual([seen.turn.status, seen.turn.error.name], ["interrupted", "ConnectionError"]);
    for (const error of seen.errors) {
      assert.deepEqual([error.name, error.retryable, error.status], ["ConnectionError", true, undefined], error.message);
    }
    assert.equal(seen.asked, 2, "what had no answer is tried again");
  });
}
