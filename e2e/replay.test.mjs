// A turn with resume: "replay": a stream that breaks is asked for again under its key, and nothing is delivered twice.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

const message = "What is 17 × 23, and what time is it in Asia/Tokyo?";

/** Sends the message under a fault, and gives what was seen beside what an unbroken turn of it looks like. */
async function play(page, fault, options = {}) {
  return page.evaluate(async (message, fault, options) => {
    const chat = await lab.chat({ maxRetries: 2 });
    const seen = await lab.follow(chat.send(message, lab.fault(fault, { resume: "replay", ...options })));
    // The turn again from the service's records, without any fault.
    const whole = await lab.follow(chat.send(message, { idempotencyKey: seen.key }));
    return { seen, whole };
  }, message, fault, options);
}

const joined = (events, type) => events.filter((event) => event.type === type).map((event) => event.data.chunk).join("");

const breaks = ["cut_events=4", "cut_events=17", "cut_bytes=900", "cut_bytes=2500", "close_events=9", "close_events=0", "stall_events=6"];
// By ids, and by the text alone, cut in other places than at first.
const replays = { "": breaks, "&no_ids=1&resplit=1": breaks, "&no_ids=1": ["cut_events=17"], "&replay_all=1": ["cut_events=17"], "&encoding=event": ["close_events=9"] };

for (const [replay, hows] of Object.entries(replays)) {
  for (const how of hows) {
    const fault = `times=1&${how}${replay}`;
    check(`nothing is lost and nothing comes twice: ${fault}`, async ({ page, service }) => {
      const { seen, whole } = await play(page, fault, how.startsWith("stall") ? { idleTimeout: 250 } : {});
      assert.equal(seen.status, "completed", JSON.stringify(seen.error));
      assert.equal(seen.text, whole.text);
      assert.equal(seen.reasoning, whole.reasoning);
      assert.deepEqual(seen.toolCalls, whole.toolCalls);
      for (const type of ["text_delta", "reasoning_delta"]) assert.equal(joined(seen.heard, type), joined(whole.heard, type));
      const others = (events) => events.filter(({ type }) => !type.endsWith("t_delta") && type !== "reasoning_delta").map(({ type, data }) => [type, data]);
      assert.deepEqual(others(seen.heard), others(whole.heard));
      assert.deepEqual(seen.taken, seen.heard);
      const record = await service.over(seen.chat);
      assert.deepEqual([record.idempotency_key, record.requests, record.tools.length], [seen.key, 3, 2], "one turn, whose tools ran once");
    });
  }
}

check("a replay that differs ends the turn, and nothing doubtful is delivered", async ({ page }) => {
  const { seen, whole } = await play(page, "times=1&close_events=32&differ=1");
  assert.equal(seen.status, "interrupted");
  assert.deepEqual([seen.error.name, seen.error.code, seen.sameError], ["ReplayMismatchError", "replay_mismatch", true]);
  assert.ok(whole.text.startsWith(seen.text) && seen.text !== whole.text, seen.text);
  assert.equal(seen.error.partial.text, seen.text);
});

check("without resume a stream that breaks is not asked for again", async ({ page, service }) => {
  const seen = await page.evaluate(async (message) => lab.follow((await lab.chat({ maxRetries: 2 })).send(message, lab.fault("times=1&cut_events=4"))), message);
  assert.deepEqual([seen.status, seen.error.code], ["interrupted", "stream_broken"]);
  assert.equal((await service.over(seen.chat)).requests, 1);
});

check("an abort between two tries cancels at the service", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat({ maxRetries: 2 })).send("count to 100000", lab.fault("close_events=6", { resume: "replay" }));
    const followed = lab.follow(turn);
    await new Promise((resolve) => turn.on("text_delta", resolve));
    await turn.abort();
    return followed;
  });
  assert.deepEqual([seen.status, seen.error], ["cancelled", undefined]);
  assert.equal((await service.over(seen.chat)).status, "cancelled");
});
