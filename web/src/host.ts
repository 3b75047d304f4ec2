import { ByteReader } from "./byte-reader.ts";
import { tellHeld } from "./connections.ts";
import { textOf } from "./errors.ts";
import { unlessLeft } from "./leaving.ts";
import { clearTimer, setTimer } from "./timers.ts";

/** What the module may call of the page, and the end of its requests. enter calls back into the module. */
export function pageHost(enter: (run: () => void) => void): { functions: object; abortRequests(): void } {
  const requests = new Set<AbortController>();
  const functions = {
    setTimeout: (fn: () => void, ms: number) => setTimer(() => enter(fn), ms),
    then: (promise: Promise<unknown>, ok: (value: unknown) => void, fail: (reason: unknown) => void) =>
      void promise.then((value) => enter(() => ok(value)), (reason: unknown) => unlessLeft(() => enter(() => fail(reason)))),
    clearTimeout: clearTimer,
    random: Math.random,
    now: () => performance.now(),
    origin: performance.timeOrigin,
    online: () => navigator.onLine !== false,
    // The module aborts every controller in the end. After a crash the loader does, for a browser has few connections.
    AbortController: class extends AbortController {
      constructor() {
        super();
        requests.add(this);
      }
      override abort(): void {
        requests.delete(this);
        super.abort();
      }
    },
    describe: textOf,
    readText,
    holds: tellHeld,
  };
  return { functions, abortRequests: () => requests.forEach((request) => request.abort()) };
}

/** At most limit bytes of a body as text; what is more is not waited for. */
async function readText({ response: { body } }: { response: Response }, limit: number): Promise<string> {
  if (!body) return "";
  const reader = new ByteReader(body, "the body");
  const text = new TextDecoder();
  let read = "";
  for (let left = limit; left > 0; ) {
    const value = await reader.next();
    if (!value) return read + text.decode();
    read += text.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  reader.cancel();
  return read;
}
