// Streams without end or measure: what the page and the module hold stays bounded, and where nobody takes, nothing is asked
// for. The limit is far above what any of them needs and far below what they send.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "0s"], before: keepMemory });

const limit = 64 << 20;

/** Ahead of the package: keeps the module's memory at hand. */
function keepMemory() {
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...args) => {
    const result = await instantiate(...args);
    globalThis.wasm = result.exports;
    return result;
  };
}

/**
 * Lets a turn read a stream that `source`, in the page, makes: given bytes(text) it returns the pieces to send round and
 * round, `most` times. `taker` says who takes: "nobody", "listener" or "loop". Gives the turn's end, and the most memory seen.
 */
async function drown(page, { once = "", piece, times, most, taker = "nobody", seconds = 60 }) {
  const cdp = await page.createCDPSession();
  await cdp.send("HeapProfiler.enable");
  await page.evaluate(async (once, piece, times, most, taker, seconds) => {
    const { Stub } = await import("/stub.js");
    const start = new TextEncoder().encode(once);
    const bytes = new TextEncoder().encode(piece.repeat(times));
    const seen = (globalThis.seen = { pulls: 0, taken: 0, sent: 0, began: 0 });
    const stub = new Stub({
      messages: (request) => request.open((controller) => {
        if (seen.pulls === 0 && start.length > 0) controller.enqueue(start);
        seen.pulls++;
        seen.sent += bytes.length;
        // Each chunk is the page's own copy, as a network's is.
        if (seen.pulls > most || performance.now() - seen.began > seconds * 1000) request.close();
        else controller.enqueue(bytes.slice());
      }),
    });
    const client = lab.client({ fetch: stub.fetch, idleTimeout: 0 });
    await client.ready();
    globalThis.begin = () => {
      seen.began = performance.now();
      const turn = (globalThis.turn = client.chats.open("chat").send("go"));
      // Any listener, also one of "end" alone, says that the turn is followed: its events are dropped instead of kept.
      if (taker === "listener") turn.on("event", () => void seen.taken++);
      if (taker !== "nobody") globalThis.ended = new Promise((resolve) => turn.on("end", resolve));
      else {
        globalThis.ended = new Promise((resolve) => {
          let last = -1;
          const look = () => {
            if (turn.status !== "queued" && turn.status !== "streaming") resolve("over");
            else if (seen.pulls === last) resolve("still");
            else {
              last = seen.pulls || -1;
              setTimeout(look, 1000);
            }
          };
          look();
        });
      }
      const loop = async () => {
        for await (const event of turn) void event, seen.taken++;
      };
      if (taker === "loop") loop().catch(() => {});
    };
  }, once, piece, times, most, taker, seconds);
  const held = async () => {
    const { usedSize, backingStorageSize = 0 } = await cdp.send("Runtime.getHeapUsage");
    return usedSize + Math.max(backingStorageSize, await page.evaluate(() => (wasm.memory ?? wasm.mem).buffer.byteLength));
  };
  await cdp.send("HeapProfiler.collectGarbage");
  const start = await held();
  await page.evaluate(() => begin());
  let peak = 0, over = false;
  const end = page.evaluate(async () => {
    const how = await ended;
    const error = turn.status === "interrupted" ? lab.told((await lab.settled(turn.done())).error) : undefined;
    return { how: typeof how === "string" ? how : "over", status: turn.status, error, ...seen };
  }).finally(() => (over = true));
  while (!over) {
    // What is garbage already is not held: only what survives a collection counts.
    await cdp.send("HeapProfiler.collectGarbage");
    peak = Math.max(peak, await held());
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 300))]);
  }
  const result = await end;
  await cdp.send("HeapProfiler.collectGarbage");
  peak = Math.max(peak, await held());
  await page.evaluate(() => turn.disconnect());
  return { ...result, start, grown: peak - start };
}

const MiB = 1 << 20;

function told(t, { sent, taken, pulls, start, grown }) {
  t.diagnostic(`sent ${(sent / MiB).toFixed(1)} MiB in ${pulls} chunks, ${taken} events taken; held ${(start / MiB).toFixed(1)} MiB at the start, ${(grown / MiB).toFixed(1)} more at most`);
}

/** Declares a test of one such stream. */
function bounded(name, stream, judge, options) {
  check(name, async ({ page, t }) => {
    const seen = await drown(page, stream);
    told(t, seen);
    judge(seen);
    assert.ok(seen.grown < limit, `${seen.grown}`);
  }, options);
}

bounded("an event that never ends", { piece: "data: {\"type\":\"text_delta\"}\n", times: 4096, most: 10_000, taker: "listener" }, (seen) => {
  assert.deepEqual([seen.status, seen.error.name, seen.error.code], ["interrupted", "ProtocolError", "event_too_long"]);
  assert.ok(seen.sent < 24 * MiB, "reading stops at the limit");
});

bounded("a line of a gigabyte", { once: "data: ", piece: "x".repeat(MiB), times: 1, most: 1024, taker: "listener" }, (seen) => {
  assert.deepEqual([seen.status, seen.error.name, seen.error.code], ["interrupted", "ProtocolError", "event_too_long"]);
});

bounded("a comment of a gigabyte", { once: ":", piece: "x".repeat(MiB), times: 1, most: 1024, taker: "listener" }, (seen) => {
  assert.equal(seen.error.code, seen.sent >= 1024 * MiB ? "stream_closed" : "event_too_long");
});

bounded("comments without end", { piece: ": still here\n\n", times: 20_000, most: 2000, taker: "listener" }, (seen) => {
  assert.deepEqual([seen.status, seen.error.code, seen.taken], ["interrupted", "stream_closed", 0]);
});

bounded("ten million events that nobody takes", { piece: 'data: {"type":"x","data":{}}\n\n', times: 2000, most: 5000 }, (seen) => {
  assert.deepEqual([seen.how, seen.status], ["still", "streaming"], "reading has stopped");
  assert.ok(seen.pulls < 5000, `${seen.pulls} chunks`);
});

for (const taker of ["listener", "loop"]) {
  bounded(`ten million events, taken by a ${taker}`, { piece: 'data: {"type":"x","data":{}}\n\n', times: 2000, most: 5000, taker, seconds: 40 }, (seen) => {
    assert.deepEqual([seen.status, seen.error.code], ["interrupted", "stream_closed"]);
    assert.ok(seen.taken >= 1_000_000, `${seen.taken} events`);
  }, { timeout: 240_000 });
}
