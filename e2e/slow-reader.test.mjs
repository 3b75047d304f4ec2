// What a turn keeps for a reader: bounded where nobody reads, and where one reads slowly for good. Memory is measured
// after a garbage collection, while the stream is paused.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed();
const limit = 64 << 20;
const end = 'data: {"type":"turn_complete","data":{}}\n\n';

/** Ahead of the page's scripts: the module's exports, and a turn whose stream is one chunk again and again. */
function makeStreams() {
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...args) => {
    const result = await instantiate.apply(WebAssembly, args);
    globalThis.wasm = result.exports;
    return result;
  };
  const encoder = new TextEncoder();

  /** The turn of a stream of `count` chunks and `tail`; pulls counts the chunks. */
  globalThis.play = ({ chunk, count, tail }) => {
    const bytes = encoder.encode(chunk);
    const scene = { pulls: 0 };
    const body = new ReadableStream({
      pull(controller) {
        if (scene.pulls++ < count) return controller.enqueue(bytes);
        controller.enqueue(encoder.encode(tail));
        controller.close();
      },
    }, { highWaterMark: 0 });
    const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    scene.turn = lab.client({ fetch }).chats.open("chat_any").send("hello");
    scene.events = scene.turn[Symbol.asyncIterator]();
    return scene;
  };
  /** Resolves when the stream has been pulled and then no more. */
  globalThis.paused = async (scene) => {
    for (let before = -1; scene.pulls !== before || before === 0; ) {
      before = scene.pulls;
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve));
    }
    return scene.pulls;
  };
  /** Takes at most so many events, letting the stream go on now and then. Gives how many there were. */
  globalThis.take = async (scene, most) => {
    for (let taken = 0; ; taken++) {
      if (taken === most || (await scene.events.next()).done) return taken;
      if (taken % 100 === 99) await new Promise((resolve) => setTimeout(resolve));
    }
  };
}

const mib = (bytes) => `${(bytes / (1 << 20)).toFixed(1)} MiB`;

/** Measures what the page holds above what it held at first. */
async function gauge(page) {
  const cdp = await page.createCDPSession();
  await cdp.send("HeapProfiler.enable");
  await page.evaluate(() => lab.client().ready());
  const held = async () => {
    await cdp.send("HeapProfiler.collectGarbage");
    const { usedSize, embedderHeapUsedSize } = await cdp.send("Runtime.getHeapUsage");
    return { module: await page.evaluate(() => (wasm.memory ?? wasm.mem).buffer.byteLength), page: usedSize + embedderHeapUsedSize };
  };
  const first = await held();
  const most = { module: 0, page: 0 };
  return {
    most,
    async measure() {
      const now = await held();
      for (const name of Object.keys(most)) most[name] = Math.max(most[name], now[name] - first[name]);
    },
    judge(t, what) {
      t.diagnostic(`${what}: module + ${mib(most.module)}, page + ${mib(most.page)}`);
      assert.ok(most.module + most.page < limit, `${mib(most.module + most.page)} above the start`);
    },
  };
}

check("two million tiny events: few are kept, and all can be taken", async ({ page, t }) => {
  const memory = await gauge(page);
  const chunks = 400, each = 5_000;
  const pulls = await page.evaluate((chunks, each, tail) => {
    globalThis.scene = play({ chunk: 'data: {"type":"text_delta","data":{"chunk":"x"}}\n\n'.repeat(each), count: chunks, tail });
    return paused(scene);
  }, chunks, each, end);
  await memory.measure();
  memory.judge(t, `${pulls * each} events kept`);
  // Their JSON is four bytes each: by that alone, all would be kept.
  assert.ok(pulls < chunks / 5, `${pulls} of ${chunks} chunks were read though nobody took their events`);
  const seen = await page.evaluate(async () => {
    let taken = 0;
    while (!(await scene.events.next()).done) taken++;
    return { taken, text: scene.turn.text.length, status: scene.turn.status };
  });
  await memory.measure();
  assert.deepEqual(seen, { taken: chunks * each + 1, text: chunks * each, status: "completed" });
  memory.judge(t, `${seen.taken} events taken`);
}, { before: makeStreams });

check("a reader that never catches up does not hold what it has taken", async ({ page, t }) => {
  const memory = await gauge(page);
  const chunks = 512, each = 16;
  await page.evaluate((chunks, each, tail) => {
    // 128 MiB, 16 KiB an event. The type is unknown, so that nothing is added to the text.
    globalThis.scene = play({ chunk: `data: {"type":"progress","data":{"log":"${"x".repeat(16_000)}"}}\n\n`.repeat(each), count: chunks, tail });
  }, chunks, each, end);
  let taken = 0;
  // The stream is ahead of the reader each time: something is always kept.
  for (let round = 0; round < 4; round++) {
    taken += await page.evaluate(async () => {
      await paused(scene);
      return take(scene, 1_900);
    });
    await memory.measure();
  }
  const rest = await page.evaluate(() => take(scene, Infinity));
  assert.deepEqual([taken, taken + rest, await page.evaluate(() => scene.turn.status)], [7_600, chunks * each + 1, "completed"]);
  memory.judge(t, `${taken} events of 16 KiB taken by a slow reader`);
}, { before: makeStreams });
