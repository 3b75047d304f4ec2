// TinyGo, which compiles the small module: from its Go module, against the LLVM of the system, into .cache/tinygo.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { top } from "./gowasm.mjs";
import { run } from "./run.mjs";

const binaryen = createRequire(import.meta.url)("binaryen/package.json").version;

/** What is chosen here, and so the same on every machine. The Go is the newest that this TinyGo knows. */
export const pinned = { tinygo: "0.39.0", go: "go1.25.5", binaryen };

/** As go.sum says it of TinyGo's module. */
const sum = "h1:neR3OwQxjQo9FTIz28T6AWnir1Yde5H4ZFPkx6haznE=";

/** TinyGo swallows the text of a panic on this target; so it reaches the page. */
export const patch = {
  file: "src/runtime/runtime_tinygowasm_unknown.go",
  from: "func putchar(c byte) {\n}\n",
  to: "//go:wasmimport turnwire putchar\nfunc putchar(c byte)\n",
};

const folder = join(top, ".cache", "tinygo");
const root = join(folder, "root");
const command = join(folder, "tinygo");

/** What a developer may have set for other work is overruled or dropped, as in gowasm.mjs. */
const goEnv = { ...process.env, GOTOOLCHAIN: pinned.go, GOFLAGS: "-trimpath -buildvcs=false", GOWORK: "off" };
for (const name of ["GOOS", "GOARCH", "GOROOT", "GOEXPERIMENT", "CGO_CFLAGS", "CGO_CXXFLAGS", "CGO_CPPFLAGS", "CGO_LDFLAGS"]) delete goEnv[name];

let ready;

/**
 * toolchain makes sure of TinyGo and wasm-opt and returns both, with TinyGo's own files, the environment that it wants,
 * and the versions of all. Ends the process, and says why, where they can't be had.
 */
export function toolchain() {
  return (ready ??= prepare());
}

function prepare() {
  try {
    execFileSync(join(top, "scripts", "apt-install"), ["clang-19=clang-19", "wasm-ld-19=lld-19", "llvm-19-dev", "libclang-19-dev"], { stdio: "inherit" });
  } catch {
    fail("it needs LLVM 19, with the packages named above");
  }
  const versions = { ...pinned, llvm: run("clang-19", ["--version"]).split("\n")[0] };
  const stamp = JSON.stringify({ versions, sum, patch });
  const stampFile = join(folder, "stamp.json");
  if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
    try {
      compile();
    } catch (error) {
      fail(error.message);
    }
    writeFileSync(stampFile, stamp);
  }
  const wasmOpt = join(top, "node_modules", ".bin", "wasm-opt");
  const goroot = goAt(["env", "GOROOT"]).trim();
  const env = { ...goEnv, GOROOT: goroot, TINYGOROOT: root, WASMOPT: wasmOpt, GOCACHE: join(folder, "cache") };
  return { command, root, wasmOpt, env, versions };
}

function compile() {
  console.log(`Compiling TinyGo ${pinned.tinygo} into .cache, which takes a minute or two, once`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const module = JSON.parse(goAt(["mod", "download", "-json", `github.com/tinygo-org/tinygo@v${pinned.tinygo}`]));
  if (module.Sum !== sum) throw new Error(`its Go module has the hash ${module.Sum}, not ${sum}`);
  cpSync(module.Dir, root, { recursive: true });
  run("chmod", ["-R", "u+w", root]); // Go's module cache is read-only, and so are copies of it
  mkdirSync(join(root, "src", "net")); // a git submodule, which the Go module lacks; TinyGo lists the folder

  const patched = join(root, patch.file);
  const source = readFileSync(patched, "utf8");
  if (!source.includes(patch.from)) throw new Error(`${patch.file} holds nothing to patch`);
  writeFileSync(patched, source.replace(patch.from, patch.to));

  // Clang comes with LLVM, and a C++ compiler by another name may be missing.
  goAt(["build", "-tags", "llvm19", "-o", command, "."], { cwd: root, env: { ...goEnv, CGO_ENABLED: "1", CC: "clang-19", CXX: "clang++-19" } });
}

/** goAt runs Go outside of this module, unless told where. */
function goAt(args, options) {
  return run("go", args, { cwd: tmpdir(), env: goEnv, ...options });
}

function fail(reason) {
  console.error(`
No TinyGo ${pinned.tinygo} here: ${reason}

It compiles the small module. It needs apt with root or sudo (or the packages installed by hand), and the network for Go's
modules. Without it, make build works as long as web/small holds the module of the very sources in the tree: undo the
change to those sources, or run make small on a machine that has what is needed and take web/small from there.`);
  process.exit(1);
}
