// Runs the core's tests compiled by TinyGo, which may be at fault where Go is not: `node scripts/test-tinygo.mjs [package
// ...]`. They are compiled as the small module is, and each test runs in a program of its own: a panic ends all of a program,
// for nothing recovers from it here, and memory that nothing collects is let go with the program.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { top } from "./gowasm.mjs";
import { compile, targetFile } from "./smallwasm.mjs";
import { toolchain } from "./tinygo.mjs";

/** Files of tests that are not compiled, and what they need that is not here. None holds a test that does without. */
const leftOut = {
  "wasm/checksum/bench_test.go": "benchmarks, which test nothing; testing.B has no ReportMetric",
  "wasm/json/stack_test.go": "runtime.MemStats has no StackSys",
  "wasm/retry/date_fuzz_test.go": "there is no net/http",
  "wasm/sse/bench_test.go": "benchmarks, which test nothing; testing.B has no ReportMetric and no Elapsed",
  "wasm/sse/differential_test.go": "asks a program of npm's: nothing runs one here",
};

/** As Go does: what runs for longer hangs. */
const minutes = 10;

const folder = join(top, ".cache", "core-tests");
const targetHere = join(folder, "target.json");

/**
 * prepare copies the core, with our own testify in the place of the other, and returns its packages and their tests.
 * Nothing collects, so that code is compiled as it is where only the page's calls collect between them, and the runtime
 * counts what it gives out.
 */
function prepare() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(top, "wasm"), join(folder, "wasm"), { recursive: true });
  cpSync(join(top, "scripts", "testify"), join(folder, "testify"), { recursive: true });
  for (const file of Object.keys(leftOut)) rmSync(join(folder, file));
  const module = readFileSync(join(top, "go.mod"), "utf8").match(/^module .*\n\ngo .*\n/)[0];
  writeFileSync(join(folder, "go.mod"), `${module}\nrequire github.com/stretchr/testify v0.0.0\n\nreplace github.com/stretchr/testify => ./testify\n`);
  const { buildmode, ...target } = JSON.parse(readFileSync(targetFile, "utf8"));
  target.ldflags = target.ldflags.filter((flag) => flag !== "--no-entry");
  writeFileSync(targetHere, JSON.stringify({ ...target, gc: "leaking" }));
  const names = ["testify/assert", ...readdirSync(join(folder, "wasm")).sort().map((name) => `wasm/${name}`)];
  const tested = names.filter((name) => readdirSync(join(folder, name)).some((file) => file.endsWith("_test.go")));
  return tested.map((name) => ({ name, tests: testsOf(name) }));
}

/** testsOf makes a package ready to be compiled and returns the names of its tests, those of the fuzz targets among them. */
function testsOf(name) {
  const tests = [];
  const targets = [];
  for (const file of readdirSync(join(folder, name)).filter((file) => file.endsWith("_test.go"))) {
    const path = join(folder, name, file);
    const source = readFileSync(path, "utf8");
    tests.push(...[...source.matchAll(/^func (Test\w+)\(\w+ \*testing\.T\)/gm)].map((match) => match[1]));
    const here = [...source.matchAll(/^func (Fuzz\w+)\(\w+ \*testing\.F\)/gm)].map((match) => match[1]);
    if (here.length === 0) continue;
    targets.push(...here);
    // By another name, for Go would list them for TinyGo's testing.
    const own = source.replace(/^func Fuzz(\w+)\((\w+) \*testing\.F\)/gm, "func fuzz$1($2 *seeds.F)");
    writeFileSync(path, own.replace('\t"testing"\n', '\t"testing"\n\n\t"github.com/stretchr/testify/seeds"\n'));
  }
  if (tests.length + targets.length === 0) throw new Error(`${name} has files of tests, and no test in them`);
  const wrapped = targets.map((target) => `
func Test${target}(t *testing.T) {
	f := seeds.New(t)
${found(name, target).map((seed) => `	f.Add(${seed})\n`).join("")}	${target.replace("Fuzz", "fuzz")}(f)
}
`);
  writeFileSync(join(folder, name, "tinygo_test.go"), `package ${basename(name)}

import (
	"os"
	"testing"
${targets.length > 0 ? '\n\t"github.com/stretchr/testify/seeds"\n' : ""})

//go:wasmimport turnwire argument
func argument(i uint32) uint32

func init() {
	var text []byte
	for c := argument(0); c != 0; c = argument(uint32(len(text))) {
		text = append(text, byte(c))
	}
	os.Args = append(os.Args, "-test.v", string(text))
	testing.Init()
}
${wrapped.join("")}`);
  return [...tests, ...targets.map((target) => `Test${target}`)];
}

