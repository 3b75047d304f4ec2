// How a kit is told of a turn in a page: once a frame, and in the order in which it came.

import assert from "node:assert/strict";
import { test } from "node:test";
import { follow } from "../src/doors/steps.ts";
import { clientWith, inPage, streamOf } from "./doors.mjs";

const text = (chunk) => ({ type: "text_delta", data: { chunk } });
const reasoning = (chunk) => ({ type: "reasoning_delta", data: { chunk } });
const tool = (type, data) => ({ type, data: { tool_call_id: "c", ...data } });
const pieces = [
  [text("a"), text("b"), reasoning("c")],
  [reasoning("d"), text("e"), tool("tool_call_started", { name: "search" })],
  [tool("tool_call_delta", { delta: '{"q"' }), tool("tool_call_delta", { delta: ":1}" }), tool("tool_call", { arguments: { q: 1 } })],
  [tool("tool_result", { result: "none" }), text("f"), { type: "unknown", data: {} }, text("g")],
  [text("h"), text("i"), { type: "turn_complete", data: {} }],
];

test("all that came until a frame is told in it, in order, a run of one kind as one step", () => inPage(async () => {
  let show;
  globalThis.requestAnimationFrame = (run) => (show = run, 1);
  globalThis.cancelAnimationFrame = () => (show = undefined);
  const told = [];
  const { client } = clientWith(({ signal }) => streamOf(pieces, "closed", signal, (at) => {
    if (at === 0) return;
    assert.deepEqual(told.splice(0), [], "told ahead of the frame");
    // Of the first two together, and of each of the others but the last.
    if (at === 2 || at === 3 || at === 4) {
      show(0);
      frames.push(told.splice(0));
    }
  }));
  const frames = [];
  await new Promise((resolve) => follow(client.chats.open("c").send("hello"), {
    text: (delta) => told.push(delta),
    reasoning: (delta) => told.push(`(${delta})`),
    toolStarted: ({ name }) => told.push(`started ${name}`),
    toolArguments: (_, delta) => told.push(delta),
    toolCalled: () => told.push("called"),
    toolResult: ({ result }) => told.push(`result ${result}`),
    ended: (status) => resolve(told.push(status)),
  }));
  assert.deepEqual(frames, [["ab", "(cd)", "e", "started search"], ['{"q":1}', "called"], ["result none", "f", "g"]]);
  assert.deepEqual([told, show], [["hi", "completed"], undefined]);
}));
