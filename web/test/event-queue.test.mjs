import assert from "node:assert/strict";
import { test } from "node:test";
import { batchSize, EventQueue } from "../src/event-queue.ts";

let last = 0;
const batch = (count, { delivered = count, size = 10 } = {}) => ({ events: Array.from({ length: count }, () => ++last), delivered, size });

const drain = (queue) => {
  const taken = [];
  for (let event; (event = queue.take()) !== undefined; ) taken.push(event);
  return taken;
};

test("events are taken in order, across batches, each once", () => {
  const queue = new EventQueue();
  const batches = [batch(3), batch(1), batch(2)];
  batches.forEach((one) => queue.add(one));
  assert.deepEqual(drain(queue), batches.flatMap(({ events }) => events));
  assert.equal(queue.take(), undefined);
  const more = batch(2);
  queue.add(more);
  assert.deepEqual(drain(queue), more.events);
});

test("an event that was not delivered yet is not taken, nor what comes after it", () => {
  const queue = new EventQueue();
  const one = batch(3, { delivered: 0 }), two = batch(1);
  queue.add(one);
  queue.add(two);
  assert.deepEqual(drain(queue), []);
  one.delivered = 2;
  assert.deepEqual(drain(queue), one.events.slice(0, 2));
  one.delivered = 3;
  assert.deepEqual(drain(queue), [one.events[2], ...two.events]);
});

test("an empty batch is passed over", () => {
  const queue = new EventQueue();
  const one = batch(1);
  queue.add(batch(0));
  queue.add(one);
  queue.add(batch(0));
  assert.deepEqual(drain(queue), one.events);
  assert.equal(queue.size, 0);
});

test("a batch counts until all of it is taken", () => {
  const queue = new EventQueue();
  queue.add(batch(2, { size: 100 }));
  queue.add(batch(1, { size: 7 }));
  const sizes = [queue.size];
  for (let i = 0; i < 4; i++) sizes.push((queue.take(), queue.size));
  assert.deepEqual(sizes, [107, 107, 107, 7, 0]);
});

test("nothing is left after clear, and what is added then is taken from its first", () => {
  const queue = new EventQueue();
  queue.add(batch(3));
  queue.take();
  queue.clear();
  assert.deepEqual([queue.size, queue.take()], [0, undefined]);
  const one = batch(2);
  queue.add(one);
  assert.deepEqual(drain(queue), one.events);
});

test("the order holds where batches come while others are taken", () => {
  const queue = new EventQueue();
  const given = [], taken = [];
  for (let i = 0; i < 1000; i++) {
    const one = batch((i * 7) % 5);
    given.push(...one.events);
    queue.add(one);
    for (let n = (i * 3) % 4; n > 0; n--) {
      const event = queue.take();
      if (event !== undefined) taken.push(event);
    }
  }
  assert.deepEqual([...taken, ...drain(queue)], given);
  assert.equal(queue.size, 0);
});

test("tiny events count for more than their JSON", () => {
  assert.ok(batchSize(4_000, 1_000) > 40_000);
  assert.equal(batchSize(1 << 20, 0), 1 << 20);
});
