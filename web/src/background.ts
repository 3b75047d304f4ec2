import { stamp } from "./contract.ts";
import { hashChunks, hashWhole, type HashJob, slices } from "./hash.ts";
import { compiled, instance, runtimeOf, workerMaker } from "./loader.ts";
import { fired, keepTimers } from "./timers.ts";
import type { FromWorker, ToWorker } from "./worker.ts";
import { shouldYield, yieldToPage } from "./yielding.ts";

// The worker is there while an upload needs it. Whatever is wrong with it, the page does its work instead.

type Waiter = { job: HashJob; resolve(result: string): void; reject(reason: unknown): void };

interface Helper {
  worker: Worker;
  waiting: Map<number, Waiter>;
}

let users = 0;
let helper: Helper | undefined;
let useless = false;
let lastId = 0;

/** Wants the worker until release is called. */
export function useWorker(): () => void {
  users++;
  if (!helper && !useless) start();
  let released = false;
  return () => {
    if (released) return;
    released = true;
    if (--users === 0 && helper) end(helper);
  };
}

function start(): void {
  let worker: Worker | undefined;
  try {
    worker = workerMaker()?.();
  } catch {
    // A script of another origin makes no worker, and a Content-Security-Policy may allow none.
    useless = true;
  }
  if (!worker) return;
  const mine: Helper = (helper = { worker, waiting: new Map() });
  const give = (message: ToWorker): void => worker.postMessage(message);
  const failed = (): void => {
    useless = true;
    end(mine);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    failed();
  };
  worker.onmessage = ({ data: message }: MessageEvent<FromWorker>) => {
    if ("broken" in message) failed();
    // What another build says can't be relied on.
    else if ("ready" in message && message.ready !== stamp) failed();
    else if ("ready" in message) keepTimers((timer, after) => give({ timer, after }));
    else if ("fired" in message) fired(message.fired);
    else {
      const waiter = mine.waiting.get(message.id)!;
      mine.waiting.delete(message.id);
      if ("result" in message) waiter.resolve(message.result);
      else waiter.reject(message.unread);
    }
  };
  compiled().then((module) => give({ module, runtime: runtimeOf(module) })).catch(failed);
}

function end(old: Helper): void {
  if (helper !== old) return;
  helper = undefined;
  old.worker.terminate();
  keepTimers(undefined);
  // What it was hashing begins with the state that the page gave it.
  for (const { job, resolve, reject } of old.waiting.values()) inPage(job).then(resolve, reject);
}

/** The most bytes that are summed without the worker, by WebCrypto: Chromium does it on the calling thread, 4 MiB in 20 ms. */
export const smallMost = 4 << 20;

/** Adds a range to a sum; see hashChunks. */
export async function hash(job: HashJob): Promise<string> {
  const whole = hashWhole(job, smallMost);
  if (whole) return whole;
  if (!helper) return inPage(job);
  const { data } = job;
  const { worker, waiting } = helper;
  return new Promise((resolve, reject) => {
    waiting.set(++lastId, { job, resolve, reject });
    if (data instanceof Uint8Array) {
      // Posted as it is, a view would take the whole of its buffer along.
      const copy = data.slice();
      worker.postMessage({ id: lastId, ...job, data: copy } satisfies ToWorker, [copy.buffer]);
    } else worker.postMessage({ id: lastId, ...job } satisfies ToWorker);
  });
}

let last: Promise<unknown> = Promise.resolve();

/** Hashes on the page's thread, which gets its turn every few milliseconds. One range after another: the module has room for one sum. */
function inPage(job: HashJob): Promise<string> {
  const result = last.then(async () => {
    const running = await instance();
    try {
      return await hashChunks(running.program, job, slices(job.data), () => {
        if (!running.alive) throw running.error;
        return shouldYield() ? yieldToPage() : undefined;
      });
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) running.trapped(error);
      throw error;
    }
  });
  last = result.catch(() => {});
  return result;
}
