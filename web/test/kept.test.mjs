import assert from "node:assert/strict";
import { test } from "node:test";
import { batchSize, Kept } from "../src/kept.ts";

let last = 0;
const batch = (count, { delivered = count, size = 10 } = {}) => ({ events: Array.from({ length: count }, () => ++last), delivered, size });

const drain = (kept) => {
  const taken = [];
  for (let event; (event = kept.take()) !== undefined; ) taken.push(event);
  return taken;
};

test("events are taken in order, across batches, each once", () => {
  const kept = new Kept();
  const batches = [batch(3), batch(1), batch(2)];
  batches.forEach((one) => kept.add(one));
  assert.deepEqual(drain(kept), batches.flatMap(({ events }) => events));
  assert.equal(kept.take(), undefined);
  const more = batch(2);
  kept.add(more);
  assert.deepEqual(drain(kept), more.events);
});

test("an event that was not delivered yet is not taken, nor what comes after it", () => {
  const kept = new Kept();
  const one = batch(3, { delivered: 0 }), two = batch(1);
  kept.add(one);
  kept.add(two);
  assert.deepEqual(drain(kept), []);
  one.delivered = 2;
  assert.deepEqual(drain(kept), one.events.slice(0, 2));
  one.delivered = 3;
  assert.deepEqual(drain(kept), [one.events[2], ...two.events]);
});

test("an empty batch is passed over", () => {
  const kept = new Kept();
  const one = batch(1);
  kept.add(batch(0));
  kept.add(one);
  kept.add(batch(0));
  assert.deepEqual(drain(kept), one.events);
  assert.equal(kept.size, 0);
});

test("a batch counts until all of it is taken", () => {
  const kept = new Kept();
  kept.add(batch(2, { size: 100 }));
  kept.add(batch(1, { size: 7 }));
  const sizes = [kept.size];
  for (let i = 0; i < 4; i++) sizes.push((kept.take(), kept.size));
  assert.deepEqual(sizes, [107, 107, 107, 7, 0]);
});

test("nothing is left after clear, and what is added then is taken from its first", () => {
  const kept = new Kept();
  kept.add(batch(3));
  kept.take();
  kept.clear();
  assert.deepEqual([kept.size, kept.take()], [0, undefined]);
  const one = batch(2);
  kept.add(one);
  assert.deepEqual(drain(kept), one.events);
});

test("the order holds where batches come while others are taken", () => {
  const kept = new Kept();
  const given = [], taken = [];
  for (let i = 0; i < 1000; i++) {
    const one = batch((i * 7) % 5);
    given.push(...one.events);
    kept.add(one);
    for (let n = (i * 3) % 4; n > 0; n--) {
      const event = kept.take();
      if (event !== undefined) taken.push(event);
    }
  }
  assert.deepEqual([...taken, ...drain(kept)], given);
  assert.equal(kept.size, 0);
});

test("tiny events count for more than their JSON", () => {
  assert.ok(batchSize(4_000, 1_000) > 40_000);
  assert.equal(batchSize(1 << 20, 0), 1 << 20);
});
