// The agent for AG-UI: what it makes of any answer, by the kit's own verifier, and what it sends. In a page: e2e/kit-ag-ui.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { enforceEvents, verifyEvents } from "@ag-ui/client";
import { lastValueFrom, toArray } from "rxjs";
import { seedFor } from "../../e2e/support/seed.mjs";
import { TurnwireAgent } from "../src/doors/ag-ui.ts";
import { answerOf, clientWith, inPage, streamOf } from "./doors.mjs";

const user = (content, id = "m1") => ({ id, role: "user", content });
const input = (messages, more) => ({ threadId: "t1", runId: "run1", messages, tools: [], context: [], state: {}, ...more });

/** The events of a run, held to the protocol by the kit: their form, and their order. */
const run = (agent, input) => lastValueFrom(agent.run(input).pipe(enforceEvents(), verifyEvents(), toArray()));

const join = (events, type) => events.filter((event) => event.type === type).map(({ delta }) => delta).join("");

async function act(seed) {
  const { how, pieces, texts, abortAt } = answerOf(seed);
  const { client, requests } = clientWith(({ signal }) => {
    if (how === "refused") return new Response("{}", { status: 400 });
    return streamOf(pieces, how, signal, (at) => how === "abort" && at === abortAt && agent.abortRun());
  });
  const agent = new TurnwireAgent({ client });
  const events = await run(agent, input([user("hello")]));
  const [first, last] = [events[0], events.at(-1)];
  assert.deepEqual(first, { type: "RUN_STARTED", threadId: "t1", runId: "run1" });
  const ends = { complete: "success", error: "overloaded", closed: "stream_closed", broken: "stream_broken", abort: "cancelled", refused: "bad_request" };
  assert.equal(last.outcome?.type ?? last.code, ends[how]);
  assert.equal(events.filter(({ type }) => /^RUN_(FINISHED|ERROR)$/.test(type)).length, 1, "one end");
  for (const [start, end] of [["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"], ["REASONING_START", "REASONING_END"], ["REASONING_MESSAGE_START", "REASONING_MESSAGE_END"], ["TOOL_CALL_START", "TOOL_CALL_END"]]) {
    const ids = (wanted) => events.filter(({ type }) => type === wanted).map(({ messageId, toolCallId }) => messageId ?? toolCallId).sort();
    assert.deepEqual(ids(start), ids(end), start);
    assert.equal(new Set(ids(start)).size, ids(start).length, `${start} twice`);
  }
  assert.equal(requests.filter(({ path }) => path.endsWith("/abort")).length <= (how === "abort" ? 1 : 0), true);
  const told = [join(events, "TEXT_MESSAGE_CONTENT"), join(events, "REASONING_MESSAGE_CONTENT")];
  if (how === "complete" || how === "error" || how === "closed") assert.deepEqual(told, [texts.text, texts.reasoning]);
  else assert.ok(texts.text.startsWith(told[0]) && texts.reasoning.startsWith(told[1]));
}

test("every answer is a run that the kit's verifier accepts, with one end", { timeout: 120_000 }, async (t) => {
  const from = seedFor(t);
  for (let seed = from; seed < from + 1_000; seed++) await (seed % 2 ? inPage(() => act(seed)) : act(seed)).catch((error) => assert.fail(`seed ${seed}: ${error.stack}`));
});

const pieces = [
  [{ type: "reasoning_delta", data: { chunk: "I need a tool." } }],
  [{ type: "text_delta", data: { chunk: "Let me see" } }, { type: "tool_call_started", data: { tool_call_id: "c", name: "search" } }],
  [{ type: "tool_call", data: { tool_call_id: "c", arguments: { q: "x" } } }, { type: "tool_result", data: { tool_call_id: "c", result: { hits: 0 } } }],
  [{ type: "text_delta", data: { chunk: "Nothing." } }, { type: "turn_complete", data: {} }],
];

test("the kit's runAgent makes messages of it, and a second run others", async () => {
  const { client, requests } = clientWith(({ signal }) => streamOf(pieces, "closed", signal));
  const agent = new TurnwireAgent({ client, threadId: "t1" });
  const seen = [];
  for (const id of ["m1", "m2"]) {
    agent.addMessage(user("hello", id));
    const { newMessages } = await agent.runAgent();
    seen.push(newMessages.map(({ role, content, toolCalls }) => [role, content, toolCalls?.map((call) => call.function)].filter(Boolean)));
  }
  const answer = [
    ["reasoning", "I need a tool."], ["assistant", "Let me see"], ["assistant", [{ name: "search", arguments: '{"q":"x"}' }]],
    ["tool", '{"hits":0}'], ["assistant", "Nothing."],
  ];
  assert.deepEqual(seen, [answer, answer]);
  assert.equal(new Set(agent.messages.map(({ id }) => id)).size, agent.messages.length);
  assert.deepEqual(requests.map(({ path, key, body }) => [path.split("/").at(-1), key, body.parts?.length]), [["chats", undefined, undefined], ["messages", "m1", 1], ["messages", "m2", 1]]);
});

test("what the service has no way to do is an error of the run, and nothing is sent", async () => {
  const { client, requests } = clientWith(() => assert.fail("a message was sent"));
  const agent = new TurnwireAgent({ client });
  const refusals = [
    [/must be the user's/, input([user("one"), { id: "a", role: "tool", content: "", toolCallId: "c" }])],
    [/must be the user's/, input([])],
    [/of the type "image"/, input([user([{ type: "image", source: { type: "url", value: "https://example.org/a.png" } }])])],
    [/could be resumed/, input([user("one")], { resume: [{ interruptId: "i", status: "resolved" }] })],
  ];
  for (const [message, asked] of refusals) {
    const events = await run(agent, asked);
    assert.deepEqual(events.map(({ type }) => type), ["RUN_STARTED", "RUN_ERROR"]);
    assert.match(events[1].message, message);
  }
  assert.deepEqual(requests, []);
});

for (const [pageHide, asked] of [["abort", ["messages", "abort"]], ["disconnect", ["messages"]]]) {
  test(`who leaves a run, pageHide "${pageHide}"`, async () => {
    let signal;
    const { client, requests } = clientWith((request) => streamOf(pieces.slice(0, 1), "silent", ({ signal } = request).signal), { pageHide });
    const agent = new TurnwireAgent({ client, openChat: (id) => client.chats.open(id) });
    await new Promise((resolve) => {
      const subscription = agent.run(input([user("hello")])).subscribe(({ type }) => {
        if (type !== "REASONING_MESSAGE_CONTENT") return;
        setImmediate(() => resolve(subscription.unsubscribe()));
      });
    });
    assert.equal(signal.aborted, true);
    assert.deepEqual(requests.map(({ path }) => path.split("/").at(-1)), asked);
  });
}

test("stopped while its chat is opened, a run sends nothing; a clone has its chats, and runs of its own", async () => {
  const { client, requests } = clientWith(({ signal }) => streamOf(pieces, "closed", signal));
  const opened = [];
  const agent = new TurnwireAgent({ client, openChat: (id) => (opened.push(id), client.chats.open(id)) });
  const stopped = run(agent, input([user("hello")]));
  agent.clone().abortRun();
  agent.abortRun();
  assert.deepEqual((await stopped).at(-1).outcome, { type: "cancelled" });
  assert.deepEqual(requests, []);
  assert.equal((await run(agent.clone(), input([user("hello")]))).at(-1).outcome.type, "success");
  assert.deepEqual(opened, ["t1"]);
});
