// The package outside of a page: in Node, Deno and Bun, as a server's route or somebody's own test has it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { Service } from "./support/service.mjs";

const own = import.meta.dirname;
const bin = (name, path) => join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path);

const runtimes = {
  node: [process.execPath],
  deno: [process.execPath, bin("deno", "bin.cjs"), "run", "--allow-all", "--quiet"],
  bun: [bin("bun", "bin/bun.exe"), "run"],
};

let service;
before(async () => (service = await Service.start("-pace", "2ms")));
after(() => service.close());

/** Runs a file until it has ended by itself, and gives what it wrote. */
async function run([command, ...args], file, ...more) {
  const child = spawn(command, [...args, join(own, "runtimes", file), ...more], { cwd: own, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let said = "", complained = "";
  child.stdout.on("data", (data) => (said += data));
  child.stderr.on("data", (data) => (complained += data));
  const code = await new Promise((resolve, reject) => child.on("close", resolve).on("error", reject));
  process.off("exit", kill);
  assert.equal(code, 0, complained);
  return said;
}

for (const [name, command] of Object.entries(runtimes)) {
  test(`in ${name} importing does nothing`, async () => {
    assert.equal(await run(command, "import.mjs"), "function 0\n");
  });

  for (const wasm of ["turnwire.wasm", "turnwire.go.wasm"]) {
    test(`in ${name} a turn, a stop and an upload, by ${wasm}; it ends by itself`, async () => {
      const seen = JSON.parse(await run(command, "client.mjs", service.origin, ...(wasm === "turnwire.wasm" ? [] : [wasm])));
      assert.match(seen.turn.text, /391/);
      assert.deepEqual({ ...seen.turn, text: "" }, { text: "", events: true, tools: [["calculator", "finished"]], status: "completed" });
      assert.deepEqual(seen.uncaught, ["Error: a listener's own"]);
      assert.equal(seen.stopped, "cancelled");
      assert.equal((await service.over(seen.chat)).status, "cancelled");
      const { id, ...upload } = seen.upload;
      assert.deepEqual(upload, { status: "ready", stage: "done", loaded: 3 << 20, forward: true });
      assert.equal((await service.file(id)).checksum, seen.sum);
      assert.equal(seen.refused, "connection_failed");
      assert.equal(seen.logs.filter((message) => message.startsWith("no record can be kept")).length, 1, JSON.stringify(seen.logs));
    });
  }
}