/** found returns the inputs under testdata that fuzzing found, each as the arguments that Go's own form of them is. */
function found(name, target) {
  const corpus = join(folder, name, "testdata", "fuzz", target);
  if (!existsSync(corpus)) return [];
  return readdirSync(corpus).map((file) => readFileSync(join(corpus, file), "utf8").trim().split("\n").slice(1).join(", "));
}

/** test compiles a package, runs its tests and returns what failed. */
async function test({ name, tests }) {
  const began = Date.now();
  const { command, env } = toolchain();
  const file = join(folder, name, "test.wasm");
  const compiled = await said(spawn(command, ["test", "-c", `-target=${targetHere}`, ...compile, "-o", file, "."], { cwd: join(folder, name), env }));
  const failed = compiled.status === 0 ? await ran(file, tests) : `does not compile:\n${compiled.text}`;
  const took = `${((Date.now() - began) / 1000).toFixed(1)} s`;
  console.log(failed ? `${failed}\nFAIL  ${name}  ${took}` : `ok    ${name}  ${tests.length} tests  ${took}`);
  return failed;
}

function said(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (more) => (text += more));
    child.on("error", reject).on("close", (status) => resolve({ status, text }));
  });
}

/** ran runs the tests in a thread, which can be ended, and returns what failed. */
function ran(file, tests) {
  return new Promise((resolve, reject) => {
    const thread = new Worker(import.meta.filename, { workerData: { file, tests } });
    let running;
    const failures = [];
    const late = setTimeout(() => {
      failures.push(`${running} still ran after ${minutes} minutes`);
      thread.terminate();
    }, minutes * 60_000);
    thread.on("message", ({ test, failure }) => {
      running = test;
      if (failure) failures.push(failure);
    });
    thread.on("error", reject).on("exit", () => {
      clearTimeout(late);
      resolve(failures.join("\n"));
    });
  });
}

/** runAll runs each test in a program of its own, and judges it by the last words of the test runner. */
function runAll({ file, tests }) {
  const module = new WebAssembly.Module(readFileSync(file));
  for (const test of tests) {
    parentPort.postMessage({ test });
    const argument = Buffer.from(`-test.run=^${test}$\0`);
    const bytes = [];
    let trap;
    try {
      new WebAssembly.Instance(module, { turnwire: { putchar: (byte) => bytes.push(byte), argument: (i) => argument[i] } }).exports._start();
    } catch (error) {
      trap = error;
    }
    const text = Buffer.from(bytes).toString();
    // A program can't end but by a panic.
    const passed = text.includes(`\n--- PASS: ${test} (`) && text.endsWith("\nPASS\npanic: runtime error: unsupported: syscall.Exit\n");
    if (!passed) parentPort.postMessage({ test, failure: `--- FAIL: ${test}\n${text.slice(-4_000)}${trap?.stack ?? ""}` });
  }
}

if (isMainThread) {
  const asked = process.argv.slice(2);
  const packages = prepare().filter(({ name }) => asked.length === 0 || asked.includes(name));
  if (packages.length === 0) throw new Error(`no package with tests: ${asked}`);
  toolchain();
  const next = async () => {
    while (packages.length > 0) if (await test(packages.pop())) process.exitCode = 1;
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, next));
} else {
  runAll(workerData);
}
