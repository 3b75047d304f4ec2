// A crash of the module at every place where JavaScript calls it: a panic, memory that can't grow, a trap. All that waits
// rejects, nothing is lost that was received, and the page goes on as if it had been loaded anew.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { hooked, testModule } from "./support/test-module.mjs";

const moduleOptions = testModule();
const check = testbed({ flags: ["-pace", "2ms"], before: hooked });

/** Ten turns and one call of each other kind under way, in the page as `scene`; no test leaves any of them waiting. */
async function setScene(page) {
  await page.evaluate(async (module) => {
    const { Stub, text, frame } = await import("/stub.js");
    await lab.Turnwire.init(module);
    // Chats of these names are answered by the test alone.
    const stub = new Stub({
      messages: (request) => request.chat !== "silent" && (request.chat === "refusing" ? request.fail() : request.open()),
      abort: (request) => request.chat === "waiting" || request.respond(new Response(null, { status: 204 })),
    });
    const client = lab.client({ fetch: stub.fetch });
    const chats = Array.from({ length: 10 }, (_, i) => client.chats.open(`chat_${i}`));
    const turns = chats.map((chat) => chat.send("hello"));
    while (stub.of("messages").length < 10) await new Promise(requestAnimationFrame);
    const streams = stub.of("messages");
    await Promise.all(turns.map((turn, i) => new Promise((resolve) => {
      turn.on("tool_call", resolve);
      streams[i].push(text(`answer ${i}, größer 🚀`), frame("tool_call", { id: `call_${i}`, name: "clock", arguments: { i } }));
    })));
    stub.handlers.chats = () => {};
    const waiting = client.chats.create();
    const abort = client.chats.open("waiting").abort();
    while (stub.of("abort").length < 1 || stub.of("chats").length < 1) await new Promise(requestAnimationFrame);
    globalThis.scene = { stub, text, frame, client, chats, turns, streams, pending: [lab.refusal(() => waiting), lab.refusal(() => abort)] };
  }, moduleOptions());
}

/** What the page does to bring the module to a point. */
const points = {
  feed: () => scene.streams[3].push(scene.text("more")),
  flush: () => scene.streams[3].push(scene.frame("turn_complete", {})),
  tools: () => void scene.turns[3].toolCalls,
  release: () => scene.streams[3].push(scene.frame("turn_complete", {})),
  hold: () => {
    // Nobody reads this one: past 8 MiB the loader stops reading too.
    const turn = scene.client.chats.open("unread").send("hello");
    scene.unread = turn;
    scene.stub.handlers.messages = (request) => request.open().push(...Array(10).fill(scene.text("x".repeat(1 << 20))));
  },
  openClient: () => scene.more(lab.client({ fetch: scene.stub.fetch }).chats.create()),
  closeClient: () => scene.other.close(),
  createChat: () => scene.more(scene.client.chats.create()),
  abortChat: () => scene.more(scene.chats[3].abort()),
  cancelCall: () => scene.cancel.abort(),
  startTurn: () => scene.more(scene.client.chats.open("new").send("hello").done()),
  abortTurn: () => scene.more(scene.turns[3].abort()),
  disconnectTurn: () => scene.turns[3].disconnect(),
  streamEnded: () => scene.streams[3].close(),
  wentOnline: () => dispatchEvent(new Event("online")),
  answered: () => scene.more(scene.chats[3].abort()),
  requestFailed: () => scene.more(scene.client.chats.open("refusing").send("hello").done()),
  timerFired: () => scene.more(scene.client.chats.open("silent").send("hello", { timeout: 20 }).done()),
};

/** Crashes at the point, and tells how each thing under way ended and whether the page works again. */
async function crash(page, point, how) {
  await setScene(page);
  await page.evaluate(`globalThis.act = ${points[point]}`);
  return page.evaluate(async (point, how) => {
    const { turns, client, chats, stub } = scene;
    if (point === "closeClient") {
      scene.other = lab.client({ fetch: stub.fetch });
      await scene.other.ready();
      scene.other.chats.open("other").send("hello").abort().catch(() => {});
    }
    if (point === "cancelCall") {
      scene.cancel = new AbortController();
      const call = client.chats.create({}, { signal: scene.cancel.signal });
      scene.cancelled = lab.refusal(() => call);
      while (stub.of("chats").length < 2) await new Promise(requestAnimationFrame);
    }
    scene.more = (promise) => scene.pending.push(lab.refusal(() => promise));
    const ends = turns.map((turn) => new Promise((resolve) => turn.on("end", resolve)));
    if (how === "trap") globalThis.trap = true;
    else performance.turnwireCrash = how ? `${point}:${how}` : point;
    act();
    await Promise.all(ends);
    const asked = how === "trap" ? (globalThis.trap ? point : "") : performance.turnwireCrash;
    const errors = await Promise.all([...turns.map((turn) => lab.refusal(() => turn.done())), ...scene.pending]);
    const late = await Promise.all(turns.map((turn) => lab.refusal(() => turn.abort())));
    const seen = {
      asked,
      errors: errors.map((error) => (error ? [error.name, error.code, error.retryable] : [])),
      statuses: turns.map((turn) => turn.status),
      texts: turns.map((turn) => turn.text),
      tools: turns.map((turn) => turn.toolCalls.map((call) => call.id)),
      late: late.flatMap((error, i) => (error ? [i] : [])),
      open: stub.requests.filter((request) => !request.aborted && !request.ended && request.kind === "messages").length,
    };
    // The same objects go on.
    stub.handlers = { ...new stub.constructor().handlers, messages: (request) => request.open().push(scene.text("again"), scene.frame("turn_complete", {})) };
    seen.again = await Promise.all(chats.map(async (chat) => (await chat.send("hello").done()).text));
    seen.chat = (await client.chats.create()).id.startsWith("chat_");
    await chats[0].abort();
    client.close();
    return seen;
  }, point, how);
}

