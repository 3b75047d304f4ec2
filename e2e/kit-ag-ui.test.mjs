// The agent for AG-UI with the kit's own client, in a real page under StrictMode, against the reference service.

import assert from "node:assert/strict";
import { kitBed } from "./support/kits.mjs";

const check = await kitBed("ag-ui");

check("a turn is rendered with its reasoning, tools and text", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    kit.show({});
    const end = await kit.say("What is 17 × 23, and what time is it in Asia/Tokyo?", "m1");
    await kit.until(() => /391/.test(kit.texts("assistant").at(-1)));
    return { end, reasoning: kit.texts("reasoning"), tools: kit.texts("tool"), assistant: kit.texts("assistant") };
  });
  assert.equal(seen.end, "success");
  assert.match(seen.reasoning[0], /^This is message 1/);
  assert.deepEqual(seen.assistant.slice(0, -1).map((text) => text.split(" ")[0]).sort(), ["calculator", "clock"]);
  assert.equal(seen.tools.length, 2);
  assert.match(seen.tools[0], /391/);
  assert.match(seen.assistant.at(-1), /\*\*391\*\*/);
  const turn = await service.newest();
  assert.deepEqual([turn.status, turn.idempotency_key], ["completed", "m1"]);
});

check("abortRun stops the service", async ({ page, service }) => {
  await page.evaluate(async () => {
    kit.show({});
    kit.run = kit.say("count to 100000", "m1");
    await kit.until(() => kit.texts("assistant").some((text) => text.startsWith("1 2 3")));
  });
  await page.click("#stop");
  assert.equal(await page.evaluate(() => kit.run), "cancelled");
  const turn = await service.over((await service.newest()).chat_id);
  assert.deepEqual([turn.status, turn.aborts], ["cancelled", 1]);
});

for (const [fault, code] of [["cut_events=6", "stream_broken"], ["close_events=6", "stream_closed"]]) {
  check(`an answer that breaks off is an error of the run, and never finished: ${fault}; run again, it is the replay of the same turn`, async ({ page, service }) => {
    const seen = await page.evaluate(async (fault) => {
      kit.show({ send: { headers: { "X-Fault": `times=1&${fault}` } } });
      const first = await kit.say("count to 9", fault);
      const types = kit.events.map(({ type }) => type);
      // The kit keeps what had come; the message is to be the newest again.
      kit.agent.setMessages(kit.agent.messages.slice(0, 1));
      const second = await kit.say("count to 9", fault);
      await kit.until(() => kit.texts("assistant").at(-1) === "1 2 3 4 5 6 7 8 9");
      return { first, second, types };
    }, fault);
    assert.deepEqual([seen.first, seen.second], [code, "success"]);
    assert.deepEqual([seen.types.at(-1), seen.types.includes("RUN_FINISHED")], ["RUN_ERROR", false]);
    assert.equal((await service.newest()).requests, 2);
  });
}

check("the service's error and its refusal are errors of the run", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const ends = [];
    for (const fault of ["error_events=4", "status=403"]) {
      kit.show({ send: { headers: { "X-Fault": fault } } });
      ends.push(await kit.say("count to 9", "m1"));
    }
    return ends;
  });
  assert.deepEqual(seen, ["model_overloaded", "fault"]);
});

for (const [pageHide, status, aborts] of [["abort", "cancelled", 1], ["disconnect", "completed", 0]]) {
  check(`a component that goes away and detaches its run, pageHide "${pageHide}": the turn is ${status} at the service`, async ({ page, service }) => {
    await page.evaluate(async (pageHide) => {
      kit.show({ client: kit.client({ pageHide }) });
      void kit.say("count to 500", "m1");
      await kit.until(() => kit.texts("assistant").length > 0);
      kit.show();
      await kit.detached;
    }, pageHide);
    const turn = await service.over((await service.newest()).chat_id);
    assert.deepEqual([turn.status, turn.aborts], [status, aborts]);
  });
}

check("two runs are two operations of one chat", async ({ page, service }) => {
  const { chats, messages } = await service.requests();
  const ends = await page.evaluate(async () => {
    kit.show({});
    return [await kit.say("count to 3", "m1"), await kit.say("count to 4", "m2")];
  });
  assert.deepEqual(ends, ["success", "success"]);
  const now = await service.requests();
  assert.deepEqual([now.chats - chats, now.messages - messages], [1, 2]);
});

check("at most one render a frame, however fast the stream is", async ({ page }) => {
  const { events, frames, text } = await page.evaluate(async () => {
    let events = 0;
    kit.show({ send: { headers: { "X-Fault": "pace_ms=1" }, onEvent: () => events++ } });
    await kit.say("count to 500", "m1");
    return { events, frames: kit.frames, text: kit.agent.messages.at(-1).content };
  });
  assert.match(text, / 500$/);
  assert.ok(frames.length > 1 && events > frames.length, `${events} events, ${frames.length} renders`);
  assert.deepEqual(frames, [...new Set(frames)], "renders of one frame");
});
