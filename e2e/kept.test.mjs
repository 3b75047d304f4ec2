// What is kept of a turn that nobody iterates yet: at 8 MiB reading pauses, or the events are dropped where the turn
// is followed another way.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"], before: makeLongTurns });

/** Ahead of the page's scripts: a turn whose stream is made in the page, 64 KiB an event, and counts its pulls. */
function makeLongTurns() {
  const events = 240, size = 64 << 10;
  /** Lets everything run that can: a stream that is read is read on by then. */
  globalThis.idle = async () => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve));
  };
  globalThis.longTurn = (options) => {
    const counts = { pulled: 0, events, cancelled: false };
    const encoder = new TextEncoder();
    const body = () => new ReadableStream({
      pull(controller) {
        const n = counts.pulled++;
        if (n < events) controller.enqueue(encoder.encode(`data: {"type":"text_delta","data":{"n":${n},"chunk":"${"x".repeat(size)}"}}\n\n`));
        else {
          controller.enqueue(encoder.encode('data: {"type":"turn_complete","data":{}}\n\n'));
          controller.close();
        }
      },
      cancel: () => void (counts.cancelled = true),
    }, { highWaterMark: 0 });
    const fetch = async (url) => url.endsWith("/abort")
      ? new Response(null, { status: 204 })
      : new Response(body(), { headers: { "content-type": "text/event-stream" } });
    // A chat of its own: an abort of one waits while others are under way.
    const turn = lab.client({ fetch }).chats.open(`chat_${crypto.randomUUID()}`).send("hello", options);
    // 8 MiB are kept after so many events, and the next one goes past them.
    return { turn, counts, full: Math.floor((8 << 20) / size) + 1, size };
  };
  /** Resolves when the stream of a turn has been pulled so often and then no more. */
  globalThis.paused = async ({ counts }, least) => {
    while (counts.pulled < least) await new Promise((resolve) => setTimeout(resolve));
    await idle();
    return counts.pulled;
  };
}

check("reading pauses at 8 MiB kept, and goes on when the events are taken", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const long = longTurn();
    const { turn, counts, full } = long;
    const before = { pulled: await paused(long, full - 2), status: turn.status, text: turn.text.length };
    const order = [];
    let length = 0;
    for await (const event of turn) {
      order.push(event.data.n ?? event.type);
      length += event.data.chunk?.length ?? 0;
    }
    return { before, full, counts, order, length, text: turn.text.length, status: turn.status };
  });
  assert.ok(Math.abs(seen.before.pulled - seen.full) <= 2, `paused after ${seen.before.pulled} events, ${seen.full} fill it`);
  assert.equal(seen.before.status, "streaming");
  assert.equal(seen.before.text, seen.before.pulled * (64 << 10), "what came is in the text, taken or not");
  assert.deepEqual(seen.order, [...Array(240).keys(), "turn_complete"]);
  assert.equal(seen.length, 240 * (64 << 10));
  assert.deepEqual([seen.text, seen.status, seen.counts.pulled], [seen.length, "completed", 241]);
});

check("a slow reader holds the stream back for all of the turn", async ({ page }) => {
  const { most, full, text } = await page.evaluate(async () => {
    const { turn, counts, full } = longTurn();
    let most = 0, taken = 0, text = 0;
    for await (const chunk of turn.textStream()) {
      taken++;
      text += chunk.length;
      if (taken % 20 === 0) await idle();
      most = Math.max(most, counts.pulled - taken);
    }
    return { most, full, text };
  });
  assert.ok(most <= full + 2, `${most} events waited at once, ${full} fill it`);
  assert.equal(text, 240 * (64 << 10));
});

for (const how of ["a listener", "done()", "onEvent"]) {
  check(`${how} shows that the turn is followed: events are dropped, and a late iteration rejects`, async ({ page }) => {
    const seen = await page.evaluate(async (how) => {
      const { turn } = longTurn(how === "onEvent" ? { onEvent: () => {} } : {});
      const end = how === "done()" ? turn.done() : new Promise((resolve) => turn.on("end", resolve));
      await end;
      const late = await lab.refusal(async () => {
        for await (const event of turn) void event;
      });
      return { status: turn.status, text: turn.text.length, late };
    }, how);
    assert.deepEqual([seen.status, seen.text], ["completed", 240 * (64 << 10)]);
    assert.deepEqual([seen.late?.name, seen.late?.code], ["InvalidArgumentError", "events_dropped"]);
    assert.match(seen.late.message, /8 MiB/);
  });
}

check("a paused turn goes on when it is followed after all", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const long = longTurn();
    await paused(long, long.full - 2);
    const { status, text } = await long.turn.done();
    return { status, text: text.length };
  });
  assert.deepEqual(seen, { status: "completed", text: 240 * (64 << 10) });
});

check("a turn that is iterated and listened to drops nothing", async ({ page }) => {
  const { heard, taken } = await page.evaluate(async () => {
    const { turn } = longTurn();
    let heard = 0, taken = 0;
    turn.on("event", () => heard++);
    for await (const event of turn) if (event && ++taken % 50 === 0) await idle();
    return { heard, taken };
  });
  assert.deepEqual([heard, taken], [241, 241]);
});

check("a paused turn does not idle out: the silence is the page's own", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const long = longTurn({ idleTimeout: 200 });
    await paused(long, long.full - 2);
    // One that does, twice in a row, so that the paused one's time is over long since.
    const errors = [];
    for (let i = 0; i < 2; i++) {
      const other = (await lab.chat()).send("count to 3", lab.fault("stall_events=1", { idleTimeout: 200 }));
      errors.push((await lab.refusal(() => other.done())).code);
    }
    const status = long.turn.status;
    const end = await lab.follow(long.turn);
    return { errors, status, end: end.status, error: end.error };
  });
  assert.deepEqual(seen.errors, ["idle_timeout", "idle_timeout"]);
  assert.equal(seen.status, "streaming");
  assert.deepEqual([seen.end, seen.error], ["completed", undefined]);
});

check("a paused turn can be aborted and left", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const aborted = longTurn(), left = longTurn(), disconnected = longTurn();
    for (const long of [aborted, left, disconnected]) await paused(long, long.full - 2);
    await aborted.turn.abort();
    for await (const event of left.turn) if (event) break;
    disconnected.turn.disconnect();
    await idle();
    return [aborted, left, disconnected].map(({ turn, counts }) => [turn.status, counts.cancelled, counts.pulled < counts.events]);
  });
  assert.deepEqual(seen, [["cancelled", true, true], ["cancelled", true, true], ["interrupted", true, true]]);
});

check("an event larger than the module's buffer comes whole, and one too large is refused", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const play = (chunks) => lab.follow(lab.client({
      fetch: async () => new Response(new Blob(chunks).stream(), { headers: { "content-type": "text/event-stream" } }),
    }).chats.open("chat_any").send("hello"));
    const data = (n) => `data: {"type":"text_delta","data":{"chunk":"${"é".repeat(n)}"}}\n\n`;
    const large = await play([data(3 << 20), data(1), 'data: {"type":"turn_complete","data":{}}\n\n']);
    const huge = await play([data(2), data(9 << 20)]);
    return { large: [large.status, large.text.length, large.taken.length], huge: [huge.status, huge.text, huge.error.name, huge.error.code] };
  });
  assert.deepEqual(seen.large, ["completed", (3 << 20) + 1, 3]);
  assert.deepEqual(seen.huge, ["interrupted", "éé", "ProtocolError", "event_too_long"]);
});
