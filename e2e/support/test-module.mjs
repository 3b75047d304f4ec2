// The module as the tests alone have it: it can be made to crash, and says what it has under way (jsbridge/page/test_on.go).

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { buildWasm, top } from "../../scripts/gowasm.mjs";
import { Host } from "./host.mjs";

/** Builds and serves it while the tests of a file run; call what it returns for its address. */
export function testModule() {
  let host;
  before(async () => {
    const folder = join(top, ".cache", "e2e");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `testbuild.${process.pid}.wasm`);
    buildWasm(file, { tags: "testbuild" });
    host = await Host.start({ "/test.wasm": { body: readFileSync(file), headers: { "access-control-allow-origin": "*" } } });
    rmSync(file);
  });
  after(() => host?.close());
  return () => `${host.origin}/test.wasm`;
}

/** Ahead of the package: keeps the exports of the module at hand, as `wasm`. */
export function keepExports() {
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...args) => {
    const result = await instantiate(...args);
    globalThis.wasm = result.exports;
    return result;
  };
}

/** In the page: waits until no more than `most` is under way in the module, and says what is. */
export async function moduleAtRest(most) {
  const deadline = performance.now() + 20_000;
  while (wasm.live() > most && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  return { live: wasm.live(), goroutines: wasm.goroutines(), wasmBytes: wasm.mem.buffer.byteLength };
}
