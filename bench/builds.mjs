// What web/dist holds of the module: one build, or two.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "../scripts/gowasm.mjs";

export const dist = (name) => readFileSync(join(top, "web/dist", name));

const has = (name) => existsSync(join(top, "web/dist", name));

/** Go's own build where there is another, which is the package's then. */
export const go = has("turnwire.go.wasm") && ["turnwire.go.wasm", "turnwire.go.mjs"].filter(has);

/** By name, what a page loads besides its script until the module runs: the module first. */
export const builds = { turnwire: ["turnwire.wasm"], ...(go && { "turnwire, Go's build": go }) };

/**
 * Ahead of the package, in a page or a worker: tells how large the module's memory is. Where there is a list `calls`, it
 * gets how long each call into the module takes, in ms.
 */
export function watchModule() {
  const { instantiate } = WebAssembly;
  const timed = (call) => (...args) => {
    const began = performance.now();
    try {
      return call(...args);
    } finally {
      calls.push(performance.now() - began);
    }
  };
  WebAssembly.instantiate = async (...args) => {
    const result = await instantiate.apply(WebAssembly, args);
    const instance = result.instance ?? result;
    const { exports } = instance;
    // Go's build has its memory as `mem`.
    const memory = exports.mem ?? exports.memory;
    globalThis.moduleBytes = () => memory.buffer.byteLength;
    if (globalThis.calls) {
      const wrapped = Object.entries(exports).map(([name, value]) => [name, typeof value === "function" ? timed(value) : value]);
      Object.defineProperty(instance, "exports", { value: Object.fromEntries(wrapped) });
    }
    return result;
  };
}
