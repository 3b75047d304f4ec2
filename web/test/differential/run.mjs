// Runs: acts one after the other, of one pair of programs.

import assert from "node:assert/strict";
import { Tally } from "../../../e2e/support/seed.mjs";
import { play } from "./act.mjs";
import { Pair } from "./pair.mjs";
import { protocols } from "./stores.mjs";

/** One act alone, whose seed this is. */
export const one = process.env.DIFFERENTIAL_SEED;

/** What a run has to have seen, or it would prove little. */
const ends = [
  ...["completed", "failed", "cancelled", "interrupted"].map((status) => `turn ${status}`),
  ...protocols.map((name) => `upload done by ${name}`), "upload failed", "upload aborted", "call done", "call failed",
];

/** Far more than the largest turns of a run take at once. */
const memoryMost = 32 << 20;

class Run {
  tally = new Tally();
  #page = { now: 1_000, timeOrigin: 1_790_000_000_000.3, offline: false, random: () => 0 };

  static async of(options, seed) {
    const run = new Run();
    run.pair = await Pair.start(run.#page, options);
    run.seed = seed;
    return run;
  }

  /** Plays the nth act of the run's seed. */
  act(n, modest) {
    const seed = one ? Number(one) : (this.seed + Math.imul(n, 7_919)) >>> 0;
    try {
      play(this.pair, this.#page, seed, this.tally, modest);
    } catch (error) {
      if (one) error.trace?.forEach(([name, args]) => console.log(name, JSON.stringify(args).slice(0, 500)));
      delete error.trace;
      error.message = `act ${n + 1}, step ${this.pair.steps}: ${error.message}\n` +
        `DIFFERENTIAL_SEED=${seed} make differential plays this act alone, TURNWIRE_SEED=${this.seed} make differential the whole run`;
      throw error;
    }
  }

  /** How much there was of all whose name begins so. */
  seen(what) {
    return Object.entries(this.tally.counts).reduce((sum, [name, n]) => (name.startsWith(what) ? sum + n : sum), 0);
  }

  get memory() {
    return this.pair.small.program.memory.buffer.byteLength;
  }
}

/** Plays acts until there were so many turns and so many uploads. options are Pair's. */
export async function compare(t, options, seed, most) {
  const run = await Run.of(options, seed);
  const { pair, tally } = run;
  try {
    for (let n = 0; one ? n < 1 : Math.min(run.seen("turn"), run.seen("upload")) < most; n++) run.act(n);
  } finally {
    pair.stop();
  }
  t.diagnostic(`${tally}; ${pair.steps} steps, ${pair.compared} bytes, memory ${run.memory >> 10} KiB`);
  assert.ok(run.memory <= memoryMost, "the small module's memory grows");
  if (!one) for (const end of ends) assert.ok(tally.counts[end] > 0, `no ${end} in the whole run`);
}

/** Plays the same acts again and again, modest ones, and gives what was left after each round. */
export async function repeat(t, file, seed, acts, rounds) {
  const run = await Run.of({ file }, seed);
  const { exports } = run.pair.small;
  const after = [];
  try {
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < acts; n++) run.act(n, true);
      exports.heapAlways(1);
      run.pair.tell("pageSaid", 1, 0, "https://nobody.example/");
      exports.heapAlways(0);
      after.push({ live: exports.heapLive(), memory: run.memory });
    }
  } finally {
    run.pair.stop();
  }
  t.diagnostic(after.map(({ live, memory }) => `${live} of ${memory >> 10} KiB`).join(", "));
  return after;
}
