// An abort names a chat, not a turn: what stops one turn may not reach the next. So within a page a chat's next message
// waits for the abort under way, and an abort is not told where it would stop another turn.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "5ms"] });

/** In the page: a service whose answers the test gives, and clients of it. */
async function stubbed() {
  const { Stub, text, frame } = await import("/stub.js");
  globalThis.whole = (request, said = "done") => request.open().push(text(said), frame("turn_complete", {})).close();
  /** A stub that keeps aborts and messages unanswered, or leaves them to handlers; came(kind, n, chat) resolves when n such have come. */
  globalThis.scene = (handlers = {}) => {
    const waiting = [];
    const noted = (answer) => (request) => {
      answer?.(request);
      for (const tell of waiting.splice(0)) tell();
    };
    const stub = new Stub({ messages: noted(handlers.messages), abort: noted(handlers.abort) });
    const sent = (kind) => stub.of(kind).length;
    const came = async (kind, n, chat) => {
      for (let all; ; await new Promise((resolve) => waiting.push(resolve))) if ((all = stub.of(kind, chat)).length >= n) return all[n - 1];
    };
    return { stub, sent, came, client: (options) => lab.client({ fetch: stub.fetch, timeout: 10_000, ...options }) };
  };
  /** Sends a message, and opens its stream. */
  globalThis.streaming = async ({ came, sent }, chat, options) => {
    const turn = chat.send("hello", options);
    (await came("messages", sent("messages") + 1)).open().push(text("some"));
    await new Promise((resolve) => turn.on("text_delta", resolve));
    return turn;
  };
  globalThis.accept = (request) => request.respond(new Response(null, { status: 204 }));
  /** Lets everything run that can. */
  globalThis.idle = async () => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve));
  };
}

/** Declares a test of a page whose service is a stub. */
const stubs = (name, run) => check(name, async (bed) => {
  await bed.page.evaluate(stubbed);
  await run(bed);
});

for (const [what, fault] of Object.entries({ "is slow to act": "on=abort&delay_ms=1500", "answers 503 at first": "on=abort&times=1&status=503&retry_after=1" })) {
  for (const how of ["turn.abort()", "chat.abort()", "a signal"]) {
    check(`${how} at a service that ${what} does not stop the next turn`, async ({ page, service }) => {
      const id = await page.evaluate(async (fault, how) => {
        const chat = (globalThis.chat = await lab.chat({ maxRetries: 2 }));
        const cancel = new AbortController();
        const turn = chat.send("count to 30", lab.fault(fault, { signal: cancel.signal }));
        await new Promise((resolve) => turn.on("text_delta", resolve));
        globalThis.aborted = how === "turn.abort()" ? turn.abort() : how === "chat.abort()" ? chat.abort(lab.fault(fault)) : cancel.abort();
        return chat.id;
      }, fault, how);
      // The service has come to the turn's end by itself: there is nothing to stop any more.
      await service.over(id);
      const seen = await page.evaluate(async () => {
        const seen = await lab.follow(chat.send("count to 400"));
        await aborted;
        return seen;
      });
      assert.deepEqual([seen.error, seen.status, seen.text.slice(-3)], [undefined, "completed", "400"]);
      assert.equal((await service.turns()).findLast((turn) => turn.chat_id === id).aborts, 0);
    });
  }
}

check("a message right after abort() meets no turn in progress", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const chat = await lab.chat();
    const turn = chat.send("count to 100000", lab.fault("on=abort&delay_ms=200"));
    await new Promise((resolve) => turn.on("text_delta", resolve));
    turn.abort();
    return lab.follow(chat.send("count to 5"));
  });
  assert.deepEqual([seen.error, seen.status, seen.text], [undefined, "completed", "1 2 3 4 5"]);
});

stubs("the next message stays queued until the abort is answered", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent } = scene();
    const chat = client().chats.open("c1");
    const turn = await streaming({ came, sent }, chat);
    const aborted = turn.abort();
    const next = chat.send("again");
    const abort = await came("abort", 1);
    await idle();
    const before = { status: next.status, messages: sent("messages") };
    accept(abort);
    await aborted;
    whole(await came("messages", 2));
    return { before, aborts: sent("abort"), text: (await next.done()).text };
  });
  assert.deepEqual(seen, { before: { status: "queued", messages: 1 }, aborts: 1, text: "done" });
});

stubs("an abort that another client of the page asked for is waited for too, and another chat waits for none", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent, stub } = scene();
    const turn = await streaming({ came, sent }, client().chats.open("c1"));
    const aborted = turn.abort();
    const other = client();
    const next = other.chats.open("c1").send("again");
    const elsewhere = other.chats.open("c2").send("hello");
    const abort = await came("abort", 1);
    whole(await came("messages", 1, "c2"), "elsewhere");
    await elsewhere.done();
    await idle();
    const before = stub.of("messages").map(({ chat }) => chat);
    accept(abort);
    await aborted;
    whole(await came("messages", 2, "c1"));
    await next.done();
    return { before, next: [next.status, next.text] };
  });
  assert.deepEqual(seen, { before: ["c1", "c2"], next: ["completed", "done"] });
});

stubs("an abort whose caller gave it up holds no message back any longer", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came } = scene();
    const chat = client().chats.open("c1");
    const cancel = new AbortController();
    const given = lab.settled(chat.abort({ signal: cancel.signal }));
    await came("abort", 1);
    const next = chat.send("again");
    cancel.abort(new RangeError("no longer wanted"));
    whole(await came("messages", 1));
    return { given: (await given).error?.name, text: (await next.done()).text };
  });
  assert.deepEqual(seen, { given: "RangeError", text: "done" });
});

