// Five hundred turns, twenty at a time, half of all requests failing in some way: every turn ends as it should, the service
// ran nothing twice, and the module is left as it was.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { random, seedFor, Tally } from "./support/seed.mjs";
import { hooked, moduleAtRest, testModule } from "./support/test-module.mjs";

const check = testbed({ flags: ["-pace", "0s"] });

const turns = 500, together = 20;

/** What a request may meet, and how a turn ends that meets it once (times=1), without and with replay. */
const faults = {
  none: ["", "completed", "completed"],
  refused: ["refuse=1", "completed", "completed"],
  429: ["status=429&retry_after=0", "completed", "completed"],
  503: ["status=503&retry_after=0", "completed", "completed"],
  cut: ["cut_events=7", "interrupted", "completed"],
  closed: ["close_events=9", "interrupted", "completed"],
  stalled: ["stall_events=5", "interrupted", "completed"],
  slow: ["slow_chunks_ms=1", "completed", "completed"],
};

const moduleOptions = testModule();

check(`${turns} turns in a storm`, async ({ page, service, t }) => {
  const r = random(seedFor(t));
  const names = Object.keys(faults).filter((name) => name !== "none");
  const plans = Array.from({ length: turns }, (_, i) => {
    const name = r.below(2) === 0 ? "none" : r.pick(names);
    const replay = r.below(2) === 1;
    // Two calculations, whose tools the service counts, or a longer text.
    return { i, name, replay, message: i % 2 === 0 ? `${i}+1 and ${i}+2` : `count to ${10 + (i % 20)}`, fault: faults[name][0] && `times=1&${faults[name][0]}` };
  });
  await page.evaluate(`globalThis.moduleAtRest = ${moduleAtRest}`);
  await page.evaluate((options) => lab.Turnwire.init(options), moduleOptions());
  const seen = await page.evaluate(async (plans, together) => {
    const client = lab.client({ maxRetries: 2 });
    await client.ready();
    // The first turn of all makes what the module then keeps.
    await (await client.chats.create()).send("count to 1").done();
    const before = await moduleAtRest(1);
    const seen = [];
    const next = plans.values();
    await Promise.all(Array.from({ length: together }, async () => {
      for (const { i, replay, message, fault } of next) {
        const chat = await client.chats.create();
        const options = { resume: replay ? "replay" : "never", idleTimeout: fault.includes("stall") ? 1000 : 30_000 };
        const turn = chat.send(message, fault ? lab.fault(fault, options) : options);
        const { status, error, text, toolCalls, heard, taken, key } = await lab.follow(turn);
        const once = new Set(heard.map((event) => event.id));
        seen[i] = { status, code: error?.code, text, tools: toolCalls.length, chat: chat.id, key, twice: heard.length - once.size, same: heard.length === taken.length };
      }
    }));
    return { seen, before, after: await moduleAtRest(before.live) };
  }, plans, together);

  // A turn that was broken off still runs at the service, to its own end.
  for (const { chat } of seen.seen) await service.logged({ msg: "turn finished", chat });
  const records = {};
  for (const turn of await service.turns()) (records[turn.chat_id] ??= []).push(turn);
  const tally = new Tally();
  for (const { i, name, replay, message } of plans) {
    const one = seen.seen[i];
    const said = JSON.stringify([plans[i], one]);
    tally.add(`${name}${replay ? " with replay" : ""}: ${one.status}`);
    assert.equal(one.status, faults[name][replay ? 2 : 1], said);
    const own = records[one.chat];
    assert.deepEqual([own.length, own[0].idempotency_key, own[0].status], [1, one.key, "completed"], said);
    assert.equal(own[0].tools.length, message.includes("+") ? 2 : 0, said);
    assert.deepEqual([one.twice, one.same], [0, true], said);
    if (one.status === "completed") {
      if (message.includes("+")) assert.equal(one.tools, 2, said);
      else assert.equal(one.text, Array.from({ length: 10 + (i % 20) }, (_, n) => n + 1).join(" "), said);
    }
  }
  const left = ({ live, goroutines }) => [live, goroutines];
  assert.deepEqual(left(seen.after), left(seen.before), "what is under way is that of a module at rest");
  t.diagnostic(tally.toString());
}, { before: hooked, timeout: 300_000 });
