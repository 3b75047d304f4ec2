// The transport for the AI SDK: what it makes of any answer, and what it sends. In pages: e2e/kit-ai-sdk.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readUIMessageStream } from "ai";
import { seedFor } from "../../e2e/support/seed.mjs";
import { TurnwireChatTransport } from "../src/doors/ai-sdk.ts";
import { answerOf, clientWith, inPage, streamOf } from "./doors.mjs";

const user = (text, id = "m1") => ({ id, role: "user", parts: [{ type: "text", text }] });
const request = (messages, more) => ({ trigger: "submit-message", chatId: "kit1", messageId: undefined, messages, abortSignal: undefined, ...more });

/**
 * Holds a stream to what the SDK's protocol says: start once and first; each text's id begun before its delta, once, and ended
 * once; a tool's input before its output; one end, and nothing after it. end is the last chunk's type or "stream error".
 */
class Checker {
  seen = [];
  #blocks = new Map();
  #tools = new Map();
  #end;

  take(chunk) {
    assert.equal(this.#end, undefined, `${chunk.type} after the end`);
    this.seen.push(chunk);
    const { type } = chunk;
    if (/^(finish|abort|error)$/.test(type)) this.#over(type);
    else if (type === "start") assert.equal(this.seen.length, 1, "start is not the first");
    else if (type === "start-step") assert.equal(this.seen.length, 2, "the step does not follow the start");
    else {
      assert.equal(this.seen[0].type, "start", `${type} before start`);
      const [, kind, what] = /^(text|reasoning)-(start|delta|end)$/.exec(type) ?? [];
      if (kind) this.#block(chunk, kind, what);
      else if (type.startsWith("tool-")) this.#tool(chunk);
      else assert.equal(type, "finish-step");
    }
  }

  #block({ id, delta }, kind, what) {
    const state = this.#blocks.get(id);
    if (what === "start") assert.equal(state, undefined, `${id} begins twice`);
    else assert.equal(state, kind, `${what} of ${id}, which is not open`);
    if (what === "delta") assert.notEqual(delta, "");
    this.#blocks.set(id, what === "end" ? "ended" : kind);
    assert.ok([...this.#blocks.values()].filter((state) => state !== "ended").length <= 1, "two texts are open");
  }

  #tool({ type, toolCallId: id, toolName, dynamic, inputTextDelta }) {
    const before = { "tool-input-start": [undefined], "tool-input-delta": ["started"], "tool-input-available": ["started"], "tool-input-error": ["started"], "tool-output-available": ["called"], "tool-output-error": ["called"] }[type];
    assert.ok(before, type);
    assert.ok(before.includes(this.#tools.get(id)), `${type} of ${id}, which is ${this.#tools.get(id)}`);
    if (type === "tool-input-delta") return assert.notEqual(inputTextDelta, "");
    assert.equal(dynamic, true);
    if (/input/.test(type)) assert.ok(toolName);
    this.#tools.set(id, type === "tool-input-start" ? "started" : /input/.test(type) ? "called" : "ended");
  }

  #over(end) {
    this.#end = end;
    assert.deepEqual([...this.#blocks.values()].filter((state) => state !== "ended"), [], "a text is left open");
    if (end === "finish") assert.deepEqual([this.seen[0].type, this.seen.at(-2).type], ["start", "finish-step"]);
  }

  fail() {
    assert.equal(this.#end, undefined, "an error after the end");
    this.#over("stream error");
  }

  get end() {
    return this.#end;
  }
}

/** Reads a stream to its end. */
async function read(stream, slow) {
  const checker = new Checker();
  let error;
  try {
    for await (const chunk of stream) {
      checker.take(structuredClone(chunk));
      if (slow) await new Promise(setImmediate);
    }
  } catch (reason) {
    if (reason?.code === "ERR_ASSERTION") throw reason;
    checker.fail();
    error = reason;
  }
  return { checker, error };
}

const join = (chunks, type) => chunks.filter((chunk) => chunk.type === type).map(({ delta }) => delta).join("");

async function act(seed) {
  const { how, pieces, texts, abortAt, slow, wild } = answerOf(seed);
  const stop = new AbortController();
  const { client } = clientWith(({ signal }) => {
    if (how === "refused") return new Response("{}", { status: 400 });
    return streamOf(pieces, how, signal, (at) => how === "abort" && at === abortAt && stop.abort());
  });
  let turn;
  const openChat = (id) => ({ send: (...message) => (turn = client.chats.open(id).send(...message)) });
  const stream = await new TurnwireChatTransport({ client, openChat }).sendMessages(request([user("hello")], { abortSignal: stop.signal }));
  const { checker, error } = await read(stream, slow);
  const ends = { complete: "finish", error: "error", closed: "stream error", broken: "stream error", abort: "abort", refused: "stream error" };
  assert.equal(checker.end, ends[how]);
  // The SDK takes for a disconnect what is a TypeError of the network, and that alone.
  assert.equal(error instanceof TypeError && error.message.includes("network"), how === "closed" || how === "broken");
  if (how === "refused") assert.equal(error.name, "APIError");
  // The turn's own state is what the parts come to.
  for (const { id, status, argumentsText, arguments: input, result } of turn.toolCalls) {
    const chunks = checker.seen.filter(({ toolCallId }) => toolCallId === id);
    const told = chunks.filter(({ type }) => type === "tool-input-delta").map(({ inputTextDelta }) => inputTextDelta).join("");
    // The complete call may have other arguments than its fragments.
    if (status === "building") assert.equal(told, argumentsText);
    // A call that is completed twice is told of once.
    if (wild) continue;
    const of = (kind) => chunks.find(({ type }) => type.startsWith(kind) && !/start|delta/.test(type));
    if (status === "building" || input !== undefined) assert.deepEqual(of("tool-input")?.input, input);
    else assert.ok(of("tool-input"));
    const { type, output, errorText } = of("tool-output") ?? {};
    if (status === "finished") assert.deepEqual(type === "tool-output-error" ? { error: errorText } : output, result ?? null);
    else assert.equal(type, undefined);
  }
  const told = [join(checker.seen, "text-delta"), join(checker.seen, "reasoning-delta")];
  // What comes in the very chunk of a break may be lost, as in the network; all that came before an end is told.
  if (how === "complete" || how === "error" || how === "closed") assert.deepEqual(told, [texts.text, texts.reasoning]);
  else assert.ok(how === "refused" || (texts.text.startsWith(told[0]) && texts.reasoning.startsWith(told[1])));
}

test("every answer is a well-formed stream with one end", { timeout: 120_000 }, async (t) => {
  const from = seedFor(t);
  for (let seed = from; seed < from + 1_000; seed++) await (seed % 2 ? inPage(() => act(seed)) : act(seed)).catch((error) => assert.fail(`seed ${seed}: ${error.stack}`));
});

test("the SDK's own reader makes a message of it", async () => {
  const pieces = [
    [{ type: "reasoning_delta", data: { chunk: "I need a tool." } }],
    [{ type: "text_delta", data: { chunk: "Let me see" } }, { type: "tool_call_started", data: { tool_call_id: "c", name: "search" } }],
    [{ type: "tool_call", data: { tool_call_id: "c", arguments: { q: "x" } } }, { type: "tool_result", data: { tool_call_id: "c", result: { error: "none" } } }],
    [{ type: "text_delta", data: { chunk: "Nothing." } }, { type: "turn_complete", data: {} }],
  ];
  const { client } = clientWith(({ signal }) => streamOf(pieces, "closed", signal));
  const stream = await new TurnwireChatTransport({ client }).sendMessages(request([user("hello")]));
  let message;
  for await (message of readUIMessageStream({ stream }));
  const parts = message.parts.map(({ type, text, state, toolName, input, errorText }) => [type, text ?? toolName, state, input, errorText].filter((each) => each !== undefined));
  assert.deepEqual(parts, [
    ["step-start"], ["reasoning", "I need a tool.", "done"], ["text", "Let me see", "done"],
    ["dynamic-tool", "search", "output-error", { q: "x" }, "none"], ["text", "Nothing.", "done"],
  ]);
});

test("what a slow page has not read yet of a text is one chunk", async () => {
  const words = Array.from({ length: 500 }, (_, i) => ({ type: "text_delta", data: { chunk: `${i} ` } }));
  let over;
  const ended = new Promise((resolve) => (over = resolve));
  const answer = ({ signal }) => streamOf([words.slice(0, 1), words.slice(1), [{ type: "turn_complete", data: {} }]], "closed", signal);
  const { client } = clientWith(answer, { onLog: ({ message }) => message === "turn ended" && over() });
  const stream = await new TurnwireChatTransport({ client }).sendMessages(request([user("hello")]));
  await ended;
  const { checker } = await read(stream);
  assert.deepEqual(checker.seen.map(({ type }) => type), ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"]);
  assert.equal(join(checker.seen, "text-delta"), words.map(({ data }) => data.chunk).join(""));
});

const completes = ({ signal }) => streamOf([[{ type: "turn_complete", data: {} }]], "closed", signal);

test("the newest message alone is sent, under its id, with the headers and the model given", async () => {
  const { client, requests } = clientWith(completes);
  const transport = new TurnwireChatTransport({ client, send: { model: "small", headers: { "X-A": "1", "X-B": "1" } } });
  const answer = { id: "a1", role: "assistant", parts: [] };
  await read(await transport.sendMessages(request([user("one"), answer, user("two", "m2")])));
  await read(await transport.sendMessages(request([user("three", "m3")], { headers: { "x-b": "2" }, body: { model: "large" } })));
  const messages = requests.filter(({ path }) => path.endsWith("/messages"));
  assert.deepEqual(messages.map(({ key, body }) => [key, body]), [
    ["m2", { parts: [{ type: "text", text: "two" }], model: "small" }], ["m3", { parts: [{ type: "text", text: "three" }], model: "large" }],
  ]);
  assert.deepEqual(messages.map(({ headers }) => [headers["x-a"], headers["x-b"]]), [["1", "1"], ["1", "2"]]);
  assert.equal(requests.filter(({ path }) => path.endsWith("/chats")).length, 1, "one chat for one id");
});

test("a chat that could not be had is asked for again, and openChat says which it is", async () => {
  const { client, requests } = clientWith(completes);
  const asked = [];
  const transport = new TurnwireChatTransport({ client, openChat: (id) => {
    asked.push(id);
    if (asked.length === 1) throw new Error("not now");
    return client.chats.open(`own-${id}`);
  } });
  await assert.rejects(transport.sendMessages(request([user("one")])), /not now/);
  for (const chatId of ["kit1", "kit2", "kit1"]) await read(await transport.sendMessages(request([user("one")], { chatId })));
  assert.deepEqual(asked, ["kit1", "kit1", "kit2"]);
  assert.deepEqual(requests.map(({ path }) => path.split("/")[3]), ["own-kit1", "own-kit2", "own-kit1"]);
});

test("what the service has no way to do is refused before anything is sent", async () => {
  const { client, requests } = clientWith(completes);
  const transport = new TurnwireChatTransport({ client });
  const refusals = [
    [/regenerate/, request([user("one")], { trigger: "regenerate-message" })],
    [/the last message must be the user's/, request([user("one"), { id: "a", role: "assistant", parts: [] }])],
    [/the last message must be the user's/, request([])],
    [/"temperature"/, request([user("one")], { body: { model: "m", temperature: 1 } })],
  ];
  for (const [message, options] of refusals) await assert.rejects(transport.sendMessages(options), message);
  assert.deepEqual(requests, []);
  const parts = [[/data: URL/, { type: "file", mediaType: "image/png", url: "https://example.org/a.png" }], [/"data-cart"/, { type: "data-cart", data: {} }]];
  for (const [message, part] of parts) await assert.rejects(transport.sendMessages(request([{ id: "m1", role: "user", parts: [part] }])), message);
  assert.equal(requests.some(({ path }) => !path.endsWith("/chats")), false);
  assert.equal(await transport.reconnectToStream(), null);
});

test("stopped while a chat is opened, a message is not sent; a reader that leaves stops the turn", async () => {
  const stop = new AbortController();
  const { client, requests } = clientWith(({ signal }) => streamOf([[{ type: "text_delta", data: { chunk: "a" } }]], "silent", signal));
  const transport = new TurnwireChatTransport({ client, openChat: (id) => (stop.abort(), client.chats.open(id)) });
  assert.equal((await read(await transport.sendMessages(request([user("one")], { abortSignal: stop.signal })))).checker.end, "abort");
  assert.deepEqual(requests, []);
  for await (const chunk of await transport.sendMessages(request([user("one")]))) if (chunk.type === "text-delta") break;
  assert.deepEqual(requests.map(({ path }) => path.split("/").at(-1)), ["messages", "abort"]);
});

test("a file is uploaded once, however often its message is sent", async () => {
  const uploads = [];
  const stop = new AbortController();
  const stopped = ({ signal }) => streamOf([], "silent", signal, () => stop.abort());
  const answers = [() => new Response("{}", { status: 503 }), stopped, completes];
  const { client: real, requests } = clientWith((request) => answers.shift()(request));
  const client = { chats: real.chats, files: { upload: (data, options) => {
    uploads.push([data, options]);
    const file = { id: `file${uploads.length}`, status: "ready", raw: {} };
    return { done: async () => file };
  } } };
  const transport = new TurnwireChatTransport({ client, upload: { purpose: "rag" } });
  const message = { id: "m1", role: "user", parts: [
    { type: "file", mediaType: "text/plain", filename: "a.txt", url: "data:text/plain;base64,w7xi" },
    { type: "file", mediaType: "text/plain", url: "data:,%C3%BCb%2C" }, { type: "text", text: "see" }, { type: "text", text: "" },
  ] };
  assert.equal((await read(await transport.sendMessages(request([message])))).error.name, "APIError");
  assert.equal((await read(await transport.sendMessages(request([message], { abortSignal: stop.signal })))).checker.end, "abort");
  assert.equal((await read(await transport.sendMessages(request([message])))).checker.end, "finish");
  assert.deepEqual(await Promise.all(uploads.map(([data]) => data.text())), ["üb", "üb,"]);
  assert.deepEqual(uploads.map(([, { wait, purpose, name, contentType }]) => [wait, purpose, name, contentType]), [[true, "rag", "a.txt", "text/plain"], [true, "rag", undefined, "text/plain"]]);
  const parts = [{ type: "file", file_id: "file1" }, { type: "file", file_id: "file2" }, { type: "text", text: "see" }];
  const sent = requests.filter(({ path }) => path.endsWith("/messages")).map(({ body }) => body.parts);
  assert.deepEqual(sent, [parts, parts, parts]);
});
