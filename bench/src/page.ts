import * as plane from "./data-plane.ts";
import { latency } from "./latency.ts";
import { chunkings, events } from "./stream.ts";
import * as turn from "./turn.ts";
import { setDefault } from "../../web/src/loader.ts";

setDefault(() => new URL("/turnwire.wasm", location.href));

type Contender = ((chunks: Uint8Array[]) => unknown) & { before?: () => Promise<void> };

/** Milliseconds of each contender in each round; the order rotates, so that none always follows the same other. */
async function rounds(contenders: Record<string, Contender>, chunks: Uint8Array[], count: number): Promise<Record<string, number[]>> {
  const names = Object.keys(contenders);
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  let expected: string | undefined;
  for (let round = -2; round < count; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round + names.length * 2) % names.length]!;
      await contenders[name]!.before?.();
      const began = performance.now();
      const result = JSON.stringify(await contenders[name]!(chunks));
      const took = performance.now() - began;
      if (result !== (expected ??= result)) throw new Error(`${name} read ${result}, not ${expected}`);
      if (round >= 0) times[name]!.push(took);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return times;
}

Object.assign(globalThis, {
  async benchDataPlane(count: number) {
    const ours = await plane.ours();
    const out: Record<string, unknown> = {};
    for (const [name, chunks] of Object.entries(chunkings())) {
      out[name] = await rounds({ turnwire: ours, "eventsource-parser": plane.theirs }, chunks, count);
    }
    return { events, times: out };
  },
  async benchTurn(count: number) {
    const out: Record<string, unknown> = {};
    for (const [name, chunks] of Object.entries(chunkings())) {
      out[name] = await rounds({ turnwire: turn.ours, openai: turn.openai, "eventsource-parser": turn.parser }, chunks, count);
    }
    return { events, times: out };
  },
  benchLatency: latency,
});
