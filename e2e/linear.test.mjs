// No input costs more than linear time: whatever a stream makes the client collect, no task of the page's thread is long
// (see longestTask) while it is received, with a listener of each kind, and everything that was collected read at each update.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { Scripted } from "./support/scripted.mjs";
import { longestTask, sum, taskTimes } from "./support/tasks.mjs";

const check = testbed();

const event = (type, data) => `data: ${JSON.stringify({ type, data })}\n\n`;
const complete = event("turn_complete", {});
const many = (n, make) => Array.from({ length: n }, (_, i) => make(i)).join("");

/** What a stream makes the client collect: its body, and what the turn has in the end. */
const structures = {
  "20,000 tool calls under one id": {
    body: many(20_000, (i) => event("tool_call", { id: "same", name: "search", arguments: { page: i, words: "of some length, as calls have them" } })),
    calls: (calls) => calls.length >= 1 && calls.every(({ name }) => name === "search"),
  },
  "20,000 tool calls that are started under one id": {
    body: many(20_000, (i) => event("tool_call_started", { id: "same", name: "search", why: `number ${i}, which takes a hundred bytes` })),
    calls: (calls) => calls.length >= 1 && calls.every(({ name }) => name === "search"),
  },
  "20,000 tool calls under one id, each started anew": {
    body: many(20_000, (i) => event("tool_call_started", { id: "same", name: "search" }) + event("tool_call", { id: "same", arguments: { page: i } })),
    calls: (calls) => calls.length >= 1 && calls.at(-1).arguments.page === 19_999,
  },
  "20,000 tool calls without ids": {
    body: many(20_000, (i) => event("tool_call", { name: "search", arguments: { page: i } })),
    calls: (calls) => calls.length === 20_000 && calls[19_999].arguments.page === 19_999,
  },
  "20,000 tool calls without ids that are started, called and finished": {
    body: many(20_000, () => event("tool_call_started", { name: "a" })) + many(20_000, (i) => event("tool_call", { arguments: { i } }))
      + many(20_000, (i) => event("tool_result", { result: i })),
    calls: (calls) => calls.length === 20_000 && calls.every(({ status }) => status === "finished"),
  },
  "20,000 tool calls under ids of their own": {
    body: many(20_000, (i) => event("tool_call", { id: `call-${i}`, name: "search", arguments: { page: i } }) + event("tool_result", { id: `call-${i}`, result: i })),
    calls: (calls) => calls.length === 20_000 && calls[777].result === 777,
  },
  "200,000 argument deltas of one call": {
    body: event("tool_call_started", { id: "c", name: "write" }) + many(200_000, () => event("tool_call_delta", { id: "c", delta: "word " })),
    calls: ([call]) => call.argumentsText.length === 1_000_000,
  },
  "300,000 tiny text deltas": { body: many(300_000, () => event("text_delta", { chunk: "a" })), text: 300_000 },
  "300,000 reasoning deltas": { body: many(300_000, () => event("reasoning_delta", { chunk: "ß" })), reasoning: 300_000 },
  "text and reasoning in turns": {
    body: many(100_000, () => event("text_delta", { chunk: "a" }) + event("reasoning_delta", { chunk: "b" })), text: 100_000, reasoning: 100_000,
  },
  "100,000 events of an unknown type": { body: many(100_000, (i) => event("progress", { step: i })) },
};

/** Serves `bodies`, one to each request; follows a turn of it, and gives the times of the page's tasks and what the turn had. */
async function receive({ page, t }, bodies, options = {}) {
  const service = await Scripted.start((request, response, { requests }) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(bodies[requests.length - 1]);
  });
  t.after(() => service.close());
  await page.evaluate(async (baseURL) => {
    globalThis.client = lab.client({ baseURL, maxRetries: 1 });
    await client.ready();
  }, service.origin);
  const most = await longestTask(page);
  let seen;
  const times = await taskTimes(page, async () => {
    seen = await page.evaluate(async (options) => {
      const turn = (globalThis.turn = client.chats.open("c1").send("go", { ...options, onEvent: () => {} }));
      const heard = { updates: 0, read: 0 };
      const types = ["text_delta", "reasoning_delta", "tool_call_started", "tool_call_delta", "tool_call", "tool_result", "turn_complete", "error", "event"];
      for (const type of types) turn.on(type, () => (heard[type] = (heard[type] ?? 0) + 1));
      turn.on("update", ({ toolCalls, text, reasoning }) => {
        heard.updates++;
        heard.read += toolCalls.length + text.length + reasoning.length;
      });
      const { error } = await lab.settled(turn.done());
      return { status: turn.status, error: error && lab.told(error), text: turn.text.length, reasoning: turn.reasoning.length, heard };
    }, options);
  });
  seen.requests = service.requests.length;
  t.diagnostic(`longest task ${Math.max(...times).toFixed(1)} ms of ${sum(times).toFixed(0)}; ${seen.heard.updates} updates`);
  return { ...seen, most, longest: Math.max(...times) };
}

for (const [what, { body, calls, text = 0, reasoning = 0 }] of Object.entries(structures)) {
  check(what, async (bed) => {
    const seen = await receive(bed, [body + complete]);
    assert.deepEqual([seen.status, seen.text, seen.reasoning, seen.error?.message], ["completed", text, reasoning, undefined]);
    assert.equal(seen.heard.event, body.split("\n\n").length);
    if (calls) assert.ok(await bed.page.evaluate(`(${calls})(turn.toolCalls)`), "the calls are all there");
    assert.ok(seen.longest < seen.most, `a task of ${seen.longest} ms; ${seen.most} is the most`);
  });
}

const numbered = (n, from = 0) => Array.from({ length: n - from }, (_, i) => `id: e${from + i}\n${event("text_delta", { chunk: "a" })}`).join("");
const plain = (n) => many(n, () => event("text_delta", { chunk: "a" }));
const replays = {
  "a replay of 200,000 events with ids, from where it broke": [numbered(100_000), numbered(200_000, 100_000) + complete],
  "a replay of 200,000 events with ids, from the beginning": [numbered(100_000), numbered(200_000) + complete],
  "a replay of 200,000 events without ids": [plain(100_000), plain(200_000) + complete],
  "a replay of 20,000 tool calls": [structures["20,000 tool calls under one id"].body, structures["20,000 tool calls under one id"].body + complete],
};
for (const [what, bodies] of Object.entries(replays)) {
  check(what, async (bed) => {
    const seen = await receive(bed, bodies, { resume: "replay" });
    assert.deepEqual([seen.status, seen.error?.message, seen.requests], ["completed", undefined, 2]);
    assert.equal(seen.heard.event, what.includes("tool calls") ? 20_001 : 200_001);
    assert.ok(seen.longest < seen.most, `a task of ${seen.longest} ms; ${seen.most} is the most`);
  });
}
