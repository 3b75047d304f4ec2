// What bench/upload.mjs calls in the page. Each contender is made ready, then uploads the file of the page's input.

import { azure } from "./upload-azure.ts";
import { put } from "./upload-put.ts";
import { tus } from "./upload-tus.ts";
import { turnwire } from "./upload-turnwire.ts";

export interface Way {
  /** Where Azurite takes one blob, signed. */
  signed: string;
  /** Where the tus server takes new files. */
  files: string;
  /** Bytes. */
  blockSize: number;
  concurrency: number;
}

/** Makes ready what a page has made ready long before: the clock runs while what it returns runs, until all is stored. */
export type Contender = (file: File, way: Way) => Promise<() => Promise<{ done: Promise<unknown> } | unknown>>;

const contenders: Record<string, Contender> = {
  turnwire: turnwire(true),
  "turnwire, no checksum": turnwire(false),
  "@azure/storage-blob": azure,
  "tus-js-client": tus,
  "one PUT": put,
};

let upload: Awaited<ReturnType<Contender>>;

Object.assign(globalThis, {
  async prepareUpload(name: string, way: Way) {
    upload = await contenders[name]!(document.querySelector<HTMLInputElement>("input")!.files![0]!, way);
  },

  /** Milliseconds: of the upload, and of each long task meanwhile. */
  async benchUpload() {
    const longTasks: PerformanceEntry[] = [];
    const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries()));
    observer.observe({ type: "longtask" });
    const began = performance.now();
    const rest = await upload();
    const took = performance.now() - began;
    await (rest as { done?: Promise<unknown> } | undefined)?.done;
    // An entry is queued when its task is over.
    await new Promise((resolve) => setTimeout(resolve));
    longTasks.push(...observer.takeRecords());
    return { took, longTasks: longTasks.filter(({ startTime }) => startTime >= began).map(({ duration }) => duration) };
  },
});
