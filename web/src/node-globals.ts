// What Node has not, or has in another way, by the names that a browser has: web/build.mjs puts them in place of those.

import { readFile } from "node:fs/promises";
import { BroadcastChannel as ThreadChannel } from "node:worker_threads";

const { navigator: globalNavigator, reportError: globalReportError } = globalThis;

/** Node's fetches nothing from a file, where the module lies. */
export const fetch: typeof globalThis.fetch = async (input, init) => {
  const url = String(input);
  if (!url.startsWith("file:")) return globalThis.fetch(input, init);
  return new Response(await readFile(new URL(url)), { headers: { "content-type": "application/wasm" } });
};

export const navigator: Partial<Navigator> = globalNavigator ?? {};

/** As an error that nobody caught, which it is. */
export const reportError: typeof globalThis.reportError = globalReportError ?? ((error: unknown) => void setTimeout(() => { throw error; }));

/** The words of other threads keep no process alive that has nothing else to do. Deno's global one can't be told so. */
export class BroadcastChannel extends ThreadChannel {
  constructor(name: string) {
    super(name);
    this.unref();
  }
}
