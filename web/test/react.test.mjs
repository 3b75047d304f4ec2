// The hooks where there is no page, and when a component's state is made anew. In pages: e2e/kit-react.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { Frames } from "../src/doors/frames.ts";
import { useChat, useUpload } from "../src/doors/react.ts";

test("on a server there is what there is before the first message, and nothing is asked of the client", () => {
  const client = new Proxy({}, { get: (_, name) => assert.fail(`client.${String(name)} was asked for`) });
  function Page({ chatId }) {
    const { turns, status, error, ...chat } = useChat({ client, chatId });
    const { stage, progress } = useUpload({ client });
    return createElement("p", null, [status, turns.length, error, chat.chatId, stage, progress].map(String).join());
  }
  assert.equal(renderToString(createElement(Page)), "<p>idle,0,undefined,undefined,idle,undefined</p>");
  assert.equal(renderToString(createElement(Page, { chatId: "c1" })), "<p>idle,0,undefined,c1,idle,undefined</p>");
});

/** A page whose frames and timers come when the test says so. */
function page(t) {
  const frames = new Map(), timers = new Map(), listeners = new Set();
  let last = 0;
  const waiting = (all) => (run) => (all.set(++last, run), last);
  const page = {
    hidden: false,
    frame: () => [...frames].forEach(([id, run]) => frames.delete(id) && run(0)),
    timer: () => [...timers].forEach(([id, run]) => timers.delete(id) && run()),
    hide(hidden) {
      page.hidden = hidden;
      for (const listener of [...listeners]) listener(new Event("visibilitychange"));
    },
    left: () => frames.size + timers.size + listeners.size,
  };
  const globals = {
    document: { get hidden() { return page.hidden; }, addEventListener: (_, listener) => listeners.add(listener), removeEventListener: (_, listener) => listeners.delete(listener) },
    requestAnimationFrame: waiting(frames), cancelAnimationFrame: (id) => frames.delete(id),
    setTimeout: waiting(timers), clearTimeout: (id) => timers.delete(id),
  };
  for (const [name, value] of Object.entries(globals)) {
    const had = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => (had ? Object.defineProperty(globalThis, name, had) : delete globalThis[name]));
  }
  return page;
}

class Counted extends Frames {
  n = 0;
  released = 0;
  constructor() { super(0); }
  read() { return this.n; }
  release() { this.released++; }
  count() { this.n++; this.changed(); }
}

test("however often it changes, the state is made anew once a frame", (t) => {
  const { frame, left } = page(t);
  const counted = new Counted();
  let renders = 0;
  counted.subscribe(() => renders++);
  for (let i = 0; i < 9; i++) counted.count();
  assert.deepEqual([renders, counted.snapshot()], [0, 0]);
  frame();
  assert.deepEqual([renders, counted.snapshot(), left()], [1, 9, 0]);
  frame();
  counted.count();
  frame();
  assert.deepEqual([renders, counted.snapshot(), left()], [2, 10, 0]);
});

test("a page that is hidden gets it by a timer, also when it is hidden while a frame is awaited, or shown before", (t) => {
  const { frame, timer, hide, left } = page(t);
  const counted = new Counted();
  let renders = 0;
  counted.subscribe(() => renders++);
  counted.count();
  hide(true);
  assert.deepEqual([renders, counted.snapshot(), left()], [1, 1, 0]);
  counted.count();
  timer();
  assert.deepEqual([renders, counted.snapshot(), left()], [2, 2, 0]);
  counted.count();
  hide(false);
  counted.count();
  frame();
  assert.equal(renders, 2);
  timer();
  assert.deepEqual([renders, counted.snapshot(), left()], [3, 4, 0]);
});

test("it is released once nobody looks any more, a moment later, and not before somebody has", async (t) => {
  page(t);
  const counted = new Counted();
  counted.settle();
  await null;
  assert.equal(counted.released, 0);
  const leave = counted.subscribe(() => {});
  leave();
  const again = counted.subscribe(() => {});
  await null;
  assert.equal(counted.released, 0);
  again();
  await null;
  assert.equal(counted.released, 1);
  counted.settle();
  await null;
  assert.equal(counted.released, 2);
});
