// A service that answers nonsense for a minute, in Chromium: whatever it says, each call of the client settles within its
// limits with a result or an error of the package's, no status says more than was received, nothing is left uncaught, and
// no task of the page takes long. HOSTILE_SECONDS=… for longer; TURNWIRE_SEED=… for the same run, HOSTILE_SEED=… for one act.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser } from "../support/browser.mjs";
import { seedFor, Tally } from "../support/seed.mjs";
import { longestTask, tasks } from "../support/tasks.mjs";
import { judge, short } from "./judge.mjs";
import { plan } from "./plans.mjs";
import { Hostile, staged } from "./service.mjs";

const seconds = Number(process.env.HOSTILE_SECONDS ?? 60);
const one = process.env.HOSTILE_SEED;
/** Acts side by side, and how long the tasks are traced in one go. */
const lanes = one ? 1 : 4, slice = 5_000;
/** The most that a task may take, in ms of the thread's own time. */
let longest;
/** Every act that was played, and of each lane the service and the store: a browser has few connections to a host. */
const acts = new Map();
const services = [], stores = [];
/** Where the page lies, and the store of some uploads. */
let home;
let browser;
let slowest = [];

before(async () => {
  home = await Hostile.start(acts);
  for (let i = 0; i < lanes; i++) {
    services.push(await Hostile.start(acts));
    stores.push(await Hostile.start(acts));
  }
  browser = await Browser.start();
});
after(async () => {
  await browser?.close();
  for (const server of [home, ...services, ...stores]) await server.close();
});

/** Plays acts in every lane while next() gives seeds. */
async function play(page, next) {
  await Promise.all(services.map(async (service, lane) => {
    for (let seed = next(); seed !== undefined; seed = next()) {
      const p = plan(seed);
      const act = staged(p, service, p.home ? home : stores[lane]);
      acts.set(seed, act);
      await page.evaluate((plan, base, store) => hostile.act(plan, base, store), p, act.base, act.storage);
    }
  }));
}

/** All of an act that was asked for alone. */
function tell({ plan, exchanges }, { exchanges: _, ...result }) {
  console.log(short(plan, 2_000));
  for (const { kind, n, method, path, form, wrap, status, whole, bytes } of exchanges) console.log(`  ${short({ kind, n, method, path, form, wrap, status, whole, bytes: String(bytes) }, 1_000)}`);
  for (const [name, value] of Object.entries(result)) console.log(`  ${name}: ${short(value, 2_000)}`);
}

/** The faults of the acts that ended, each under its seed; what nobody caught has the seeds of all acts under way then. */
async function faultsOf(page, tally) {
  const faults = [];
  const seen = JSON.parse(await page.evaluate(() => hostile.collect()));
  for (const result of seen.acts) {
    const act = acts.get(result.seed);
    slowest = [...slowest, { seed: result.seed, ms: Math.round(result.ms) }].sort((a, b) => b.ms - a.ms).slice(0, 5);
    // What the page answered itself is as good as what the service answered.
    act.exchanges.push(...result.exchanges.map((exchange) => ({ ...exchange, bytes: Buffer.from(exchange.bytes, "latin1") })));
    act.brokenOff = [home, ...services, ...stores].some((server) => server.brokenOff(result.seed));
    tally.add(`${act.plan.call}: ${result.status ?? result.stage ?? (result.error?.code && "refused") ?? "resolved"}`);
    for (const text of judge(act, result)) faults.push({ seeds: [result.seed], text });
    if (one) tell(act, result);
    act.exchanges.length = act.store.objects.length = 0;
  }
  for (const { what, seeds } of seen.uncaught) faults.push({ seeds, text: `nobody caught ${what}` });
  for (const server of [home, ...services, ...stores]) server.forget();
  return faults;
}

/** The tasks that took too long, with the seeds of the acts that were under way. */
function late({ tasks, marks }) {
  const when = (what, seed) => marks.find(({ name }) => name === `${what} ${seed}`)?.at;
  const seeds = marks.map(({ name }) => Number(/^begin (\d+)$/.exec(name)?.[1])).filter((seed) => !Number.isNaN(seed));
  return tasks.filter(({ ms }) => ms > longest).map(({ at, until, ms }) => ({
    seeds: seeds.filter((seed) => when("begin", seed) <= until && (when("end", seed) ?? Infinity) >= at),
    text: `a task of the page took ${ms.toFixed(0)} ms`,
  }));
}

/** Faults of one kind have one line: the first in full, and the seeds of some more. */
function grouped(faults) {
  const kinds = new Map();
  for (const fault of faults) {
    const kind = fault.text.replace(/\d+/g, "").split(":")[0].slice(0, 60);
    kinds.set(kind, [...(kinds.get(kind) ?? []), fault]);
  }
  return [...kinds.values()].map((list) => `  ${list.length}× ${list[0].text}\n     HOSTILE_SEED=${list.slice(0, 8).map(({ seeds }) => seeds.join("|")).join(", ")}`).join("\n");
}

test(one ? `act ${one}` : `${seconds} s of nonsense`, { timeout: seconds * 1000 + 240_000 }, async (t) => {
  const first = one ? Number(one) : seedFor(t);
  const page = await browser.open(`${home.origin}/`);
  await page.waitForFunction(() => globalThis.hostile);
  await page.evaluate(() => hostile.ready);
  longest = await longestTask(page);
  t.diagnostic(`a task may take ${longest.toFixed(0)} ms`);
  const tally = new Tally(), faults = [];
  let played = 0;
  const begun = performance.now();
  do {
    const until = performance.now() + slice;
    const next = () => (one ? played === 0 : performance.now() < until) ? first + played++ : undefined;
    const seen = await tasks(page, () => play(page, next));
    faults.push(...await faultsOf(page, tally), ...late(seen));
    if (one) console.log(`the longest tasks, in ms: ${seen.tasks.map(({ ms }) => Math.round(ms)).sort((a, b) => b - a).slice(0, 5)}`);
  } while (!one && performance.now() - begun < seconds * 1000);
  t.diagnostic(`${played} acts: ${tally}`);
  t.diagnostic(`the slowest, in ms: ${slowest.map(({ seed, ms }) => `${seed} ${ms}`).join(", ")}`);
  // What the page's own listeners did not see.
  for (const text of page.uncaught) if (!faults.some((fault) => fault.text.includes(text))) faults.push({ seeds: [], text: `nobody caught ${text}` });
  assert.ok(faults.length === 0, `${faults.length} faults in ${played} acts; one act again: HOSTILE_SEED=… node --test e2e/hostile/hostile.mjs\n${grouped(faults)}`);
});
