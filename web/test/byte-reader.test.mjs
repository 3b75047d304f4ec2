import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { ByteReader, cancelQuietly, tagOf } from "../src/byte-reader.ts";

/** A stream of values, or of errors where it fails. */
const streamOf = (values, onCancel) => new ReadableStream({
  pull(controller) {
    if (values.length === 0) return controller.close();
    const value = values.shift();
    if (value instanceof Error) controller.error(value);
    else controller.enqueue(value);
  },
  cancel: onCancel,
}, { highWaterMark: 0 });

const bytes = (...values) => Uint8Array.from(values);

async function readAll(reader) {
  const chunks = [];
  for (let chunk; (chunk = await reader.next()); ) chunks.push(chunk);
  return chunks;
}

for (const [what, chunks] of Object.entries({ none: [], one: [bytes(1, 2)], "an empty one between others": [bytes(1), bytes(), bytes(2)] })) {
  test(`chunks as they come: ${what}`, async () => {
    const reader = new ByteReader(streamOf([...chunks]), "the body");
    assert.deepEqual(await readAll(reader), chunks);
    assert.equal(await reader.next(), undefined);
  });
}

test("bytes of another frame are bytes", async () => {
  const far = runInNewContext("new Uint8Array([1, 2, 3])");
  assert.equal(far instanceof Uint8Array, false);
  assert.deepEqual(await readAll(new ByteReader(streamOf([far]), "the body")), [far]);
});

for (const [what, value] of Object.entries({
  "a string": "text", null: null, "an array": [1], "a buffer": new ArrayBuffer(1), "another view": new Uint16Array(1), "clamped bytes": new Uint8ClampedArray(1),
  "what only says that it is bytes": { [Symbol.toStringTag]: "Uint8Array", length: 1 },
})) {
  test(`${what} is no bytes`, async () => {
    await assert.rejects(new ByteReader(streamOf([value]), "the body").next(), { name: "TypeError", message: "the body gave something that is no Uint8Array" });
  });
}

test("a result that says neither that it is the end nor that it is not", () => {
  const reader = new ByteReader(streamOf([]), "the body");
  assert.throws(() => reader.bytes({ value: bytes(1) }), /no Uint8Array/);
  assert.throws(() => reader.bytes({ done: 0, value: bytes(1) }), /no Uint8Array/);
});

test("a stream that fails rejects with its own reason", async () => {
  const reader = new ByteReader(streamOf([bytes(1), new RangeError("torn")]), "the body");
  await reader.next();
  await assert.rejects(reader.next(), { name: "RangeError", message: "torn" });
});

test("a locked stream is refused", () => {
  const stream = streamOf([]);
  stream.getReader();
  assert.throws(() => new ByteReader(stream, "the body"), TypeError);
});

test("cancel ends the stream", async () => {
  let told = false;
  const reader = new ByteReader(streamOf([bytes(1)], () => (told = true)), "the body");
  reader.cancel();
  assert.equal(told, true);
  assert.equal(await reader.next(), undefined);
});

test("a stream that always has something ready lets others have their turn", async () => {
  const reader = new ByteReader(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024)) }), "the body");
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const began = performance.now();
  while (performance.now() - began < 200) await reader.next();
  clearInterval(timer);
  assert.ok(turns >= 3, `${turns} turns in 200 ms`);
});

for (const [what, stream] of Object.entries({
  "no stream": undefined, null: null,
  "one that throws": { cancel() { throw new Error("thrown by the page"); } },
  "one that rejects": { cancel: () => Promise.reject(new Error("rejected by the page")) },
  "one that never settles": { cancel: () => new Promise(() => {}) },
  "one that gives nothing": { cancel() {} },
})) {
  test(`to let go of ${what} throws nothing, and leaves no rejection`, async () => {
    cancelQuietly(stream);
    await new Promise((resolve) => setImmediate(resolve));
  });
}

for (const [tag, value] of [["Null", null], ["Undefined", undefined], ["Array", []], ["Uint8Array", bytes(1)], ["Map", runInNewContext("new Map()")], ["Object", { tag: 1 }]]) {
  test(`the tag of ${tag}`, () => assert.equal(tagOf(value), tag));
}
