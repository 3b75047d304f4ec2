// The same message sent twice: a double click, an effect that a framework runs twice. The key names one operation, so
// that the page gets one turn, and the service one request, for as long as that turn is under way.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "2ms"] });

/** Ahead of the page's scripts: the turns that were sent, each once, and how they ended. */
function helpers() {
  globalThis.once = (turns) => new Set(turns).size;
  globalThis.started = (turn) => new Promise((resolve) => turn.on("text_delta", resolve));
}

const options = { before: helpers };

/** What the service has of a key: one turn each, with how many requests asked for it. */
async function keyed(service, key) {
  return (await service.turns()).filter((turn) => turn.idempotency_key === key);
}

check("the key of a turn under way gives that turn, at every moment of it", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const chat = await client.chats.create();
    const send = (more) => chat.send("count to 40", { idempotencyKey: "clicked", ...more });
    const turn = send();
    const turns = [turn, send(), client.chats.open(chat.id).send("count to 40", { idempotencyKey: "clicked" })];
    let end;
    const ended = new Promise((resolve) => turn.on("end", () => resolve((end = turn.status))));
    turn.on("event", () => turns.push(send()));
    turn.on("update", () => turn.status === "streaming" && turns.push(send({ model: "other", timeout: 1 })));
    const { text } = await turn.done();
    await ended;
    return { same: once(turns), sends: turns.length, text, end, chat: chat.id };
  });
  assert.equal(seen.same, 1, "one object");
  assert.ok(seen.sends > 40, `${seen.sends} sends`);
  assert.equal(seen.text, Array.from({ length: 40 }, (_, i) => i + 1).join(" "));
  assert.equal(seen.end, "completed");
  const [record, ...others] = await keyed(service, "clicked");
  assert.deepEqual([record.requests, record.status, others], [1, "completed", []]);
}, options);

check("also before the module is loaded", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const response = await fetch("/v1/workspaces/demo/chats", {
      method: "POST", headers: { authorization: "Bearer dev-key", "content-type": "application/json" }, body: '{"agent_id":"assistant"}',
    });
    const { chat_id } = await response.json();
    const client = lab.client();
    const turns = Array.from({ length: 10 }, () => client.chats.open(chat_id).send("count to 3", { idempotencyKey: "early" }));
    const statuses = turns.map((turn) => turn.status);
    const texts = await Promise.all(turns.map(async (turn) => (await turn.done()).text));
    return { same: once(turns), statuses, texts };
  });
  assert.equal(seen.same, 1);
  assert.deepEqual(seen.statuses, Array(10).fill("queued"), "the module was not there yet");
  assert.deepEqual(seen.texts, Array(10).fill("1 2 3"));
  assert.deepEqual((await keyed(service, "early")).map((turn) => turn.requests), [1]);
}, options);

check("also while a try that failed waits to be repeated", async ({ page, service }) => {
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

check("after the end the key makes a new turn, which the service replays", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const chat = await lab.chat();
    const send = () => chat.send("2 + 2", { idempotencyKey: "again" });
    const first = send();
    // The first moment at which the turn is over for everybody.
    let second;
    await new Promise((resolve) => first.on("end", () => resolve((second = send()))));
    const ends = [await lab.follow(second), await lab.follow(send())];
    return { same: second === first, first: [first.text, first.toolCalls], ends: ends.map(({ status, text, toolCalls }) => ({ status, told: [text, toolCalls] })) };
  });
  assert.equal(seen.same, false);
  for (const end of seen.ends) assert.deepEqual(end, { status: "completed", told: seen.first });
  const [record, ...others] = await keyed(service, "again");
  assert.deepEqual([record.requests, record.status, record.tools.length, others], [3, "completed", 1, []], "the tool ran once");
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

check("another client, another chat, another key: another turn", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client(), other = lab.client();
    const chat = await client.chats.create(), second = await client.chats.create(), third = await client.chats.create();
    const send = (chat, key = "shared") => chat.send("count to 30", { idempotencyKey: key });
    const turns = [send(chat), send(other.chats.open(chat.id)), send(second), send(third, "own")];
    const texts = await Promise.all(turns.map(async (turn) => (await turn.done()).text));
    return { same: once(turns), texts: once(texts), text: texts[0], chats: [chat.id, second.id] };
  });
  assert.deepEqual([seen.same, seen.texts, seen.text.split(" ").length], [4, 1, 30]);
  const records = await keyed(service, "shared");
  // Two clients of one page know nothing of each other; at the service the key still names one turn of the chat.
  assert.deepEqual(records.map((turn) => [turn.chat_id, turn.requests]).sort(), [[seen.chats[0], 2], [seen.chats[1], 1]].sort());
  assert.deepEqual((await keyed(service, "own")).map((turn) => turn.requests), [1]);
}, options);

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
