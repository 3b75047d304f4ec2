// How Go compiles the standard module, in one place: the package's build, the size breakdown, the reproducibility check and
// the core's tests in Chromium all take it from here, so that what is tested is what is shipped. smallwasm.mjs has the
// small one.

import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const top = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/**
 * Packages that do little for each byte are compiled without inlining, which would cost 18 KB of download (brotli): code,
 * and the tables that go with it.
 */
const unhurried = ["fmt", "reflect", "syscall/js", ...["jsbridge", "jsbridge/contract", "jsbridge/page", "wasm/api", "wasm/retry", "wasm/upload"].map((name) => `github.com/seed-76f09577/turnwire/${name}`)];

/**
 * goEnv is the environment of every Go command for the browser. What a developer may have set for other work is
 * overruled or dropped, for it would change the bytes; no path of the machine (-trimpath) and no state of its
 * checkout (-buildvcs) goes in either. GOWASM names what every supported browser has; Go 1.25 leaves it out by default.
 */
export const goEnv = {
  ...process.env,
  GOOS: "js",
  GOARCH: "wasm",
  CGO_ENABLED: "0",
  GOFLAGS: ["-trimpath", "-buildvcs=false", ...unhurried.map((path) => `-gcflags=${path}=-l`)].join(" "),
  GOWASM: "satconv,signext",
  GOWORK: "off",
};
delete goEnv.GOEXPERIMENT;

/** Function names and DWARF are of no use in a page; a build id would tell two builders apart. */
const shipped = "-s -w -buildid=";

export function go(args, options = {}) {
  return execFileSync("go", args, { cwd: top, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"], ...options });
}

/** buildWasm writes the standard module to out; keepSymbols leaves the names in, to measure by; tags are of a test's build. */
export function buildWasm(out, { keepSymbols = false, tags = "" } = {}) {
  go(["build", "-tags", tags, "-ldflags", keepSymbols ? "" : shipped, "-o", out, "."], { env: goEnv });
  chmodSync(out, 0o644); // a module is data; the packed file would otherwise be marked executable
}

export const goVersion = () => go(["env", "GOVERSION"]).trim();
export const goRoot = () => go(["env", "GOROOT"]).trim();

/** wasmExec reads the runtime script of the very toolchain that compiles: it fits no other. */
export function wasmExec() {
  return readFileSync(join(goRoot(), "lib", "wasm", "wasm_exec.js"), "utf8");
}

/**
 * moduleInfo reads what the linker wrote into a module about its own origin: lines such as "dep\tpath\tversion\tsum".
 * `go version -m` does not know the wasm format, so the text is found between the two marks that frame it
 * (cmd/go/internal/modload, infoStart and infoEnd).
 */
export function moduleInfo(wasm) {
  const start = wasm.indexOf(Buffer.from("3077af0c9274080241e1c107e6d618e6", "hex"));
  const end = wasm.indexOf(Buffer.from("f932433186182072008242104116d8f2", "hex"), start);
  if (start < 0 || end < 0) throw new Error("turnwire.go.wasm carries no build information");
  return wasm.toString("utf8", start + 16, end).trim().split("\n");
}
