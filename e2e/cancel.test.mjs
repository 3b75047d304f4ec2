// Cancelling and letting go, as the service sees them: what was sent, how its turn ended, and which tools ran.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "5ms"] });

/** A message of several tools, and a pace at which they take three seconds: a busy machine is late to abort. */
const tools = ["1+1, 2+2, 3+3, 4+4, 5+5, 6+6, 7+7 and 8+8", { headers: { "X-Fault": "pace_ms=40" } }];

check("abort() stops the tools at the service", async ({ page, service }) => {
  const chat = await page.evaluate(async (tools) => {
    const turn = (await lab.chat()).send(...tools);
    await new Promise((resolve) => turn.on("tool_result", resolve));
    await turn.abort();
    return turn.chatId;
  }, tools);
  // abort() resolves with the service's answer, and by then nothing runs any more.
  const started = service.log.filter((record) => record.msg === "tool started").length;
  const record = await service.over(chat);
  assert.equal(record.status, "cancelled");
  assert.equal(record.aborts, 1);
  assert.ok(record.tools.length >= 1 && record.tools.length < 8, `${record.tools.length} of 8 tools ran`);
  assert.equal(service.log.filter((record) => record.msg === "tool started").length, started);
});

for (const [how, leave] of Object.entries({
  "closing the tab": (page) => page.close({ runBeforeUnload: true }),
  "going to another page": (page) => page.goto("about:blank"),
  "reloading the page": (page) => page.reload(),
})) {
  check(`${how} stops the turn at the service`, async ({ page, service }) => {
    const chat = await page.evaluate(async (tools) => {
      const turn = (await lab.chat()).send(...tools);
      await new Promise((resolve) => turn.on("tool_call_started", resolve));
      return turn.chatId;
    }, tools);
    await leave(page);
    const record = await service.over(chat);
    assert.equal(record.status, "cancelled");
    assert.equal(record.aborts, 1);
    assert.ok(record.tools.length < 8, `${record.tools.length} of 8 tools ran`);
  });
}

check("with pageHide disconnect, closing the tab leaves the turn to the service", async ({ page, service }) => {
  const chat = await page.evaluate(async () => {
    const turn = (await lab.chat({ pageHide: "disconnect" })).send("1+1, 2+2, 3+3");
    await new Promise((resolve) => turn.on("tool_call_started", resolve));
    return turn.chatId;
  });
  await page.close({ runBeforeUnload: true });
  const record = await service.over(chat);
  assert.deepEqual([record.status, record.aborts, record.tools.length], ["completed", 0, 3]);
});

check("disconnect() sends nothing, and the service goes on to the end", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 40");
    turn.on("text_delta", () => turn.disconnect());
    const seen = await lab.follow(turn);
    await turn.abort();
    return seen;
  });
  assert.equal(seen.status, "interrupted");
  assert.equal(seen.text, "1");
  assert.equal(seen.error.name, "ConnectionError");
  assert.equal(seen.error.code, "disconnected");
  assert.equal(seen.error.partial.text, "1");
  const record = await service.over(seen.chat);
  assert.equal(record.status, "completed");
  assert.equal((await service.requests()).aborts, before.aborts, "neither disconnect() nor a later abort() sent anything");
});

check("leaving a for await loop early aborts", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 100000");
    const taken = [];
    for await (const event of turn) {
      taken.push(event.type);
      if (event.type === "text_delta") break;
    }
    return { chat: turn.chatId, status: turn.status, taken, done: (await turn.done()).status };
  });
  assert.equal(seen.status, "cancelled");
  assert.equal(seen.done, "cancelled");
  assert.equal(seen.taken.filter((type) => type === "text_delta").length, 1);
  const record = await service.over(seen.chat);
  assert.equal(record.status, "cancelled");
  assert.equal(record.aborts, 1);
});

check("throwing in a for await loop aborts, and the error is the page's own", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 100000");
    const error = await lab.refusal(async () => {
      for await (const event of turn) if (event.type === "text_delta") throw new RangeError("enough");
    });
    return { chat: turn.chatId, status: turn.status, error };
  });
  assert.equal(seen.status, "cancelled");
  assert.deepEqual([seen.error.name, seen.error.message], ["RangeError", "enough"]);
  assert.equal((await service.over(seen.chat)).status, "cancelled");
});

check("cancelling a textStream aborts", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 100000");
    const reader = turn.textStream().getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return { chat: turn.chatId, value, status: turn.status };
  });
  assert.deepEqual([seen.value, seen.status], ["1", "cancelled"]);
  assert.equal((await service.over(seen.chat)).status, "cancelled");
});

check("a signal that is aborted already sends nothing at all", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const signal = AbortSignal.abort(new Error("no longer wanted"));
    const turn = client.chats.open("chat_any").send("hello", { signal });
    const early = turn.status;
    const seen = await lab.follow(turn);
    const create = await lab.refusal(() => client.chats.create({}, { signal }));
    const abort = await lab.refusal(() => client.chats.open("chat_any").abort({ signal }));
    return { ...seen, early, create, abort };
  });
  assert.equal(seen.early, "cancelled");
  assert.equal(seen.status, "cancelled");
  assert.deepEqual(seen.end, { status: "cancelled", same: true });
  assert.deepEqual([seen.result.status, seen.result.text, seen.taken], ["cancelled", "", []]);
  assert.equal(seen.create.message, "no longer wanted");
  assert.equal(seen.abort.message, "no longer wanted");
  assert.deepEqual(await service.requests(), before);
});

