// apiKey() that never settles holds no request longer than its timeout, and none that comes after.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

/** In the page: a client whose key's function never settles the first so many times, and how often it was called. */
function keyless() {
  globalThis.waiting = (hangs, options) => {
    const asked = { times: 0 };
    const apiKey = () => (asked.times++ < hangs ? new Promise(() => {}) : "dev-key");
    return { asked, client: lab.client({ apiKey, timeout: 2_000, ...options }) };
  };
}

const options = { before: keyless };

check("a call rejects after timeout and names the option, and the next one asks again", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(async () => {
    const { client, asked } = waiting(1);
    const error = await lab.refusal(() => client.chats.create());
    const first = asked.times;
    const chat = await client.chats.create();
    return { error, first, then: asked.times, chat: chat.id };
  });
  assert.deepEqual([seen.error?.name, seen.error?.code], ["TimeoutError", "api_key_timeout"]);
  assert.match(seen.error.message, /option apiKey.*within 2000 ms/);
  assert.deepEqual([seen.first, seen.then], [1, 2]);
  assert.match(seen.chat, /^chat_/);
  assert.equal((await service.requests()).chats - before.chats, 1);
}, options);

check("once a request has given up, one that may wait longer asks again too", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, asked } = waiting(1);
    const { code } = await lab.refusal(() => client.chats.create({}, { timeout: 300 }));
    const { value, error } = await lab.settled(client.chats.create({}, { timeout: 10_000 }));
    return { code, then: error ? error.code : typeof value.id, asked: asked.times };
  });
  assert.deepEqual(seen, { code: "api_key_timeout", then: "string", asked: 2 });
}, options);

check("a turn fails, and nothing was sent", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(() => lab.follow(waiting(Infinity).client.chats.open("chat_any").send("hello")));
  assert.deepEqual([seen.status, seen.error?.name, seen.error?.code, seen.sameError], ["failed", "TimeoutError", "api_key_timeout", true]);
  assert.deepEqual(seen.end, { status: "failed", same: true });
  assert.deepEqual(await service.requests(), before);
}, options);

check("requests that wait for one key together each have a limit of their own", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, asked } = waiting(1);
    const order = [];
    const ask = async (timeout) => {
      const { code } = await lab.refusal(() => client.chats.create({}, { timeout }));
      order.push([timeout, code]);
    };
    await Promise.all([ask(900), ask(300)]);
    return { order, asked: asked.times };
  });
  assert.deepEqual(seen.order, [[300, "api_key_timeout"], [900, "api_key_timeout"]]);
}, options);

check("a turn, a file and an upload come through once the key is given", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client } = waiting(3);
    const errors = [];
    for (const call of [
      () => client.chats.open("chat_any").send("hello").done(),
      () => client.files.get("file_any"),
      () => client.files.upload(new Blob(["data"])).done(),
    ]) errors.push((await lab.refusal(call))?.code);
    const chat = await client.chats.create();
    const turn = await chat.send("count to 3").done();
    const file = await client.files.upload(new Blob(["data"])).done();
    return { errors, text: turn.text, status: file.status };
  });
  assert.deepEqual(seen, { errors: ["api_key_timeout", "api_key_timeout", "api_key_timeout"], text: "1 2 3", status: "ready" });
}, options);

check("a key that comes too late starts nothing", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(async () => {
    let give;
    const client = lab.client({ timeout: 300, apiKey: () => new Promise((resolve) => (give = resolve)) });
    const turn = client.chats.open("chat_any").send("hello");
    const error = await lab.refusal(() => turn.done());
    give("dev-key");
    // Another call's whole way, in which a message that the late key let go would arrive.
    await lab.settled(lab.client().chats.create());
    return { code: error?.code, status: turn.status };
  });
  assert.deepEqual(seen, { code: "api_key_timeout", status: "failed" });
  assert.equal((await service.requests()).messages, before.messages);
}, options);
