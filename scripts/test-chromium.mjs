// Runs the tests of the code that goes into the module in headless Chromium, each package compiled as it is shipped:
// `node scripts/test-chromium.mjs [flags of go test]`.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { go, goEnv, top, wasmExec } from "./gowasm.mjs";

const cache = join(top, ".cache");

// Built for this machine, so before any GOOS=js.
const runner = join(cache, "wasmbrowsertest");
go(["build", "-o", runner, "github.com/agnivade/wasmbrowsertest"]);

// The runner looks for the script where Go kept it before 1.24. Two things are added for it: its file system has no
// O_DIRECTORY, without which Go lists no folder and so fails every fuzz target over its corpus; and a timer still set
// when a test program ends must not resume it, for the runner takes that error for the program's.
const runtimeScript = `${wasmExec()}
let constants;
Object.defineProperty(globalThis.fs, "constants", { get: () => constants, set: (given) => (constants = { O_DIRECTORY: 0, ...given }) });
const resume = Go.prototype._resume;
Go.prototype._resume = function () {
  if (this.exited) this._scheduledTimeouts.clear();
  else resume.call(this);
};
`;
const shim = join(cache, "goroot");
mkdirSync(join(shim, "misc", "wasm"), { recursive: true });
writeFileSync(join(shim, "misc", "wasm", "wasm_exec.js"), runtimeScript);

// The runner hands its whole environment on to the program, which takes 8 KiB of arguments and environment at most.
const passed = ["PATH", "HOME", "TMPDIR"].filter((name) => process.env[name]).map((name) => `${name}=${process.env[name]}`);
const exec = ["env", "-i", ...passed, `GOROOT=${shim}`, runner].map((word) => `'${word}'`).join(" ");

const hasTests = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}";
const packages = go(["list", "-f", hasTests, ".", "./wasm/...", "./jsbridge/..."], { env: goEnv }).split("\n").filter(Boolean);

const test = spawn("go", ["test", "-vet=off", "-exec", exec, ...process.argv.slice(2), ...packages], {
  cwd: top,
  env: goEnv,
  stdio: ["ignore", "pipe", "inherit"],
});
createInterface({ input: test.stdout }).on("line", (line) => {
  // The runner's protocol is older than the browser's: it complains of values that it does not know and goes on.
  if (!/IPAddressSpace/.test(line)) console.log(unquoted(line));
});
test.on("close", (status) => (process.exitCode = status ?? 1));

/** unquoted undoes the JSON form in which the runner leaves output that holds characters outside the BMP. */
function unquoted(line) {
  try {
    return /^".*"$/.test(line) ? JSON.parse(line) : line;
  } catch {
    return line;
  }
}