check("aborting a turn before the module is loaded sends nothing", async ({ page, service }) => {
  const before = await service.requests();
  const status = await page.evaluate(async () => {
    const client = lab.client();
    const turn = client.chats.open("chat_any").send("hello");
    await turn.abort();
    await client.ready();
    return (await turn.done()).status;
  });
  assert.equal(status, "cancelled");
  assert.deepEqual(await service.requests(), before);
});

check("aborting twice sends one request", async ({ page, service }) => {
  const chat = await page.evaluate(async () => {
    const cancel = new AbortController();
    const turn = (await lab.chat()).send("count to 100000", { signal: cancel.signal });
    await new Promise((resolve) => turn.on("text_delta", resolve));
    const all = [turn.abort(), turn.abort()];
    cancel.abort();
    await Promise.all(all);
    await turn.abort();
    return turn.chatId;
  });
  assert.equal((await service.over(chat)).aborts, 1);
});

check("an abort that the service refuses rejects, and the turn is cancelled all the same", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 30", lab.fault("on=abort&status=403"));
    await new Promise((resolve) => turn.on("text_delta", resolve));
    const error = await lab.refusal(() => turn.abort());
    return { chat: turn.chatId, error, status: turn.status, done: (await turn.done()).status };
  });
  assert.deepEqual([seen.error.name, seen.error.status, seen.error.code], ["AuthenticationError", 403, "fault"]);
  assert.deepEqual([seen.status, seen.done], ["cancelled", "cancelled"]);
  assert.equal((await service.over(seen.chat)).status, "completed");
});

check("chat.abort() stops the turn of another page", async ({ page, service, browser, home }) => {
  const chat = await page.evaluate(async () => {
    const chat = await lab.chat();
    globalThis.seen = lab.follow(chat.send("count to 100000"));
    return chat.id;
  });
  await service.logged({ msg: "turn started", chat });
  const other = await browser.open(home);
  await other.evaluate((chat) => lab.client().chats.open(chat).abort(), chat);
  // The stream of the first page closes without turn_complete, and nobody cancelled there.
  const seen = await page.evaluate(() => seen);
  assert.deepEqual([seen.status, seen.error.code], ["interrupted", "stream_closed"]);
  assert.equal((await service.over(chat)).status, "cancelled");
  assert.deepEqual(other.uncaught, []);
  await other.browserContext().close();
});

check("a cancelled turn shows nothing more", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 100000", lab.fault("slow_chunks_ms=0"));
    const after = [];
    let cancelled = false;
    for (const type of ["event", "update", "text_delta"]) turn.on(type, () => cancelled && after.push(type));
    await new Promise((resolve) => turn.on("text_delta", () => {
      cancelled = true;
      resolve(turn.abort());
    }));
    const { text } = turn;
    await turn.done();
    // Another turn's worth of network time, in which a stream not let go would go on.
    await (await lab.chat()).send("count to 20").done();
    return { after, text, later: turn.text };
  });
  assert.equal(seen.later, seen.text);
  // The event at which it was cancelled is still told to the other listeners, and then its update.
  assert.deepEqual(seen.after, ["event", "update"]);
});

check("close() disconnects, and later calls reject", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const chat = await client.chats.create();
    // At a pace that leaves much of it to come, however late a busy machine reads its beginning.
    const turn = chat.send("count to 40", lab.fault("pace_ms=50"));
    await new Promise((resolve) => turn.on("text_delta", resolve));
    const slow = lab.refusal(() => client.chats.create({}, lab.fault("delay_ms=600000")));
    const followed = lab.follow(turn);
    client.close();
    client.close();
    return {
      ...(await followed),
      slow: await slow,
      create: await lab.refusal(() => client.chats.create()),
      abort: await lab.refusal(() => chat.abort()),
      ready: await lab.refusal(() => client.ready()),
      open: await lab.refusal(() => client.chats.open("chat_any")),
      send: await lab.refusal(() => chat.send("hello")),
    };
  });
  assert.deepEqual([seen.status, seen.error.name, seen.error.code], ["interrupted", "ConnectionError", "disconnected"]);
  for (const call of ["slow", "create", "abort", "ready", "open", "send"]) {
    assert.deepEqual([call, seen[call]?.name, seen[call]?.code], [call, "AgentError", "client_closed"]);
  }
  const record = await service.over(seen.chat);
  assert.deepEqual([record.status, record.aborts], ["completed", 0]);
});

check("close() of one client leaves another alone", async ({ page }) => {
  const status = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 20");
    const other = lab.client();
    await other.ready();
    other.close();
    return (await turn.done()).status;
  });
  assert.equal(status, "completed");
});
