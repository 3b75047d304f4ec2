// How what came is given: one update a network chunk, nothing after return(), in turns with the page, and with a replay
// that is refused, together with its error.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { Scripted } from "./support/scripted.mjs";
import { longestTask, taskTimes } from "./support/tasks.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

/** In the page: a turn whose stream is these chunks, text or bytes, one a read. */
function makeTurns() {
  const encoder = new TextEncoder();
  globalThis.turnOf = (chunks, options) => {
    const left = chunks.map((chunk) => (typeof chunk === "string" ? encoder.encode(chunk) : chunk));
    const body = new ReadableStream({
      pull(controller) {
        if (left.length > 0) controller.enqueue(left.shift());
        else controller.close();
      },
    }, { highWaterMark: 0 });
    const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    return lab.client({ fetch, ...options }).chats.open("c1").send("hello");
  };
  globalThis.text = (chunk) => `data: {"type":"text_delta","data":{"chunk":${JSON.stringify(chunk)}}}\n\n`;
  globalThis.complete = 'data: {"type":"turn_complete","data":{}}\n\n';
}

const options = { before: makeTurns };

for (const [what, piece] of Object.entries({ "tiny events": 1, "events of 10 KB": 10_000, "one event": 1_000_000 })) {
  check(`update comes once for a chunk of 1 MB of ${what}`, async ({ page }) => {
    const seen = await page.evaluate(async (piece) => {
      const each = text("x".repeat(piece));
      const chunk = each.repeat(Math.ceil(1_000_000 / each.length));
      const turn = turnOf([chunk, chunk, complete]);
      const updates = [];
      let events = 0;
      turn.on("event", () => events++);
      turn.on("update", ({ text }) => updates.push([events, text.length]));
      await turn.done();
      return { updates, n: chunk.length / each.length };
    }, piece);
    const { n } = seen;
    assert.deepEqual(seen.updates, [[n, n * piece], [2 * n, 2 * n * piece], [2 * n + 1, 2 * n * piece]]);
  }, options);
}

check("no update comes for a chunk without events, and one for a chunk in which an event ends", async ({ page }) => {
  const updates = await page.evaluate(async () => {
    const whole = text("one");
    const turn = turnOf([": comment\n\n", whole.slice(0, 9), whole.slice(9), text("two") + text("three"), complete]);
    const updates = [];
    turn.on("update", ({ text }) => updates.push(text));
    await turn.done();
    return updates;
  });
  assert.deepEqual(updates, ["one", "onetwothree", "onetwothree"]);
}, options);

check("after return() an iteration gives nothing more: of a turn under way, or over", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const over = turnOf([["a", "b", "c"].map(text).join("") + complete]);
    const taken = [];
    const events = over[Symbol.asyncIterator]();
    taken.push((await events.next()).value.data.chunk);
    await over.done();
    const returned = await events.return();
    const after = [await events.next(), await events.next()];

    const failed = turnOf([text("a") + text("b")]);
    const iteration = failed[Symbol.asyncIterator]();
    await iteration.next();
    const error = await lab.refusal(() => failed.done());
    await iteration.return();
    const afterFailure = await iteration.next();

    const waiting = lab.client({ fetch: async () => new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }) }).chats.open("c1").send("hello");
    const open = waiting[Symbol.asyncIterator]();
    const pending = [open.next(), open.next()];
    await new Promise((resolve) => setTimeout(resolve));
    void open.return();
    return { taken, returned, after, status: over.status, code: error.code, afterFailure, pending: await Promise.all(pending), last: await open.next() };
  });
  const done = { done: true };
  const plain = (result) => ({ done: result.done, ...(result.value !== undefined && { value: result.value }) });
  assert.deepEqual([seen.taken, seen.status, seen.code], [["a"], "completed", "stream_closed"]);
  assert.deepEqual([seen.returned, ...seen.after, seen.afterFailure, ...seen.pending, seen.last].map(plain), Array(7).fill(done));
}, options);

check("a loop that is left after the turn's end leaves the turn completed", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const turn = turnOf([text("a") + text("b") + complete]);
    await new Promise((resolve) => turn.on("end", resolve));
    for await (const event of turn) if (event) break;
    return { status: turn.status, text: (await turn.done()).text };
  });
  assert.deepEqual(seen, { status: "completed", text: "ab" });
}, options);

// Taken as they come, or kept in the page before anybody takes: of those only some fit.
const tiny = { come: 300_000, kept: 60_000 };
const ways = {
  "textStream() piped": (turn) => {
    let length = 0;
    return turn.textStream().pipeTo(new WritableStream({ write: (chunk) => void (length += chunk.length) })).then(() => length);
  },
  "a loop": async (turn) => {
    let length = 0;
    for await (const event of turn) length += event.data.chunk?.length ?? 0;
    return length;
  },
};
for (const [what, take] of Object.entries(ways)) {
  for (const kept of [false, true]) {
    const count = kept ? tiny.kept : tiny.come;
    check(`${what} over ${count} tiny events${kept ? " that were kept" : ""} leaves the page no long task`, async ({ page, t }) => {
      const body = 'data: {"type":"text_delta","data":{"chunk":"a"}}\n\n'.repeat(count) + 'data: {"type":"turn_complete","data":{}}\n\n';
      const service = await Scripted.start((request, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(body));
      t.after(() => service.close());
      await page.evaluate(`globalThis.take = ${take}`);
      await page.evaluate((baseURL) => (globalThis.client = lab.client({ baseURL })).ready(), service.origin);
      const most = await longestTask(page);
      let length;
      const times = await taskTimes(page, async () => {
        length = await page.evaluate(async (kept) => {
          const turn = client.chats.open("c1").send("hello");
          // Nothing but the status tells that it is over: a listener would let the events be dropped.
          while (kept && (turn.status === "queued" || turn.status === "streaming")) await new Promise((resolve) => setTimeout(resolve));
          return take(turn);
        }, kept);
      });
      assert.equal(length, count);
      t.diagnostic(`longest task ${Math.max(...times).toFixed(1)} ms`);
      assert.ok(Math.max(...times) < most, `a task of ${Math.max(...times)} ms; ${most} is the most`);
    });
  }
}

check("a replay that is refused ends in an error with the partial result", async ({ page, t }) => {
  const service = await Scripted.start((request, response, service) => {
    const send = service.requests.length === 1 ? service.stream(response) : undefined;
    if (!send) return void service.json(response, { error: { message: "no longer known", code: "gone" } }, 410);
    send("text_delta", { chunk: "half of" });
    send("reasoning_delta", { chunk: "why" });
    send("tool_call", { id: "t1", name: "look", arguments: {} });
    response.end();
  });
  t.after(() => service.close());
  const seen = await page.evaluate((baseURL) => lab.follow(lab.client({ baseURL, maxRetries: 1 }).chats.open("c1").send("go", { resume: "replay" })), service.origin);
  assert.deepEqual([seen.error.name, seen.error.status, seen.error.code, seen.text], ["APIError", 410, "gone", "half of"]);
  assert.deepEqual([seen.error.partial?.text, seen.error.partial?.reasoning], ["half of", "why"]);
  assert.deepEqual(seen.error.partial.toolCalls.map(({ id, name }) => [id, name]), [["t1", "look"]]);
  assert.equal(service.requests.length, 2);
});
