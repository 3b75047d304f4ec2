// A thousand aborts at random moments of a turn: before the module is loaded, between any two events, at the very end, after
// it, twice, by method and by signal. The profile's table holds, and the service hears of each turn at most once.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { random, seedFor, Tally } from "./support/seed.mjs";

const check = testbed({ flags: ["-pace", "0s"] });

/** In the page: aborts a turn in the ways of a plan, at its moment, and says how it ended. */
function prepare() {
  globalThis.race = async (chat, { at, ways, options = {}, message }) => {
    const cancel = new AbortController();
    const asked = [];
    const go = () => {
      for (const way of ways) {
        if (way === "signal") cancel.abort();
        else asked.push(lab.settled(turn.abort()));
      }
    };
    const turn = chat.send(message, { ...options, signal: cancel.signal });
    const events = [];
    let before;
    // What was seen at the moment of asking decides how it may end.
    const note = () => (before ??= { status: turn.status, complete: events.includes("turn_complete"), events: events.length });
    turn.on("event", (event) => {
      events.push(event.type);
      if (at.event === events.length || at.type === event.type) {
        note();
        go();
      }
    });
    const done = lab.settled(turn.done());
    if (at.micro !== undefined) {
      for (let i = 0; i < at.micro; i++) await null;
      note();
      go();
    }
    if (at.ms !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, at.ms));
      note();
      go();
    }
    const { value, error } = await done;
    note();
    if (at.late) go();
    const answers = await Promise.all(asked);
    const text = turn.text;
    return {
      status: turn.status, done: value?.status, error: error && lab.told(error), before, text, chat: turn.chatId, events,
      refused: answers.filter((answer) => answer.error).map((answer) => lab.told(answer.error)),
    };
  };
}

function plan(r) {
  const at = r.pick([
    () => ({ event: 1 + r.below(14) }), () => ({ event: 1 + r.below(14) }), () => ({ type: "turn_complete" }), () => ({ micro: r.below(60) }),
    () => ({ ms: r.below(25) }), () => ({ ms: 0 }), () => ({ late: true }),
  ])();
  return { at, ways: r.pick([["method"], ["signal"], ["method", "method"], ["method", "signal"], ["signal", "method"], ["signal", "signal"]]) };
}

function judge(one, seen, tally) {
  const said = JSON.stringify([one, seen]);
  tally.add(seen.status);
  assert.ok(["completed", "cancelled"].includes(seen.status), said);
  assert.equal(seen.done, seen.status, said);
  assert.deepEqual(seen.refused, [], said);
  assert.match("1 2 3 4 5 6 7 8", new RegExp(`^${seen.text}`), said);
  if (seen.before.complete) assert.equal(seen.status, "completed", said);
  else if (!one.at.late && ["queued", "streaming"].includes(seen.before.status)) assert.equal(seen.status, "cancelled", said);
  if (seen.status === "cancelled") {
    assert.equal(seen.events.length, seen.before.events, `nothing is seen after the abort: ${said}`);
    assert.ok(!seen.events.includes("turn_complete"), said);
  } else assert.deepEqual([seen.text, seen.events.at(-1)], ["1 2 3 4 5 6 7 8", "turn_complete"], said);
}

check("200 aborts at the service", async ({ page, service, t }) => {
  const r = random(seedFor(t));
  await page.evaluate(prepare);
  const plans = Array.from({ length: 200 }, () => ({ ...plan(r), message: "count to 8", options: { headers: { "X-Fault": `on=messages&pace_ms=${r.below(3)}` } } }));
  const seen = await page.evaluate(async (plans) => {
    const client = lab.client();
    const seen = [];
    const next = plans.entries();
    await Promise.all([1, 2].map(async () => {
      for (const [i, one] of next) seen[i] = await race(await client.chats.create(), one);
    }));
    return seen;
  }, plans);
  const tally = new Tally();
  plans.forEach((one, i) => judge(one, seen[i], tally));
  const turns = new Map((await service.turns()).map((turn) => [turn.chat_id, turn]));
  for (const [i, one] of seen.entries()) {
    // An abort may overtake its message: then there is no turn, or one that runs on, for nothing names it.
    const turn = turns.get(one.chat);
    assert.ok((turn?.aborts ?? 0) <= (one.status === "cancelled" ? 1 : 0), JSON.stringify([plans[i], one, turn]));
  }
  t.diagnostic(tally.toString());
}, { timeout: 240_000 });

check("800 aborts in the page", async ({ page, t }) => {
  const r = random(seedFor(t));
  await page.evaluate(prepare);
  const plans = Array.from({ length: 800 }, () => ({ ...plan(r), message: "go", cuts: Array.from({ length: 4 }, () => r.below(600)), gaps: Array.from({ length: 5 }, () => r.below(4)) }));
  const seen = await page.evaluate(async (plans) => {
    const { Stub, text, frame } = await import("/stub.js");
    const whole = ["1", " 2", " 3", " 4", " 5", " 6", " 7", " 8"].map((chunk) => text(chunk)).join("") + frame("turn_complete", {});
    const stub = new Stub({
      messages: async (request) => {
        const { cuts, gaps } = plans[Number(request.chat.slice(5))];
        const at = [0, ...cuts.map((cut) => cut % whole.length).sort((a, b) => a - b), whole.length];
        if (gaps[4]) await null;
        if (request.aborted) return;
        request.open();
        for (let i = 0; i + 1 < at.length; i++) {
          // Nothing, a microtask or a task between two chunks.
          if (gaps[i % 5] === 1) await null;
          if (gaps[i % 5] > 1) await new Promise((resolve) => setTimeout(resolve, gaps[i % 5] - 2));
          if (at[i] < at[i + 1]) request.push(whole.slice(at[i], at[i + 1]));
        }
        request.close();
      },
    });
    const client = lab.client({ fetch: stub.fetch });
    const seen = [];
    const next = plans.entries();
    await Promise.all([1, 2, 3, 4].map(async () => {
      for (const [i, one] of next) {
        seen[i] = await race(client.chats.open(`chat_${i}`), one);
        seen[i].aborts = stub.of("abort", `chat_${i}`).length;
        seen[i].sent = stub.of("messages", `chat_${i}`).length;
      }
    }));
    return seen;
  }, plans);
  const tally = new Tally();
  plans.forEach((one, i) => {
    judge(one, seen[i], tally);
    // Before the module was loaded nothing was sent, and nothing needs to be stopped.
    assert.equal(seen[i].aborts, seen[i].status === "cancelled" && seen[i].sent > 0 ? 1 : 0, JSON.stringify([one, seen[i]]));
  });
  t.diagnostic(tally.toString());
}, { timeout: 240_000 });
