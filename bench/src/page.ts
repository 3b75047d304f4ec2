import * as plane from "./data-plane.ts";
import * as hash from "./hash.ts";
import { chunkings, events } from "./stream.ts";
import * as turn from "./turn.ts";

type Contender = ((chunks: Uint8Array<ArrayBuffer>[]) => unknown) & { before?: () => Promise<void> };

type Turnwire = typeof import("./turnwire.ts");

/** Rounds that do not count. */
const warming = 2;

/** Names in an order that rotates with the rounds, and is turned round with each lap: none follows one other more often than it goes before it. */
function order(names: string[], round: number): string[] {
  const lap = Math.floor(round / names.length) % 2 ? [...names].reverse() : names;
  return lap.map((_, i) => lap[(i + round) % lap.length]!);
}

/** Milliseconds of each contender in each round. */
async function rounds(contenders: Record<string, Contender>, chunks: Uint8Array<ArrayBuffer>[], count: number): Promise<Record<string, number[]>> {
  const names = Object.keys(contenders);
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  let expected: string | undefined;
  for (let round = 0; round < warming + count; round++) {
    for (const name of order(names, round)) {
      await contenders[name]!.before?.();
      const began = performance.now();
      const result = JSON.stringify(await contenders[name]!(chunks));
      const took = performance.now() - began;
      if (result !== (expected ??= result)) throw new Error(`${name} read ${result}, not ${expected}`);
      if (round >= warming) times[name]!.push(took);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return times;
}

/** The builds of the package, by the names that are given with their modules. */
const turnwire: Record<string, Turnwire> = {};

const each = <T>(of: (build: Turnwire) => T): Record<string, T> => Object.fromEntries(Object.entries(turnwire).map(([name, build]) => [name, of(build)]));

Object.assign(globalThis, {
  async prepareBuilds(modules: Record<string, string>) {
    for (const [name, module] of Object.entries(modules)) turnwire[name] = await import(`/turnwire.js?${module}`) as Turnwire;
  },

  async benchDataPlane(count: number) {
    const ours: Record<string, Contender> = {};
    for (const [name, build] of Object.entries(turnwire)) ours[name] = await build.plane();
    const out: Record<string, unknown> = {};
    for (const [name, chunks] of Object.entries(chunkings())) {
      out[name] = await rounds({ ...ours, "eventsource-parser": plane.parser }, chunks, count);
    }
    return { amount: events, times: out };
  },

  async benchTurn(count: number) {
    const out: Record<string, unknown> = {};
    for (const [name, chunks] of Object.entries(chunkings())) {
      out[name] = await rounds({ ...each((build) => build.turn), openai: turn.openai, "eventsource-parser": turn.parser }, chunks, count);
    }
    return { amount: events, times: out };
  },

  async benchHash(count: number) {
    const times = await rounds({ ...each((build) => build.hash), WebCrypto: hash.webCrypto }, [hash.bytes()], count);
    return { amount: hash.size, times: { "in memory": times } };
  },

  /** Milliseconds that each of so many events waited, by build, a list of rounds each. */
  async benchLatency(count: number, events: number) {
    const waits: Record<string, number[][]> = each(() => []);
    for (let round = 0; round < count; round++) {
      for (const name of order(Object.keys(turnwire), round)) waits[name]!.push(await turnwire[name]!.latency(events));
    }
    return waits;
  },
});
