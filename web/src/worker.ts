// The dedicated worker: hashes, so that the page never stalls, and keeps timers, which browsers slow down in hidden pages.

import { stamp } from "./contract.ts";
import { hashChunks, hashWhole, type HashJob } from "./hash.ts";
import { begin, loadRuntime, type Program } from "./program.ts";
import { readAhead } from "./read-ahead.ts";

/** From the page. */
export type ToWorker =
  | { module: WebAssembly.Module; /** Where Go's runtime script lies, "" for a module that needs none. */ runtime: string }
  | { timer: number; after: number }
  | ({ id: number } & HashJob);

/** To the page: at first that the worker is ready, and of which build. */
export type FromWorker = { ready: string } | { fired: number } | { id: number; result: string } | { id: number; unread: unknown } | { broken: string };

/** The most bytes that are in memory as a whole for their sum, and twice: WebCrypto copies what it is given. */
const wholeMost = 16 << 20;

const say = (word: FromWorker): void => postMessage(word);
let started: (program: Program) => void;
const program = new Promise<Program>((resolve) => (started = resolve));
let last: Promise<unknown> = Promise.resolve();

async function start(module: WebAssembly.Module, runtime: string): Promise<void> {
  const begun = await (runtime ? (await loadRuntime(runtime)).begin(module, { crashed: broken }, broken) : begin(module, () => () => 0));
  if (begun.stamp !== stamp) return broken("the module is of another build");
  started(begun);
  say({ ready: stamp });
}

const broken = (reason: unknown): void => say({ broken: String(reason) });

onmessage = ({ data: message }: MessageEvent<ToWorker>) => {
  if ("module" in message) start(message.module, message.runtime).catch(broken);
  else if ("timer" in message) setTimeout(() => say({ fired: message.timer }), message.after);
  else {
    // One after another: the module has room for one sum.
    last = last.then(async () => {
      try {
        const begun = await program;
        say({ id: message.id, result: await (hashWhole(message, wholeMost) ?? hashChunks(begun, message, readAhead(message))) });
      } catch (error) {
        if (error instanceof WebAssembly.RuntimeError) broken(error);
        else say({ id: message.id, unread: error });
      }
    });
  }
};
