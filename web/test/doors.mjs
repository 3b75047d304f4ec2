// A client as a page has it, in Node, and a service that answers what a test wants: for the doors, which see no more of either.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { random } from "../../e2e/support/seed.mjs";
import { top } from "../../scripts/gowasm.mjs";

globalThis.__TURNWIRE_VERSION__ = "test";
// Other pages there are none, and it would keep the process.
delete globalThis.BroadcastChannel;
const { AgentClient, init } = await import("../src/public.ts");
await init({ wasmModule: new WebAssembly.Module(readFileSync(join(top, "web", "small", "turnwire.wasm"))) });

const json = (value, status = 201) => new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

/** A client whose messages are answered by `answer(request)`: a Response. requests holds all that was asked, in order. */
export function clientWith(answer, options) {
  const requests = [];
  const fetch = async (url, { method, headers, body, signal }) => {
    const request = { method, path: new URL(url).pathname, key: headers["idempotency-key"], headers, body: body ? JSON.parse(body) : undefined, signal };
    requests.push(request);
    if (request.path.endsWith("/chats")) return json({ chat_id: `chat${requests.length}` });
    if (request.path.endsWith("/abort")) return new Response(null, { status: 204 });
    return answer(request);
  };
  const client = new AgentClient({ baseURL: "http://service.test", apiKey: "key", workspaceId: "w", agentId: "a", maxRetries: 0, fetch, ...options });
  return { client, requests };
}

const encoder = new TextEncoder();

/** An event stream of these pieces, each [event, …] a network chunk; then it closes, breaks, or stays silent. */
export function streamOf(pieces, end, signal, each = () => {}) {
  let at = 0;
  const body = new ReadableStream({
    start(controller) {
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
    pull(controller) {
      each(at);
      if (signal.aborted) return;
      if (at < pieces.length) controller.enqueue(encoder.encode(pieces[at++].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")));
      else if (end === "closed") controller.close();
      else if (end === "broken") controller.error(new TypeError("the network broke"));
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Runs this as in a page, whose frames come now after one piece of an answer, now after many. */
export async function inPage(run) {
  const asked = new Set();
  let frames = 0;
  const page = {
    document: Object.assign(new EventTarget(), { hidden: false }),
    requestAnimationFrame(show) {
      const id = ++frames;
      asked.add(id);
      void (async () => {
        for (let wait = (id * 7) % 61; wait > 0; wait--) await null;
        if (asked.delete(id)) show(0);
      })();
      return id;
    },
    cancelAnimationFrame: (id) => asked.delete(id),
  };
  Object.assign(globalThis, page);
  try {
    await run();
    if (asked.size > 0) throw new Error("a frame is still asked for");
  } finally {
    for (const name of Object.keys(page)) delete globalThis[name];
  }
}

/**
 * An answer of a seed: network chunks of events, as a service may send them that keeps to the interface, and as one that leaves
 * out or repeats what it likes; how it ends, and what the texts come to.
 */
export function answerOf(seed) {
  const { below, pick, next } = random(seed);
  const events = [];
  const texts = { text: "", reasoning: "" };
  const calls = [];
  const emit = (type, data) => events.push({ type, data });
  const wild = below(3) === 0, ids = below(4) > 0;
  const named = (call) => (ids ? { tool_call_id: call.id } : {});
  const acts = {
    text: () => {
      const chunk = pick(["", "a", "two words ", "ü😀", "long ".repeat(40)]);
      texts.text += chunk;
      emit("text_delta", { chunk });
    },
    reasoning: () => {
      const chunk = pick(["", "because ", "…"]);
      texts.reasoning += chunk;
      emit("reasoning_delta", { [pick(["chunk", "text"])]: chunk });
    },
    start: () => {
      const call = { id: `call${calls.length}`, stage: 0 };
      calls.push(call);
      emit("tool_call_started", { ...named(call), name: pick(["search", "clock", ""]) });
    },
    call: () => {
      const call = pick(calls);
      if (!call) return;
      const stage = wild ? below(3) : call.stage;
      if (stage === 0 && below(2)) emit("tool_call_delta", { ...named(call), delta: pick(['{"a"', ":1}", "x"]) });
      else if (stage === 0) emit("tool_call", { ...named(call), arguments: pick([{ a: 1 }, undefined, '{"b":2}', "no JSON"]) }), (call.stage = 1);
      else if (stage === 1) emit("tool_result", { ...named(call), result: pick([{ ok: true }, "text", { error: "it failed" }, null, undefined]) }), (call.stage = 2);
    },
    unknown: () => emit("usage", { tokens: 3 }),
  };
  for (let n = below(30); n > 0; n--) acts[pick(["text", "text", "reasoning", "start", "call", "call", "call", "unknown"])]();
  const how = pick(["complete", "complete", "error", "closed", "broken", "abort", "refused"]);
  if (how === "complete") emit("turn_complete", {});
  if (how === "error") emit("error", { message: "the model is overloaded", code: "overloaded" });
  const pieces = [];
  for (const event of events) {
    if (pieces.length === 0 || next() < 0.5) pieces.push([]);
    pieces.at(-1).push(event);
  }
  return { how, pieces, texts, abortAt: below(pieces.length + 1), slow: below(2) === 0, wild };
}
