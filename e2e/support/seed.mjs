// Randomness that can be had again: a suite prints its seed, and TURNWIRE_SEED replays it.

/** mulberry32: good enough to choose faults by, and the same everywhere. */
export function random(seed) {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number below n. */
  const below = (n) => Math.floor(next() * n);
  return { next, below, pick: (list) => list[below(list.length)] };
}

/** The seed of the day, so that what one machine saw another sees too; said on the test's output. */
export function seedFor(t) {
  const seed = Number(process.env.TURNWIRE_SEED ?? (Math.floor(Date.now() / 86_400_000) * 100_003) % 2 ** 31);
  t.diagnostic(`TURNWIRE_SEED=${seed}`);
  return seed;
}

/** How often each thing happened, for the test's output. */
export class Tally {
  counts = {};
  add(name) {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
  toString() {
    return Object.entries(this.counts).sort().map(([name, n]) => `${name} ${n}`).join(", ");
  }
}
