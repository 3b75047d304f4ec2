// A browser has six connections to a host over HTTP/1.1, and queues what comes beyond. That is not the service's silence:
// a limit begins when a connection can be free.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"], before: occupy });

/** In the page: six long answers, under way. */
function occupy() {
  globalThis.occupied = async (n = 6) => {
    const client = lab.client();
    const turns = [];
    for (let i = 0; i < n; i++) {
      const turn = (await client.chats.create()).send("count to 100000", lab.fault("pace_ms=20"));
      await new Promise((resolve) => turn.on("text_delta", resolve));
      turns.push(turn);
    }
    return turns;
  };
  /** The same service by its other name: another host, with connections of its own. */
  globalThis.otherHost = location.origin.replace("127.0.0.1", "localhost");
  /** Lets so many timeouts go by, one after another, at requests that have a connection and get no answer. */
  globalThis.silence = async (timeout, times) => {
    const client = lab.client({ baseURL: otherHost, timeout });
    for (let i = 0; i < times; i++) {
      const { code } = await lab.refusal(() => client.chats.create({}, lab.fault("delay_ms=600000")));
      if (code !== "response_timeout") throw new Error(`${code} instead of silence`);
    }
  };
}

const waits = ({ message }) => message === "waiting for a connection";

check("24 turns of a second each, under a timeout of 1.5 seconds, all complete", async ({ page, service }) => {
  const { ends, records } = await page.evaluate(async () => {
    const records = [];
    const client = lab.client({ timeout: 1_500, onLog: (record) => records.push(record) });
    const chats = [];
    for (let i = 0; i < 24; i++) chats.push(await client.chats.create());
    records.length = 0;
    const ends = await Promise.all(chats.map(async (chat) => {
      const { value, error } = await lab.settled(chat.send("count to 18", lab.fault("pace_ms=50")).done());
      return error ? error.code : value.text.slice(-2);
    }));
    return { ends, records };
  });
  assert.deepEqual(ends, Array(24).fill("18"));
  assert.ok(records.filter(waits).length >= 12, `${records.filter(waits).length} records of waiting`);
  for (const { level, fields } of records.filter(waits)) assert.deepEqual([level, typeof fields.path], ["info", "string"]);
  assert.equal((await service.turns()).filter(({ status }) => status === "completed").length, 24);
});

check("a seventh call waits as long as six answers of its page are open, and then goes through", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const turns = await occupied();
    const records = [];
    const client = lab.client({ timeout: 1_000, onLog: (record) => records.push(record) });
    let over = false;
    const calls = [client.chats.create(), client.files.get("file_none")].map((call) => lab.settled(call).finally(() => (over = true)));
    await silence(1_000, 2);
    const before = { over, waits: records.filter(({ message }) => message === "waiting for a connection").length };
    for (const turn of turns) turn.disconnect();
    const [created, got] = await Promise.all(calls);
    return { before, id: created.value?.id, created: created.error?.code, got: got.error?.code };
  });
  assert.deepEqual([seen.before.over, seen.before.waits], [false, 2]);
  assert.match(seen.id ?? "", /^chat_/, seen.created);
  assert.equal(seen.got, "file_not_found");
});

for (const [what, first] of Object.entries({ "a page": async () => void (await lab.chat()), "a page that asks for the first time": () => lab.client().ready() })) {
  check(`a call of ${what} waits for the six answers of another page of its origin`, async ({ page, service }) => {
    // Its module takes a connection too.
    await page.evaluate(first);
    const other = await page.browserContext().newPage();
    await other.evaluateOnNewDocument(occupy);
    await other.goto(`${service.origin}/`);
    await other.evaluate(async () => void (globalThis.turns = await occupied()));
    await page.evaluate(async () => {
      const records = [];
      const client = lab.client({ timeout: 1_000, onLog: (record) => records.push(record) });
      globalThis.seventh = { over: false, records };
      seventh.end = lab.settled(client.chats.create()).finally(() => (seventh.over = true));
      await silence(1_000, 2);
    });
    const before = await page.evaluate(() => ({ over: seventh.over, waits: seventh.records.filter(({ message }) => message === "waiting for a connection").length }));
    await other.evaluate(() => turns.forEach((turn) => turn.disconnect()));
    const end = await page.evaluate(async () => {
      const { value, error } = await seventh.end;
      return error ? error.code : value.id;
    });
    assert.deepEqual(before, { over: false, waits: 1 });
    assert.match(end, /^chat_/);
  });
}

check("six answers of one host hold back no call to another", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const turns = await occupied();
    const records = [];
    const chat = await lab.client({ baseURL: otherHost, onLog: (record) => records.push(record) }).chats.create();
    for (const turn of turns) turn.disconnect();
    return { chat: chat.id, records };
  });
  assert.match(seen.chat, /^chat_/);
  assert.deepEqual(seen.records.filter(waits), []);
});

check("a call that waited has its whole limit afterwards, and no more: a service that stays silent then is told of", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const turns = await occupied();
    const client = lab.client({ timeout: 1_500 });
    const slow = lab.settled(client.chats.create({}, lab.fault("delay_ms=700")));
    const silent = lab.settled(client.chats.create({}, lab.fault("delay_ms=600000")));
    await silence(1_000, 1);
    const freed = performance.now();
    for (const turn of turns) turn.disconnect();
    const ends = [await slow, await silent].map(({ value, error }) => error?.code ?? typeof value.id);
    return { ends, after: performance.now() - freed };
  });
  assert.deepEqual(seen.ends, ["string", "response_timeout"]);
  assert.ok(seen.after >= 1_400, `after ${seen.after} ms`);
});

check("an aborted signal ends a call that waits for a connection", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(async () => {
    const turns = await occupied();
    const client = lab.client({ timeout: 30_000 });
    const cancel = new AbortController();
    const call = lab.refusal(() => client.chats.create({}, { signal: cancel.signal }));
    const turn = client.chats.open("chat_any").send("hello");
    cancel.abort(new Error("no longer wanted"));
    turn.disconnect();
    const ends = [(await call).message, turn.status];
    for (const turn of turns) turn.disconnect();
    return { ends, alive: typeof (await client.chats.create()).id };
  });
  assert.deepEqual(seen, { ends: ["no longer wanted", "interrupted"], alive: "string" });
  const after = await service.requests();
  assert.deepEqual([after.chats - before.chats, after.messages - before.messages], [7, 6]);
});

check("waiting for a file outlasts a time without connections", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client({ timeout: 1_000 });
    const { id } = await client.files.upload(new Blob(["data"])).done();
    const turns = await occupied();
    const waited = lab.settled(client.files.wait(id, { interval: 50 }));
    await silence(1_000, 2);
    for (const turn of turns) turn.disconnect();
    const { value, error } = await waited;
    return error ? error.code : value.status;
  });
  assert.equal(seen, "ready");
});
