// A turn as it comes: its events, its state as of each of them, and the ways to follow it.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { engine } from "./support/engines.mjs";

const check = testbed({ flags: ["-pace", "2ms"] });

const both = "What is 17 × 23, and what time is it in Asia/Tokyo?";

check("the first words are there before the turn is over", async ({ page, service }) => {
  // The service says nothing after the sixth event, so that nothing but the first words can have come.
  const seen = await page.evaluate(async (fault) => {
    const turn = (await lab.chat()).send("count to 100000", fault);
    const steps = [turn.status];
    turn.on("text_delta", (event) => steps.push([event.data.chunk, turn.text, turn.status]));
    turn.on("end", () => steps.push("end"));
    await new Promise((resolve) => turn.on("update", () => turn.text === "1 2 3" && resolve()));
    steps.push(turn.status);
    await turn.abort();
    await turn.done();
    return { chat: turn.chatId, steps };
  }, { headers: { "X-Fault": "stall_events=6" } });
  assert.deepEqual(seen.steps, [
    "queued", ["1", "1", "streaming"], [" 2", "1 2", "streaming"], [" 3", "1 2 3", "streaming"], "streaming", "end",
  ]);
  assert.equal((await service.over(seen.chat)).status, "cancelled");
});

/** What a turn's tool calls must be after each of its events, worked out from the events alone. */
function toolCallsAfterEach(events) {
  const calls = new Map();
  return events.map(({ type, data }) => {
    const id = data.tool_call_id;
    if (type === "tool_call_started") calls.set(id, { id, name: data.name, status: "building", argumentsText: "", matchedBy: "id" });
    if (type === "tool_call_delta") calls.set(id, { ...calls.get(id), argumentsText: calls.get(id).argumentsText + data.delta });
    if (type === "tool_call") calls.set(id, { ...calls.get(id), status: "running", arguments: data.arguments });
    if (type === "tool_result") calls.set(id, { ...calls.get(id), status: "finished", result: data.result });
    return [...calls.values()];
  });
}

const concat = (events, type) => events.filter((event) => event.type === type).map((event) => event.data.chunk).join("");

for (const transport of ["", "encoding=event", "no_ids=1", "byte_by_byte=1", "one_chunk=1", "slow_chunks_ms=1", "encoding=event&one_chunk=1", "encoding=event&byte_by_byte=1"]) {
  check(`every event finds the turn's state as of itself: ${transport || "as the service sends it"}`, async ({ page }) => {
    const { events, states, seen } = await page.evaluate(async (message, transport) => {
      const turn = (await lab.chat()).send(message, { ...(transport && lab.fault(transport)), onEvent: (event) => events.push(event) });
      const events = [], states = [];
      turn.on("event", () => states.push({ text: turn.text, reasoning: turn.reasoning, toolCalls: structuredClone(turn.toolCalls) }));
      return { events, states, seen: await lab.follow(turn) };
    }, both, transport);

    const kinds = ["reasoning_delta", "text_delta", "tool_call", "tool_call_delta", "tool_call_started", "tool_result", "turn_complete"];
    assert.deepEqual([...new Set(events.map((event) => event.type))].sort(), kinds);
    assert.deepEqual(seen.heard, events, "listeners and onEvent");
    assert.deepEqual(seen.taken, events, "the loop and onEvent");
    const toolCalls = toolCallsAfterEach(events);
    assert.equal(toolCalls.at(-1).length, 2);
    states.forEach((state, i) => {
      const until = events.slice(0, i + 1);
      assert.equal(state.text, concat(until, "text_delta"), `text at event ${i + 1}`);
      assert.equal(state.reasoning, concat(until, "reasoning_delta"), `reasoning at event ${i + 1}`);
      assert.deepEqual(state.toolCalls, toolCalls[i], `tool calls at event ${i + 1}`);
    });
    const statuses = new Set(states.map((state) => state.toolCalls.map((call) => call.status).join(" ")));
    assert.deepEqual([...statuses], ["", "building", "building building", "running building", "running running", "running finished", "finished finished"]);
    assert.equal(seen.status, "completed");
    assert.match(seen.text, /\*\*391\*\*/);
    assert.equal(events.every((event, i) => event.id === (transport.includes("no_ids") ? undefined : String(i + 1))), true, "ids");
  });
}

