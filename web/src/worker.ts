// The dedicated worker: hashes, so that the page never stalls, and keeps timers, which browsers slow down in hidden pages.

import { stamp } from "./contract.ts";
import { hashRange, type HashJob } from "./hash.ts";
import { instantiate, type ProgramExports } from "./instantiate.ts";

/** From the page. */
export type ToWorker =
  | { module: WebAssembly.Module }
  | { timer: number; after: number }
  | ({ id: number } & HashJob);

/** To the page: at first that the worker is ready, and of which build. */
export type FromWorker = { ready: string } | { fired: number } | { id: number; result: string } | { id: number; unread: unknown } | { broken: string };

const say = (word: FromWorker): void => postMessage(word);
let started: (exports: ProgramExports) => void;
const exports = new Promise<ProgramExports>((resolve) => (started = resolve));
let last: Promise<unknown> = Promise.resolve();

async function start(module: WebAssembly.Module): Promise<void> {
  let theirs: unknown;
  const { go, program, exports } = await instantiate(module, { started: (_: unknown, stamp: unknown) => void (theirs = stamp), crashed: broken });
  go.run(program).catch(broken);
  if (theirs !== stamp) return broken("the module is of another build");
  started(exports);
  say({ ready: stamp });
}

const broken = (reason: unknown): void => say({ broken: String(reason) });

onmessage = ({ data: message }: MessageEvent<ToWorker>) => {
  if ("module" in message) start(message.module).catch(broken);
  else if ("timer" in message) setTimeout(() => say({ fired: message.timer }), message.after);
  else {
    // One after another: the module has room for one sum.
    last = last.then(async () => {
      try {
        say({ id: message.id, result: await hashRange(await exports, message) });
      } catch (error) {
        if (error instanceof WebAssembly.RuntimeError) broken(error);
        else say({ id: message.id, unread: error });
      }
    });
  }
};
