// No leaks: what two thousand turns of every kind leave behind in one page is what two hundred left.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { hooked, moduleAtRest, testModule } from "./support/test-module.mjs";

const check = testbed({ flags: ["-pace", "0s"] });

const moduleOptions = testModule();

/** Makes the page's kinds of turn; each runs one or a few turns to their end, and gives how many. */
function kindsOfTurn() {
  const client = lab.client({ maxRetries: 1, onLog: () => {}, apiKey: async () => "dev-key" });
  // One that outlives all turns: what hangs on it hangs for good.
  const { signal } = new AbortController();
  const until = (turn, type) => new Promise((resolve) => turn.on(type, resolve));
  const slow = (fault = "") => lab.fault(`pace_ms=2&${fault}`, { signal });
  let chat;
  const kinds = {
    created: async () => (chat = await client.chats.create()) && 0,
    awaited: async () => (await chat.send("count to 5", { signal }).done()) && 1,
    iterated: async () => {
      for await (const event of chat.send("count to 5", { signal })) void event;
      return 1;
    },
    "read as text": async () => {
      for await (const text of chat.send("count to 5").textStream()) void text;
      return 1;
    },
    "listened to": async () => {
      const turn = chat.send("2 + 2", { signal, onEvent: () => {} });
      const listener = () => turn.toolCalls;
      for (const type of ["event", "update", "tool_call", "text_delta"]) turn.on(type, listener);
      await until(turn, "end");
      return 1;
    },
    "never looked at": async () => {
      const key = crypto.randomUUID();
      chat.send("count to 3", { idempotencyKey: key });
      // The service takes the next message only when this turn is over, and the key shows it again.
      await client.chats.open(chat.id).send("count to 3", { idempotencyKey: key }).done();
      return 2;
    },
    aborted: async () => {
      const turn = chat.send("count to 1000", slow());
      await until(turn, "text_delta");
      await turn.abort();
      return 1;
    },
    "aborted by a signal": async () => {
      const cancel = new AbortController();
      const turn = (await client.chats.create()).send("count to 1000", { ...slow(), signal: cancel.signal });
      await until(turn, "text_delta");
      cancel.abort();
      await turn.done();
      return 1;
    },
    "left early": async () => {
      for await (const event of (await client.chats.create()).send("count to 1000", slow())) if (event.type === "text_delta") break;
      return 1;
    },
    disconnected: async () => {
      const turn = (await client.chats.create()).send("count to 20", slow());
      await until(turn, "text_delta");
      turn.disconnect();
      return 1;
    },
    "never sent": async () => (await chat.send("hello", { signal: AbortSignal.abort() }).done()) && 1,
    failed: async () => (await lab.settled(chat.send("count to 5", lab.fault("error_events=4", { signal })).done())) && 1,
    refused: async () => (await lab.settled(client.chats.open("chat_unknown").send("hello", { signal }).done())) && 1,
    interrupted: async () => (await lab.settled(chat.send("count to 5", lab.fault("close_events=4", { signal })).done())) && 1,
    reset: async () => (await lab.settled(chat.send("count to 5", lab.fault("cut_bytes=300", { signal })).done())) && 1,
    "tried again": async () => (await chat.send("count to 5", lab.fault("times=1&status=503&retry_after=0", { signal })).done()) && 1,
    timed: async () => (await lab.settled(chat.send("count to 5", lab.fault("stall_events=2", { signal, idleTimeout: 5 })).done())) && 1,
    "of a client that is closed": async () => {
      const own = lab.client();
      const turn = (await own.chats.create()).send("count to 20", slow());
      await until(turn, "text_delta");
      own.close();
      return 1;
    },
  };
  globalThis.turnPrototype = Object.getPrototypeOf(client.chats.open("chat_any").send("hello", { signal: AbortSignal.abort() }));
  let turns = 0;
  globalThis.playUntil = async (count) => {
    while (turns < count) for (const kind of Object.values(kinds)) turns += await kind();
    return turns;
  };
  return client.ready();
}

async function measure(page, cdp, idle) {
  const module = await page.evaluate(moduleAtRest, idle);
  // Twice: the first round runs finalizers, whose objects the second one takes.
  for (let i = 0; i < 2; i++) await cdp.send("HeapProfiler.collectGarbage");
  const heap = await cdp.send("Runtime.getHeapUsage");
  const figures = { ...module, jsHeap: heap.usedSize, embedder: heap.embedderHeapUsedSize, buffers: heap.backingStorageSize };
  for (const name of ["Turn", "Response", "ReadableStream", "AbortController"]) {
    const prototype = await page.evaluateHandle((name) => (name === "Turn" ? turnPrototype : globalThis[name].prototype), name);
    const objects = await page.queryObjects(prototype);
    figures[name] = await objects.evaluate((all) => all.length);
    await Promise.all([objects.dispose(), prototype.dispose()]);
  }
  return figures;
}

check("2,000 turns leave behind what 200 did", async ({ page, t }) => {
  const cdp = await page.createCDPSession();
  await cdp.send("HeapProfiler.enable");
  await page.evaluate((options) => lab.Turnwire.init(options), moduleOptions());
  await page.evaluate(kindsOfTurn);
  const idle = await page.evaluate(() => wasm.live());

  const rounds = [];
  for (const count of [200, 1_100, 2_000]) {
    const turns = await page.evaluate((count) => playUntil(count), count);
    const figures = await measure(page, cdp, idle);
    rounds.push({ turns, ...figures });
    t.diagnostic(`after ${turns} turns: ${Object.entries(figures).map(([name, value]) => `${name} ${value}`).join(", ")}`);
  }
  assert.equal(await page.evaluate(() => instances), 1, "no crash started the module anew");

  const [first, middle, last] = rounds;
  assert.equal(last.live, idle, "what is under way is that of a module at rest");
  assert.equal(last.goroutines, first.goroutines);
  // What the module has held lives until Go's collector runs, which a few hundred turns make it do.
  for (const name of ["Turn", "Response", "ReadableStream", "AbortController"]) {
    assert.ok(last[name] < 600, `${last[name]} objects of ${name} are alive after ${last.turns} turns`);
  }
  // A turn with its events takes some 4 KB: kept ones would make 7 MB.
  for (const name of ["jsHeap", "embedder", "buffers"]) {
    assert.ok(last[name] - first[name] < 1 << 20, `${name} grew from ${first[name]} to ${last[name]} bytes`);
  }
  // Go's heap finds its size in the first thousand.
  assert.ok(last.wasmBytes - middle.wasmBytes <= 1 << 20, `the module's memory grew from ${middle.wasmBytes} to ${last.wasmBytes} bytes`);
  assert.ok(last.wasmBytes <= 24 << 20, `the module's memory is ${last.wasmBytes} bytes`);
}, { before: hooked, timeout: 300_000 });