check("the eighth kind is the error event", async ({ page }) => {
  const seen = await page.evaluate(async () => lab.follow((await lab.chat()).send("count to 9", lab.fault("error_events=4"))));
  assert.deepEqual(seen.taken.map((event) => event.type), ["reasoning_delta", "reasoning_delta", "reasoning_delta", "text_delta", "error"]);
  assert.equal(seen.taken.at(-1).data.code, "model_overloaded");
});

check("long texts in several scripts come whole, however they are cut", async ({ page }) => {
  // WebKitGTK's network takes more than a millisecond for each chunk of HTTP, and here are as many as bytes.
  const words = engine === "webkit" ? 60 : 800;
  const texts = await page.evaluate(async (words) => {
    const chats = await Promise.all([1, 2, 3, 4].map(() => lab.chat()));
    const faults = ["pace_ms=0", "pace_ms=0&byte_by_byte=1", "pace_ms=0&slow_chunks_ms=0", "pace_ms=0&one_chunk=1"];
    return Promise.all(chats.map(async (chat, i) => {
      const seen = await lab.follow(chat.send(`write ${words} words`, lab.fault(faults[i])), "text");
      return [seen.text, seen.taken.join(""), seen.result.text];
    }));
  }, words);
  const [[text]] = texts;
  assert.equal(text.split(/\s+/).length, words);
  assert.ok(text.isWellFormed() && !text.includes("\uFFFD"));
  for (const each of texts.flat()) assert.equal(each, text);
});

check("update comes once a network chunk, after its events", async ({ page }) => {
  const { chunks, steps, text } = await page.evaluate(async () => {
    // Those that end an event: a network may cut one in two.
    let chunks = 0;
    const counted = async (url, init) => {
      const response = await fetch(url, init);
      let all = "";
      const body = response.body.pipeThrough(new TransformStream({
        transform(chunk, controller) {
          const before = all.split("\n\n").length;
          all += String.fromCharCode(...chunk);
          if (all.split("\n\n").length > before) chunks++;
          controller.enqueue(chunk);
        },
      }));
      return new Response(body, response);
    };
    const chat = await lab.chat({ fetch: counted });
    chunks = 0;
    const turn = chat.send("count to 60");
    const steps = [];
    turn.on("event", (event) => steps.push(event.type));
    turn.on("update", (updated) => steps.push(updated === turn ? "update" : "another turn"));
    const { text } = await turn.done();
    return { chunks, steps, text };
  });
  assert.match(text, / 60$/);
  assert.equal(steps.filter((step) => step === "update").length, chunks);
  assert.equal(steps.some((step, i) => step === "update" && steps[i + 1] === "update"), false, "an update without events");
  assert.equal(steps.at(-1), "update");
});

check("a listener that throws is reported and harms nothing else", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const fail = (what) => () => {
      throw new RangeError(`thrown by ${what}`);
    };
    const chat = await lab.chat({ onLog: (record) => record.message === "turn ended" && fail("onLog")() });
    const turn = chat.send("count to 3", { onEvent: (event) => event.type === "turn_complete" && fail("onEvent")() });
    for (const type of ["turn_complete", "end"]) turn.on(type, fail(type));
    let updates = 0;
    turn.on("update", () => updates++ === 0 && fail("update")());
    return lab.follow(turn);
  });
  assert.deepEqual([seen.status, seen.text, seen.taken.length], ["completed", "1 2 3", seen.heard.length]);
  const uncaught = page.uncaught.splice(0).map((message) => /thrown by (\w+)/.exec(message)?.[1] ?? message);
  assert.deepEqual(uncaught.sort(), ["end", "onEvent", "onLog", "turn_complete", "update"]);
});

