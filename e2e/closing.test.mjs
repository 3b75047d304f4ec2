// close() ends what the page has, and lets what tells the service of an end go out. Whoever asks for an abort and does not
// wait for it gets no unhandled rejection, whatever the service answers.

import assert from "node:assert/strict";
import { elsewhere, testbed } from "./support/bed.mjs";

// A turn of two seconds: long enough to be stopped, short enough to show soon that it was not. From another origin the
// browser asks first whether it may: an abort that is cancelled meanwhile never leaves.
const check = testbed({ flags: ["-pace", "10ms"], at: elsewhere });
const message = "count to 200";

/** In the page: a turn under way, with its client, what it logs, and what nobody caught on the page. */
function underWay() {
  const unhandled = [];
  addEventListener("unhandledrejection", ({ reason }) => unhandled.push(lab.told(reason)));
  globalThis.begin = async (message, fault = "tag=none", options = {}, signal) => {
    const records = [];
    let answer;
    // Resolves when the module has all of the answer to an abort, and everything has run that this can start.
    const answered = new Promise((resolve) => (answer = resolve)).then(async () => {
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve));
    });
    const own = async (url, init) => {
      const response = await fetch(url, init);
      if (!url.endsWith("/abort")) return response;
      const body = await response.arrayBuffer();
      answer();
      return new Response(response.status === 204 ? null : body, response);
    };
    const client = lab.client({ onLog: (record) => records.push(record), fetch: own, ...options });
    const chat = await client.chats.create();
    const turn = chat.send(message, lab.fault(fault, { signal }));
    await new Promise((resolve) => turn.on("text_delta", resolve));
    return { client, chat, turn, records, answered, unhandled };
  };
}

const options = { before: underWay };

check("turn.abort() and then close(): the service hears the abort, and it resolves", async ({ page, service }) => {
  const seen = await page.evaluate(async (message) => {
    const { client, turn } = await begin(message);
    const aborted = lab.settled(turn.abort());
    client.close();
    const { error } = await aborted;
    return { chat: turn.chatId, error: error && lab.told(error), status: turn.status };
  }, message);
  const record = await service.over(seen.chat);
  assert.deepEqual([seen.error, seen.status, record.status, record.aborts], [undefined, "cancelled", "cancelled", 1]);
}, options);

check("turn.abort() that nobody awaits, and then close(), the clean-up of a component", async ({ page, service }) => {
  const chat = await page.evaluate(async (message) => {
    const { client, turn } = await begin(message);
    turn.abort();
    client.close();
    return turn.chatId;
  }, message);
  const record = await service.over(chat);
  assert.deepEqual([record.status, record.aborts], ["cancelled", 1]);
}, options);

check("a signal that is aborted, and then close()", async ({ page, service }) => {
  const chat = await page.evaluate(async (message) => {
    const cancel = new AbortController();
    const { client, turn } = await begin(message, "tag=none", {}, cancel.signal);
    cancel.abort();
    client.close();
    return turn.chatId;
  }, message);
  const record = await service.over(chat);
  assert.deepEqual([record.status, record.aborts], ["cancelled", 1]);
}, options);

check("leaving a loop early, and then close()", async ({ page, service }) => {
  const chat = await page.evaluate(async (message) => {
    const { client, turn } = await begin(message);
    for await (const event of turn) if (event.type === "text_delta") break;
    client.close();
    return turn.chatId;
  }, message);
  const record = await service.over(chat);
  assert.deepEqual([record.status, record.aborts], ["cancelled", 1]);
}, options);

check("chat.abort() and then close(): the service hears it, and it resolves", async ({ page, service }) => {
  const seen = await page.evaluate(async (message) => {
    const { client, chat } = await begin(message);
    const aborted = lab.settled(chat.abort());
    client.close();
    const { error } = await aborted;
    return { chat: chat.id, error: error && lab.told(error) };
  }, message);
  const record = await service.over(seen.chat);
  assert.deepEqual([seen.error, record.aborts], [undefined, 1]);
}, options);

check("an abort whose key takes a request goes out after close()", async ({ page, service }) => {
  const seen = await page.evaluate(async (message) => {
    const apiKey = async () => (await fetch("/lab.js"), "dev-key");
    const { client, chat } = await begin(message, "tag=none", { apiKey });
    const aborted = lab.settled(chat.abort());
    client.close();
    const { error } = await aborted;
    return { chat: chat.id, error: error && lab.told(error) };
  }, message);
  const record = await service.over(seen.chat);
  assert.deepEqual([seen.error, record.aborts], [undefined, 1]);
}, options);

check("an abort that is answered 503 is tried again after close()", async ({ page, service }) => {
  const seen = await page.evaluate(async (message) => {
    const { client, turn } = await begin(message, "on=abort&times=1&status=503&retry_after=0", { maxRetries: 2 });
    const aborted = lab.settled(turn.abort());
    client.close();
    const { error } = await aborted;
    return { chat: turn.chatId, error: error && lab.told(error) };
  }, message);
  const record = await service.over(seen.chat);
  assert.deepEqual([seen.error, record.status], [undefined, "cancelled"]);
}, options);

check("an abort that is refused after close() tells its promise the service's answer", async ({ page }) => {
  const errors = await page.evaluate(async (message) => {
    const { client, turn } = await begin(message, "on=abort&status=403");
    const refused = [lab.refusal(() => turn.abort())];
    client.close();
    const other = await begin(message, "tag=none", { headers: { "X-Fault": "on=abort&status=403" } });
    refused.push(lab.refusal(() => other.chat.abort()));
    other.client.close();
    return Promise.all(refused);
  }, message);
  for (const error of errors) assert.deepEqual([error?.name, error?.status, error?.code], ["AuthenticationError", 403, "fault"]);
}, options);

for (const closed of [false, true]) {
  check(`an abort that is refused${closed ? " after close()" : ""} and that nobody awaits is logged, and is no unhandled rejection`, async ({ page, service }) => {
    const seen = await page.evaluate(async (message, closed) => {
      const { client, turn, records, answered, unhandled } = await begin(message, "on=abort&status=403");
      turn.abort();
      if (closed) client.close();
      // Cancelled, it is never answered, and what nobody caught is there at once.
      await Promise.race([answered, new Promise((resolve) => addEventListener("unhandledrejection", resolve))]);
      const told = records.some(({ level, fields }) => (level === "warn" || level === "error") && fields.path?.endsWith("/abort"));
      return { chat: turn.chatId, told, unhandled };
    }, message, closed);
    assert.deepEqual(seen.unhandled, []);
    assert.ok(seen.told, "a record of the failure");
    await service.over(seen.chat);
  }, options);
}

check("whoever asks again for an abort that was refused is told", async ({ page }) => {
  const seen = await page.evaluate(async (message) => {
    const { turn, answered, unhandled } = await begin(message, "on=abort&status=403");
    turn.abort();
    await answered;
    return { error: (await lab.refusal(() => turn.abort()))?.status, unhandled };
  }, message);
  assert.deepEqual(seen, { error: 403, unhandled: [] });
}, options);
