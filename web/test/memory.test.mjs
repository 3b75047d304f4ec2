// What the small module has for a turn of many megabytes, the next one gets again.

import assert from "node:assert/strict";
import { test } from "node:test";

let memory;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...args) => {
  const instance = await instantiate(...args);
  // Node itself has another module.
  if (instance.exports?.feed) ({ memory } = instance.exports);
  return instance;
};
const { clientWith, streamOf } = await import("./doors.mjs");

const piece = Array.from({ length: 16 }, () => ({ type: "text_delta", data: { chunk: "a word and ".repeat(91) } }));

test("turns of 20 MB one after another take the memory of one", async () => {
  const { client } = clientWith(({ signal }) => streamOf([...Array.from({ length: 1_250 }, () => piece), [{ type: "turn_complete", data: {} }]], "closed", signal));
  const sizes = [];
  for (let i = 0; i < 5; i++) {
    const { text } = await client.chats.open("c").send("at length").done();
    assert.equal(text.length, 1_250 * 16 * 1_001);
    sizes.push(memory.buffer.byteLength);
  }
  assert.ok(Math.max(...sizes) <= sizes[0] + (1 << 20), `bytes after each turn: ${sizes}`);
});