stubs("an abort that is refused holds no message back any longer", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent } = scene({ abort: (request) => request.respond(new Response("{}", { status: 403 })) });
    const chat = client().chats.open("c1");
    const turn = await streaming({ came, sent }, chat);
    const refused = lab.refusal(() => turn.abort());
    const next = chat.send("again");
    whole(await came("messages", 2));
    return { refused: (await refused).status, text: (await next.done()).text };
  });
  assert.deepEqual(seen, { refused: 403, text: "done" });
});

stubs("an abort that is never answered is given up after timeout, and the message leaves", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent } = scene();
    const chat = client({ timeout: 1_000 }).chats.open("c1");
    const turn = await streaming({ came, sent }, chat);
    const refused = lab.refusal(() => turn.abort());
    const next = chat.send("again", { timeout: 60_000 });
    await came("abort", 1);
    whole(await came("messages", 2));
    return { refused: await refused, text: (await next.done()).text };
  });
  assert.deepEqual([seen.refused.name, seen.refused.code, seen.text], ["TimeoutError", "response_timeout", "done"]);
});

stubs("an abort is never tried again once a newer message has left", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    // Each try is answered at once, and asks for another soon.
    const unavailable = (request) => request.respond(new Response("", { status: 503, headers: { "retry-after": "0.05" } }));
    const { client, came, sent } = scene({ abort: unavailable });
    const chat = client({ timeout: 1_000, maxRetries: 1_000 }).chats.open("c1");
    const turn = await streaming({ came, sent }, chat);
    const refused = lab.refusal(() => turn.abort());
    const next = chat.send("again", { timeout: 60_000 });
    const message = await came("messages", 2);
    const tries = sent("abort");
    message.open();
    const code = (await refused).code;
    const other = await lab.refusal(() => client({ timeout: 1_000 }).chats.open("c2").send("never answered").done());
    // Meanwhile twenty tries would have come.
    const later = sent("abort");
    return { tries, later, code, other: other.code, left: next.status };
  });
  assert.ok(seen.tries > 1, `${seen.tries} tries`);
  assert.deepEqual([seen.later, seen.code, seen.other, seen.left], [seen.tries, "abort_given_up", "response_timeout", "streaming"]);
});

stubs("an abort while the key is asked for tells the service nothing", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, stub } = scene();
    let asked, give;
    const asking = new Promise((resolve) => (asked = resolve));
    const apiKey = () => (asked(), new Promise((resolve) => (give = resolve)));
    const turn = client({ apiKey }).chats.open("c1").send("hello");
    await asking;
    await turn.abort();
    give("dev-key");
    await idle();
    return { status: turn.status, done: (await turn.done()).status, requests: stub.requests.length };
  });
  assert.deepEqual(seen, { status: "cancelled", done: "cancelled", requests: 0 });
});

stubs("an abort of a message that waits for an abort sends nothing, and resolves at once", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent } = scene();
    const chat = client().chats.open("c1");
    const first = await streaming({ came, sent }, chat);
    const aborted = first.abort();
    const abort = await came("abort", 1);
    const second = chat.send("never leaves");
    const third = chat.send("leaves");
    await second.abort();
    const before = [second.status, third.status, sent("messages"), sent("abort")];
    accept(abort);
    await aborted;
    whole(await came("messages", 2));
    return { before, text: (await third.done()).text, sent: [sent("messages"), sent("abort")] };
  });
  assert.deepEqual(seen, { before: ["cancelled", "queued", 1, 1], text: "done", sent: [2, 1] });
});

stubs("an abort while a newer message of the chat is under way waits for its end, also of another client's", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent } = scene();
    const one = client(), other = client();
    const turns = [];
    for (const [i, newer] of [one, other].entries()) {
      const older = await streaming({ came, sent }, one.chats.open(`c${i}`));
      const next = newer.chats.open(`c${i}`).send("newer");
      const message = await came("messages", 2 * i + 2);
      const aborted = older.abort();
      await idle();
      const before = sent("abort");
      whole(message);
      const { status } = await next.done();
      accept(await came("abort", i + 1));
      await aborted;
      turns.push([before, older.status, status, sent("abort")]);
    }
    return turns;
  });
  assert.deepEqual(seen, [[0, "cancelled", "completed", 1], [1, "cancelled", "completed", 2]]);
});

stubs("turns of a chat that are aborted together share one abort", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent } = scene();
    const chat = client().chats.open("c1");
    const turns = [await streaming({ came, sent }, chat), chat.send("newer")];
    await came("messages", 2);
    const aborted = Promise.all(turns.map((turn) => turn.abort()));
    accept(await came("abort", 1));
    await aborted;
    return [...turns.map(({ status }) => status), sent("abort")];
  });
  assert.deepEqual(seen, ["cancelled", "cancelled", 1]);
});

stubs("an abort that another turn holds back for longer than timeout is told to have failed", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { client, came, sent } = scene();
    const chat = client({ timeout: 1_000 }).chats.open("c1");
    const older = await streaming({ came, sent }, chat);
    const newer = await streaming({ came, sent }, chat);
    const error = await lab.refusal(() => older.abort());
    const before = [older.status, newer.status, sent("abort")];
    newer.disconnect();
    return { error, before };
  });
  assert.deepEqual([seen.error?.name, seen.error?.code, ...seen.before], ["AgentError", "another_turn_under_way", "cancelled", "streaming", 0]);
});
