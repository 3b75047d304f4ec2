import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { bytesOf, isBlob, isStream, sourceOf } from "../src/source.ts";

const numbers = (length, from = 0) => Uint8Array.from({ length }, (_, i) => from + i);
const bytesIn = async (data) => [...new Uint8Array(data instanceof Blob ? await data.arrayBuffer() : data)];
const streamOf = (...chunks) => new ReadableStream({
  pull(controller) {
    if (chunks.length === 0) controller.close();
    else controller.enqueue(chunks.shift());
  },
}, { highWaterMark: 0 });

const detached = () => {
  const buffer = new ArrayBuffer(8);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
};

for (const [what, value, blob, stream] of [
  ["a Blob", new Blob(["x"]), true, false],
  ["a stream", new ReadableStream(), false, true],
  ["what reads like a stream", { getReader() {} }, false, true],
  ["bytes", numbers(1), false, false],
  ["null", null, false, false],
  ["undefined", undefined, false, false],
  ["a function with a reader", Object.assign(() => {}, { getReader() {} }), false, false],
]) {
  test(`${what}: ${blob ? "a Blob" : stream ? "a stream" : "neither Blob nor stream"}`, () => assert.deepEqual([isBlob(value), isStream(value)], [blob, stream]));
}

const buffer = numbers(10).buffer;
for (const [what, value, expected] of [
  ["a buffer", buffer, [...numbers(10)]],
  ["a window of a buffer", new Uint8Array(buffer, 2, 3), [2, 3, 4]],
  ["wider items", new Uint16Array(buffer, 2, 2), [2, 3, 4, 5]],
  ["a DataView", new DataView(buffer, 9), [9]],
  ["shared memory", new SharedArrayBuffer(2), [0, 0]],
  ["another frame's buffer", runInNewContext("new Uint8Array([7, 8]).buffer"), [7, 8]],
  ["an array", [1, 2], undefined],
  ["a string", "text", undefined],
  ["null", null, undefined],
]) {
  test(`the bytes of ${what}`, () => assert.deepEqual(bytesOf(value) && [...bytesOf(value)], expected));
}

test("a detached buffer has no bytes to give", () => assert.throws(() => bytesOf(detached())));

test("a Blob gives its ranges without its type, and one id for all of them", async () => {
  const source = sourceOf(new Blob([numbers(10)], { type: "text/plain" }), 10);
  const range = await source.read(3, 6);
  assert.deepEqual([await bytesIn(range), range.type], [[3, 4, 5], ""]);
  const [one, two] = [await source.part(0, 5), await source.part(5, 10)];
  assert.deepEqual([one.from, one.to, two.from, two.to], [0, 5, 5, 10]);
  assert.equal(one.id, two.id);
  assert.notEqual(one.id, (await sourceOf(new Blob(["x"]), 1).part(0, 1)).id);
});

for (const [what, data] of Object.entries({ "a buffer": buffer, "a view": new Uint8Array(buffer), "shared memory": new Uint8Array(new SharedArrayBuffer(10)).fill(5) })) {
  test(`${what} gives its ranges, again and again`, async () => {
    const source = sourceOf(data, 10);
    const all = await bytesIn(bytesOf(data));
    for (const [from, to] of [[0, 10], [3, 6], [3, 3], [9, 10]]) assert.deepEqual(await bytesIn(await source.read(from, to)), all.slice(from, to));
  });
}

test("what can't be sent as it is is copied: shared memory and a buffer that can grow", async () => {
  const shared = await sourceOf(new SharedArrayBuffer(4), 4).read(0, 4);
  const growing = await sourceOf(new ArrayBuffer(4, { maxByteLength: 8 }), 4).read(0, 4);
  assert.deepEqual([shared.buffer instanceof ArrayBuffer, growing.buffer.resizable], [true, false]);
  assert.equal((await sourceOf(buffer, 10).read(1, 2)).buffer, buffer);
});

test("a buffer that was taken away or has another size since is told as such", async () => {
  const view = new Uint8Array(8);
  const source = sourceOf(view, 8);
  structuredClone(view.buffer, { transfer: [view.buffer] });
  await assert.rejects(source.read(0, 8), /detached or resized/);
  const growing = new ArrayBuffer(8, { maxByteLength: 16 });
  const grown = sourceOf(growing, 8);
  growing.resize(16);
  await assert.rejects(grown.read(0, 8), /detached or resized/);
});

for (const size of [1, 3, 7, 100]) {
  test(`a stream in chunks of ${size} gives its ranges whatever its chunks`, async () => {
    const all = numbers(100);
    const chunks = [];
    for (let at = 0; at < 100; at += size) chunks.push(all.slice(at, at + size));
    const source = sourceOf(streamOf(...chunks), 100);
    const ranges = await Promise.all([[0, 30], [30, 60], [60, 100], [10, 50]].map(async ([from, to]) => bytesIn(await source.read(from, to))));
    assert.deepEqual(ranges, [[...all.slice(0, 30)], [...all.slice(30, 60)], [...all.slice(60)], [...all.slice(10, 50)]]);
  });
}

test("a stream whose producer uses one buffer for every chunk is read as it was given", async () => {
  const chunk = new Uint8Array(2);
  let given = 0;
  const source = sourceOf(new ReadableStream({ pull: (controller) => (given < 6 ? controller.enqueue(chunk.fill(++given)) : controller.close()) }, { highWaterMark: 0 }), 12);
  assert.deepEqual(await bytesIn(await source.read(0, 12)), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
});

test("a stream lets go of the chunks before a place, and of no other", async () => {
  const source = sourceOf(streamOf(numbers(4, 1), numbers(4, 5), numbers(4, 9)), 12);
  await source.read(0, 12);
  source.release(6);
  assert.deepEqual(await bytesIn(await source.read(0, 12)), [0, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12]);
  source.release(8);
  assert.deepEqual(await bytesIn(await source.read(0, 12)), [0, 0, 0, 0, 0, 0, 0, 0, 9, 10, 11, 12]);
});

test("a stream tells of what it gave, once a chunk that has bytes", async () => {
  let told = 0;
  const source = sourceOf(streamOf(numbers(2), new Uint8Array(0), numbers(2)), 4, () => told++);
  await source.read(0, 4);
  assert.equal(told, 2);
});

test("a stream is read no further than it is asked for, but for its end", async () => {
  let pulled = 0;
  const source = sourceOf(new ReadableStream({ pull: (controller) => (pulled++, controller.enqueue(numbers(2))) }, { highWaterMark: 0 }), 100);
  await source.read(0, 6);
  assert.equal(pulled, 3);
});

for (const [what, chunks, size, to, message] of [
  ["is shorter", [numbers(3)], 4, 4, /ended after 3 of the 4 bytes/],
  ["is shorter than a range, of which it is told at once", [numbers(3)], 10, 5, /ended after 3 of the 10 bytes/],
  ["is longer", [numbers(5)], 4, 2, /more than the 4 bytes/],
  ["goes on after its size", [numbers(4), numbers(1)], 4, 4, /more than the 4 bytes/],
  ["is not empty", [numbers(1)], 0, 0, /more than the 0 bytes/],
  ["gives no bytes", ["text"], 4, 4, /the stream gave something that is no Uint8Array/],
]) {
  test(`a stream that ${what}`, async () => {
    const source = sourceOf(streamOf(...chunks), size);
    await assert.rejects(source.read(0, to), message);
    // Who asks again is told the same.
    await assert.rejects(source.read(0, to), message);
  });
}