const texts = Array.from({ length: 10 }, (_, i) => `answer ${i}, größer 🚀`);

/** What each crash has to leave; `met` is whether turn 3 may have completed at the point. */
function judge(seen, met) {
  assert.equal(seen.asked, "", "the module reached the point");
  seen.errors.forEach((error, i) => {
    if (!(met && i === 3 && error.length === 0)) assert.deepEqual([i, ...error], [i, "RuntimeCrashError", "runtime_crashed", true]);
  });
  seen.statuses.forEach((status, i) => assert.ok(status === "interrupted" || (met && i === 3 && status === "completed"), `turn ${i} is ${status}`));
  assert.deepEqual(seen.texts.map((text, i) => (i === 3 ? text.slice(0, texts[3].length) : text)), texts);
  assert.equal(seen.open, 0, "no stream is left open");
  assert.deepEqual(seen.again, Array(10).fill("again"));
  assert.ok(seen.chat);
}

for (const point of Object.keys(points)) {
  check(`a panic in ${point}`, async ({ page }) => {
    const seen = await crash(page, point);
    judge(seen, ["flush", "release"].includes(point));
    assert.deepEqual(seen.tools, texts.map((_, i) => [`call_${i}`]));
    // A second abort() gives what the first one did.
    assert.deepEqual(seen.late, point === "abortTurn" ? [3] : []);
  });
}

for (const point of ["feed", "release", "openClient", "createChat", "wentOnline", "answered", "timerFired"]) {
  check(`out of memory in ${point}`, async ({ page }) => judge(await crash(page, point, "memory"), point === "release"));
}

for (const point of ["startTurn", "answered", "requestFailed"]) {
  check(`a trap in ${point}`, async ({ page }) => {
    const seen = await crash(page, point, "trap");
    judge(seen, false);
  });
}

check("calls that wait for the module outlive the crash of one of them", async ({ page }) => {
  const seen = await page.evaluate(async (module) => {
    const { Stub, text, frame } = await import("/stub.js");
    performance.turnwireCrash = "startTurn";
    lab.Turnwire.init(module);
    const stub = new Stub({ messages: (request) => request.open().push(text("hello"), frame("turn_complete", {})) });
    const client = lab.client({ fetch: stub.fetch });
    const turns = Array.from({ length: 10 }, (_, i) => client.chats.open(`chat_${i}`).send("hello"));
    const create = client.chats.create();
    const ends = await Promise.all(turns.map(async (turn) => (await lab.refusal(() => turn.done()))?.name ?? turn.text));
    return { ends, created: (await create).id !== "" };
  }, moduleOptions());
  assert.deepEqual(seen.ends, ["RuntimeCrashError", ...Array(9).fill("hello")]);
  assert.ok(seen.created);
});

for (const how of ["feed", "feed:memory"]) {
  check(`after a crash by ${how} the service can be reached again`, async ({ page }) => {
    const seen = await page.evaluate(async (module, how) => {
      await lab.Turnwire.init(module);
      const client = lab.client();
      const chats = await Promise.all(Array.from({ length: 12 }, () => client.chats.create()));
      const turn = chats[0].send("count to 100000");
      await new Promise((resolve) => turn.on("text_delta", resolve));
      const hung = chats.slice(2).map((chat) => chat.send("hello", lab.fault("delay_ms=600000")));
      performance.turnwireCrash = how;
      const errors = await Promise.all([turn, ...hung].map((turn) => lab.refusal(() => turn.done())));
      // A browser keeps six connections to a host; all of them hung until now.
      await chats[0].abort();
      return { errors: errors.map((error) => error?.name), text: turn.text, again: (await chats[1].send("count to 3").done()).text };
    }, moduleOptions(), how);
    assert.deepEqual(seen.errors, Array(11).fill("RuntimeCrashError"));
    assert.match(seen.text, /^1( |$)/);
    assert.equal(seen.again, "1 2 3");
  });
}
