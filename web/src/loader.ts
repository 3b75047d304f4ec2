import type { InitOptions } from "turnwire";
import { type Page, stamp } from "./contract.ts";
import { toImport } from "./border.ts";
import { RuntimeLoadError, textOf } from "./errors.ts";
import { Host } from "./host.ts";
import { Instance } from "./instance.ts";

import { invalid } from "./invalid.ts";
import { hearPages, holdNone } from "./pages.ts";
import { begin, loadRuntime, needsRuntime, type Program } from "./program.ts";
import { type InitConfig, initConfig } from "./validate.ts";

let source: Partial<InitConfig> = {};
let beside: () => URL;
let besideWorker: () => Worker;
let compiling: Promise<WebAssembly.Module> | undefined;
let starting: Promise<Instance> | undefined;
let running: Instance | undefined;

/**
 * Says where the module and the worker lie when the page does not: beside the script, which each entry finds its own way.
 * In a page the module is on its way from then on: the next task, so that who imports the package may still say that it lies
 * elsewhere.
 */
export function setDefault(module: () => URL, worker: () => Worker): void {
  beside = module;
  besideWorker = worker;
  // A failure is the first call's to tell, which tries again.
  if (typeof document !== "undefined") setTimeout(() => compiled().catch(() => {}));
}

/** Where the module comes from. */
const address = (): string => (source.wasmModule ? "init's wasmModule" : String(source.wasmURL || beside()));

/** Where Go's runtime script lies that a module needs: beside it, unless the page says otherwise. "" where it needs none. */
export function runtimeOf(module: WebAssembly.Module): string {
  if (!needsRuntime(module)) return "";
  return String(source.runtimeURL || new URL("turnwire.go.mjs", new URL(String(source.wasmURL || beside()), globalThis.location?.href)));
}

/** Starts the worker; undefined where the page wants none. */
export function workerMaker(): (() => Worker) | undefined {
  const { workerURL } = source;
  if (workerURL === undefined) return besideWorker;
  return workerURL === false ? undefined : () => new Worker(workerURL, { type: "module" });
}

/** The instance, where it runs already. */
export const current = (): Instance | undefined => running;

/** The instance, started where it is not. A failed start is tried again by the next call. */
export function instance(): Promise<Instance> {
  return (starting ??= start().catch((error: unknown) => {
    starting = undefined;
    throw error;
  }));
}

export function init(options?: InitOptions): Promise<void> {
  try {
    const next = initConfig(options);
    if (starting && options !== undefined && (Object.keys(next) as (keyof InitConfig)[]).some((name) => next[name] !== source[name])) {
      throw invalid("options", "given before the first client is made: the module is being loaded from elsewhere already");
    }
    if (!starting && options !== undefined) {
      if (next.wasmURL !== source.wasmURL || next.wasmModule !== source.wasmModule) compiling = undefined;
      source = next;
    }
  } catch (error) {
    return Promise.reject(error);
  }
  return instance().then(() => undefined);
}

async function start(): Promise<Instance> {
  if (typeof WebAssembly !== "object") {
    throw new RuntimeLoadError("this browser has no WebAssembly, or it is switched off", "wasm_unsupported");
  }
  const module = await compiled();
  let live: Instance | undefined;
  const host = new Host(() => live);
  try {
    const runtime = runtimeOf(module);
    const program = await (runtime
      ? beginGo(runtime, module, host, (reason) => live?.crash(reason, true))
      : begin(module, (name, form, text) => toImport(host, name as keyof Page, form, text)));
    if (program.stamp !== stamp) throw anotherBuild(address());
    live = new Instance(program);
    live.onCrash.add(() => {
      if (running === live) running = starting = undefined;
      host.close();
      holdNone();
    });
  } catch (error) {
    if (error instanceof RuntimeLoadError) throw error;
    throw new RuntimeLoadError(`the module did not start (${textOf(error)}); are turnwire.wasm and the script of one build?`, "module_not_started", false, { cause: error });
  }
  // The same function again is no second listener.
  globalThis.addEventListener?.("online", online);
  globalThis.addEventListener?.("offline", offline);
  running = live;
  hearPages((...word) => running?.control.pageSaid(...word));
  return live;
}

async function beginGo(url: string, module: WebAssembly.Module, host: Host, ended: (reason: unknown) => void): Promise<Program> {
  const { begin, toPage } = await loadRuntime(url).catch((error: unknown) => {
    throw new RuntimeLoadError(
      `Go's runtime script at ${url} could not be loaded (${textOf(error)}): a module compiled by Go needs turnwire.go.mjs of its build, ` +
      "beside it or where init's runtimeURL says", "runtime_unreachable", true, { cause: error });
  });
  return begin(module, toPage(host), ended);
}

function online(): void {
  running?.control.wentOnline();
}

function offline(): void {
  running?.control.wentOffline();
}

/**
 * A script and a module that were not built together may still run, and say wrong things. A second try may get the right
 * one: what was compiled is forgotten.
 */
function anotherBuild(from: string): RuntimeLoadError {
  compiling = undefined;
  return new RuntimeLoadError(
    `the module at ${from} is of another build than this script: a cache may have brought one of them from before. ` +
    "Load the page without its cache, and serve both files of one release under an address that names it", "module_of_another_build", true);
}

/** The module, compiled once a page. A failure is tried again by the next call. */
export function compiled(): Promise<WebAssembly.Module> {
  return (compiling ??= compile());
}

function compile(): Promise<WebAssembly.Module> {
  const mine = fetched().catch((error: unknown) => {
    if (compiling === mine) compiling = undefined;
    throw error;
  });
  return mine;
}

async function fetched(): Promise<WebAssembly.Module> {
  if (source.wasmModule) return source.wasmModule;
  const url = address();
  const fail = (code: string, message: string, cause?: unknown): RuntimeLoadError =>
    new RuntimeLoadError(`the module at ${url} ${message}`, code, code === "module_unreachable", { cause });
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin" });
  } catch (error) {
    throw fail("module_unreachable", `could not be fetched (${textOf(error)}): check the address (init's wasmURL), CORS and the page's connect-src policy`, error);
  }
  if (!response.ok) {
    throw fail("module_not_found", `answered ${response.status}: check that turnwire.wasm is served there, or say where it is with init({ wasmURL })`);
  }
  const type = response.headers.get("content-type");
  try {
    // A response can be consumed once, so its type decides: compileStreaming refuses every other.
    if (/^application\/wasm$/i.test(type?.trim() ?? "") && WebAssembly.compileStreaming) return await WebAssembly.compileStreaming(response);
    const bytes = await response.arrayBuffer();
    if (new Uint32Array(bytes.slice(0, 4))[0] !== 0x6d736100) {
      throw fail("module_not_wasm", `is no WebAssembly (Content-Type ${type ?? "missing"}): a server often answers a missing file with a page; check the address`);
    }
    return await WebAssembly.compile(bytes);
  } catch (error) {
    if (error instanceof RuntimeLoadError) throw error;
    throw fail("module_not_compiled", `could not be compiled (${textOf(error)}): check that it arrives whole, and that a Content-Security-Policy has script-src 'wasm-unsafe-eval'`, error);
  }
}
