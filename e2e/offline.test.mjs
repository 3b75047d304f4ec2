// Replays of a turn that breaks again and again, and of one whose browser loses its network for a while.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

const message = "1+1, 2+2, 3+3, 4+4 and 5+5";

for (const fault of [
  "times=5&close_events=12", "times=3&close_events=12&no_ids=1", "times=3&close_events=12&no_ids=1&resplit=1", "times=5&close_events=12&byte_by_byte=1",
  "times=2&close_events=12&replay_all=1", "times=5&close_events=12&encoding=event", "times=3&cut_events=40", "times=3&cut_bytes=4001",
]) {
  check(`each event comes once over several breaks: ${fault}`, async ({ page, service }) => {
    const { seen, whole } = await page.evaluate(async (message, fault) => {
      const chat = await lab.chat({ maxRetries: 8 });
      const seen = await lab.follow(chat.send(message, lab.fault(fault, { resume: "replay" })));
      return { seen, whole: await lab.follow(chat.send(message, { idempotencyKey: seen.key })) };
    }, message, fault);
    assert.deepEqual(seen.result, whole.result, JSON.stringify(seen.error));
    const results = seen.heard.filter(({ type }) => type === "tool_result").map(({ data }) => data.tool_call_id);
    assert.deepEqual([results.length, new Set(results).size], [5, 5]);
    if (!fault.includes("resplit")) {
      const plain = (events) => events.map(({ type, data }) => ({ type, data }));
      assert.deepEqual(plain(seen.heard), plain(whole.heard));
    }
    const record = await service.over(seen.chat);
    const times = Number(/times=(\d+)/.exec(fault)[1]);
    // One more is the look at the whole.
    if (fault.includes("close_events")) assert.equal(record.requests, times + 2);
    assert.equal(record.tools.length, 5);
  });
}

check("a turn that differs after it was delivered by id ends, and says so", async ({ page }) => {
  const seen = await page.evaluate(async () => lab.follow((await lab.chat({ maxRetries: 2 })).send("count to 30", lab.fault("times=1&close_events=20&differ=1&no_ids=1", { resume: "replay" }))));
  assert.deepEqual([seen.status, seen.error?.name], ["interrupted", "ReplayMismatchError"]);
  assert.equal(seen.error.partial.text, seen.text);
  assert.match("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", new RegExp(`^${seen.text}( |$)`));
  assert.equal(seen.heard.some(({ data }) => String(data.chunk).includes("Otherwise")), false);
});

check("a turn waits out a spell without network", async ({ page, service }) => {
  const cdp = await page.createCDPSession();
  await cdp.send("Network.enable");
  const network = (offline) => cdp.send("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await page.evaluate(async () => {
    globalThis.logs = [];
    // DevTools refuses new requests and lets a stream flow that is open already: the test breaks that one.
    const cuttable = async (url, init) => {
      const response = await fetch(url, init);
      const { readable, writable } = new TransformStream();
      response.body.pipeTo(writable).catch(() => {});
      const reader = readable.getReader();
      return new Response(new ReadableStream({
        start: (controller) => void (globalThis.cut = () => controller.error(new TypeError("network error"))),
        pull: async (controller) => {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      }), response);
    };
    const chat = await lab.chat({ maxRetries: 2, fetch: cuttable, onLog: ({ message }) => logs.push(message) });
    globalThis.turn = chat.send("count to 2000", { resume: "replay", ...lab.fault("pace_ms=5") });
    globalThis.followed = lab.follow(turn);
    await new Promise((resolve) => turn.on("text_delta", resolve));
  });
  await network(true);
  await page.waitForFunction(() => !navigator.onLine);
  await page.evaluate(() => cut());
  await page.waitForFunction(() => logs.includes("waiting for the network"));
  const during = await page.evaluate(() => turn.status);
  await network(false);
  const seen = await page.evaluate(() => followed);
  assert.equal(during, "streaming");
  assert.deepEqual([seen.status, seen.text], ["completed", Array.from({ length: 2000 }, (_, i) => i + 1).join(" ")]);
  assert.equal(seen.heard.filter(({ type }) => type === "text_delta").length, 2000);
  assert.equal((await service.over(seen.chat)).requests, 2, "nothing was asked while there was no network");
});
