// A key sent twice where the first turn has just been let go, as an effect's cleanup does, or has not got through yet.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "2ms"] });

/** Ahead of the page's scripts. */
function helpers() {
  globalThis.once = (turns) => new Set(turns).size;
  globalThis.started = (turn) => new Promise((resolve) => turn.on("text_delta", resolve));
}

const options = { before: helpers };

/** What the service has of a key: one turn each, with how many requests asked for it. */
async function keyed(service, key) {
  return (await service.turns()).filter((turn) => turn.idempotency_key === key);
}

check("a key whose first try failed and waits to be repeated gives its turn", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    let tried;
    const waiting = new Promise((resolve) => (tried = resolve));
    const client = lab.client({ maxRetries: 1, onLog: ({ message }) => message === "trying again" && tried() });
    const chat = await client.chats.create();
    const send = () => chat.send("count to 3", lab.fault("times=1&status=503&retry_after=1", { idempotencyKey: "retried" }));
    const turn = send();
    await waiting;
    const turns = [turn, send(), send()];
    return { same: once(turns), status: turn.status, text: (await turn.done()).text };
  });
  assert.deepEqual(seen, { same: 1, status: "queued", text: "1 2 3" });
  assert.deepEqual((await keyed(service, "retried")).map((turn) => turn.requests), [2], "the failed try and its repetition");
}, options);

for (const how of ["abort", "disconnect"]) {
  check(`in the very task of ${how}() the key makes a new turn`, async ({ page }) => {
    const seen = await page.evaluate(async (how) => {
      const { Stub, text, frame } = await import("/stub.js");
      const stub = new Stub({ messages: (request) => request.open().push(text("hello")) });
      const chat = lab.client({ fetch: stub.fetch }).chats.open("chat_any");
      const send = () => chat.send("hello", { idempotencyKey: "left" });
      const first = send();
      await started(first);
      first[how]()?.catch(() => {});
      const second = send();
      await started(second);
      stub.of("messages")[1].push(frame("turn_complete", {}));
      return { same: second === first, first: first.status, second: (await second.done()).status, sent: stub.of("messages").map(({ key }) => key) };
    }, how);
    assert.deepEqual(seen, { same: false, first: how === "abort" ? "cancelled" : "interrupted", second: "completed", sent: ["left", "left"] });
  }, options);
}

check("without a key two sends are two messages", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { Stub } = await import("/stub.js");
    const stub = new Stub();
    const client = lab.client({ fetch: stub.fetch });
    await client.ready();
    const chat = client.chats.open("chat_any");
    const turns = [chat.send("hello"), chat.send("hello")];
    await Promise.all(turns.map((turn) => turn.abort()));
    return { same: once(turns), keys: once(stub.of("messages").map(({ key }) => key)) };
  });
  assert.deepEqual(seen, { same: 2, keys: 2 });
}, options);

// React's StrictMode runs an effect, its cleanup and the effect again, in one task.
for (const loaded of [true, false]) {
  for (const [cleanup, requests] of [["none", [1]], ["disconnect", loaded ? [1, 2] : [1]]]) {
    check(`an effect run twice, cleanup ${cleanup}, ${loaded ? "with the module running" : "before the module is loaded"}`, async ({ page, service }) => {
      const key = `effect-${loaded}-${cleanup}`;
      const seen = await page.evaluate(async (key, loaded, cleanup) => {
        const { id } = await lab.chat();
        // Another copy of the package, whose module nobody has asked for.
        const { AgentClient } = loaded ? lab.Turnwire : await import("/turnwire/turnwire.mjs?another");
        const client = new AgentClient(lab.settings);
        if (loaded) await client.ready();
        let shown = "";
        const effect = () => {
          const turn = client.chats.open(id).send("count to 30", { idempotencyKey: key });
          const listener = ({ text }) => (shown = text);
          turn.on("update", listener);
          return { turn, leave: () => (cleanup === "disconnect" ? turn.disconnect() : turn.off("update", listener)) };
        };
        const first = effect();
        const early = first.turn.status;
        first.leave();
        const second = effect();
        const { status, text } = await second.turn.done();
        await new Promise((resolve) => second.turn.on("end", resolve));
        return { early, same: first.turn === second.turn, status, text, shown };
      }, key, loaded, cleanup);
      const text = Array.from({ length: 30 }, (_, i) => i + 1).join(" ");
      assert.deepEqual(seen, { early: "queued", same: cleanup === "none", status: "completed", text, shown: text });
      const records = await keyed(service, key);
      assert.equal(records.length, 1, "one turn, whoever asked first");
      assert.ok(requests.includes(records[0].requests), `${records[0].requests} requests`);
      assert.deepEqual([records[0].status, records[0].aborts], ["completed", 0]);
    }, options);
  }
}
