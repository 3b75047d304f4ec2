// turnwire.go.mjs: what a module compiled by Go needs beside it.

import newGo from "wasm-exec";
import { type Control, type Exports, type Page, pageRecords } from "./contract.ts";
import type { Crossing, Runtime } from "./program.ts";

/** Its program sees the page's functions and little else of the global object. */
export const begin: Runtime["begin"] = async (module, page, ended) => {
  let control: Crossing<Control> | undefined;
  let stamp: unknown;
  let reason: unknown = "it ended";
  const started = (given: Crossing<Control>, theirs: unknown): void => {
    control = given;
    stamp = theirs;
  };
  const turnwire = new Proxy(page, { get: (_, name) => (name === "started" ? started : page[name as never]) });
  const Go = newGo({ Object, Array, Uint8Array, Error, Date, crypto, performance, TextEncoder, TextDecoder, turnwire });
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  go.exit = (code) => ended((reason = `exit code ${code}`));
  go.run(instance).then(() => ended(reason), ended);
  if (!control) throw new Error(String(reason));
  const exports = instance.exports as WebAssembly.Exports & Exports & { mem: WebAssembly.Memory };
  return {
    exports, memory: exports.mem, shared: exports.shared(), control, stamp,
    said: () => "",
    stop() {
      // Go's own timers would resume it.
      for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
      go._scheduledTimeouts.clear();
    },
  };
};

export const toPage: Runtime["toPage"] = (functions) =>
  new Proxy(functions, {
    get: (_, name: keyof Page) => (...args: any[]) => {
      if (pageRecords.includes(name)) args.push(JSON.parse(args.pop()));
      return (functions as Crossing<Page>)[name](...args);
    },
  });