check("off() ends a listener, also from inside it", async ({ page }) => {
  const heard = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 9");
    const heard = [];
    const once = (event) => {
      heard.push(event.data.chunk);
      turn.off("text_delta", once);
    };
    turn.on("text_delta", once).on("text_delta", once);
    turn.off("text_delta", () => {}).off("no_such_type", once);
    await turn.done();
    return heard;
  });
  assert.deepEqual(heard, ["1"]);
});

check("an iteration started late begins with the first event", async ({ page }) => {
  const { late, text, heard } = await page.evaluate(async () => {
    const chat = await lab.chat();
    const turn = chat.send("count to 20");
    const heard = [], late = [], text = [];
    turn.on("event", (event) => heard.push(event));
    await turn.done();
    for await (const event of turn) late.push(event);
    const again = chat.send("count to 20");
    await new Promise((resolve) => again.on("turn_complete", resolve));
    for await (const chunk of lab.chunks(again.textStream())) text.push(chunk);
    return { late, text, heard };
  });
  assert.deepEqual(late, heard);
  assert.equal(text.join(""), concat(heard, "text_delta"));
});

check("an error is told to a late iteration, after all events", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 20", lab.fault("close_events=5"));
    const done = await lab.refusal(() => turn.done());
    const taken = [];
    const error = await lab.refusal(async () => {
      for await (const event of turn) taken.push(event.type);
    });
    return { done, error, taken };
  });
  assert.equal(seen.taken.length, 5);
  assert.deepEqual(seen.error, seen.done);
  assert.equal(seen.error.code, "stream_closed");
});

check("a turn that nobody waits for fails without an unhandled rejection", async ({ page, service }) => {
  const chat = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 20", lab.fault("close_events=5"));
    await new Promise((resolve) => turn.on("end", resolve));
    return turn.chatId;
  });
  await service.over(chat);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
});

check("a second iteration is refused", async ({ page }) => {
  const refused = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 3");
    const stream = turn.textStream();
    const refused = [await lab.refusal(() => turn.textStream()), await lab.refusal(() => turn[Symbol.asyncIterator]())];
    for await (const chunk of lab.chunks(stream)) void chunk;
    return [...refused, await lab.refusal(() => turn.textStream())];
  });
  for (const error of refused) assert.deepEqual([error.name, error.code], ["InvalidArgumentError", "already_iterated"]);
});

check("several calls of next() at once get one event each, in order", async ({ page }) => {
  const { types, heard, last } = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 3");
    const heard = [];
    turn.on("event", (event) => heard.push(event.type));
    const events = turn[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 12 }, () => events.next()));
    return { types: results.filter(({ done }) => !done).map(({ value }) => value.type), heard, last: results.at(-1).done };
  });
  assert.deepEqual(types, heard);
  assert.equal(last, true);
});

check("turns of several chats and clients go on at once, and in each other's way nowhere", async ({ page }) => {
  const { order, texts } = await page.evaluate(async () => {
    const one = lab.client(), other = lab.client();
    const chats = await Promise.all([one, one, other, other].map((client) => client.chats.create()));
    const order = [];
    const turns = chats.map((chat, i) => chat.send(`count to ${400 + i}`).on("text_delta", () => order.push(i)));
    return { order, texts: await Promise.all(turns.map(async (turn) => (await turn.done()).text)) };
  });
  texts.forEach((text, i) => assert.match(text, new RegExp(`^1 2 .* ${400 + i}$`)));
  const firstEnd = Math.min(...[0, 1, 2, 3].map((i) => order.lastIndexOf(i)));
  assert.deepEqual([...new Set(order.slice(0, firstEnd))].sort(), [0, 1, 2, 3], "all began before the first one ended");
});

check("messages of one chat follow each other, and it remembers them", async ({ page }) => {
  const texts = await page.evaluate(async () => {
    const chat = await lab.chat();
    const texts = [];
    for (const message of ["good morning", "2 + 2", "good night"]) texts.push((await chat.send(message).done()).text);
    return texts;
  });
  assert.match(texts[1], /\*\*4\*\*[^]*message 2 of this chat/);
  assert.match(texts[2], /message \*\*3\*\*[^]*2 \\\+ 2/);
});
