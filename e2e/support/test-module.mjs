// The module as the tests alone have it: it can be made to crash, and says what it has under way (jsbridge/page/test_on.go).

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { buildWasm, top } from "../../scripts/gowasm.mjs";
import { buildSmall } from "../../scripts/smallwasm.mjs";
import { build } from "./build.mjs";
import { Host } from "./host.mjs";

/** Builds and serves it while the tests of a file run; call what it returns for the options of init. Its pages need `hooked`. */
export function testModule() {
  let host;
  before(async () => {
    const folder = join(top, ".cache", "e2e");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `testbuild.${process.pid}.wasm`);
    await (build === "go" ? buildWasm : buildSmall)(file, { tags: "testbuild" });
    host = await Host.start({ "/test.wasm": { body: readFileSync(file), headers: { "access-control-allow-origin": "*" } } });
    rmSync(file);
  });
  after(() => host?.close());
  return () => ({ wasmURL: `${host.origin}/test.wasm`, runtimeURL: "/turnwire/turnwire.go.mjs" });
}

/**
 * Ahead of the package: keeps the exports of the module at hand, as `wasm`, and its memory, as `wasmMemory`, and counts the instances. The module
 * crashes where performance.turnwireCrash says, "name" or "name:memory", and at its next word to the page once `trap` is set.
 */
export function hooked() {
  // A module whose export "trap" is an unreachable instruction.
  const code = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 116, 114, 97, 112, 0, 0, 10, 5, 1, 3, 0, 0, 11];
  const unreachable = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(code))).exports.trap;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (module, imports) => {
    // In the standard build the module looks for itself where it is to crash.
    for (const functions of Object.values(imports)) {
      for (const [name, call] of Object.entries(functions)) {
        functions[name] = (...args) => {
          if (globalThis.trap) {
            globalThis.trap = false;
            unreachable();
          }
          return call(...args);
        };
      }
    }
    let memory;
    if (imports.turnwire) {
      imports.turnwire.crashAsked = (at, size) => {
        const name = new TextDecoder().decode(new Uint8Array(memory.buffer, at, size));
        const how = [name, `${name}:memory`].indexOf(performance.turnwireCrash) + 1;
        if (how > 0) performance.turnwireCrash = "";
        return how;
      };
    }
    const result = await instantiate(module, imports);
    globalThis.instances = (globalThis.instances ?? 0) + 1;
    globalThis.wasm = result.exports;
    globalThis.wasmMemory = memory = result.exports.memory ?? result.exports.mem;
    return result;
  };
}

/** In the page: waits until no more than `most` is under way in the module, and says what is. */
export async function moduleAtRest(most) {
  const deadline = performance.now() + 20_000;
  while (wasm.live() > most && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  return { live: wasm.live(), goroutines: wasm.goroutines(), wasmBytes: wasmMemory.buffer.byteLength };
}
