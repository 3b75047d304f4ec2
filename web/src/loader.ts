import type { InitOptions } from "turnwire";
import { type Crossing, toPage } from "./border.ts";
import { countOthers, hearConnections, holdNone } from "./connections.ts";
import { type Control, stamp } from "./contract.ts";
import { RuntimeLoadError, textOf } from "./errors.ts";
import { Host } from "./host.ts";
import { Instance } from "./instance.ts";
import { instantiate } from "./instantiate.ts";
import { invalid } from "./invalid.ts";
import { type InitConfig, initConfig } from "./validate.ts";

let source: Partial<InitConfig> = {};
let beside: () => URL;
let besideWorker: () => Worker;
let compiling: Promise<WebAssembly.Module> | undefined;
let starting: Promise<Instance> | undefined;
let running: Instance | undefined;

/** Says where the module and the worker lie when the page does not: beside the script, which each entry finds its own way. */
export function setDefault(module: () => URL, worker: () => Worker): void {
  beside = module;
  besideWorker = worker;
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
      source = next;
      compiling = undefined;
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
  // Early, so that what other pages say is known by the time of the first request.
  hearConnections(() => running?.control);
  const module = await compiled();
  let control: Crossing<Control> | undefined;
  let theirs: string | undefined;
  let live: Instance | undefined;
  let reason: unknown = "it ended";
  const host = new Host(() => live);
  const started = (given: Crossing<Control>, stamp?: string): void => {
    theirs = stamp;
    control = given;
  };
  try {
    const { go, program, exports } = await instantiate(module, toPage(host, { started }));
    go.exit = (code) => {
      reason = `exit code ${code}`;
      live?.crash(reason, true);
    };
    const ended = go.run(program);
    if (!control) throw new Error(String(reason));
    if (theirs !== stamp) throw anotherBuild(String(source.wasmURL || (source.wasmModule ? "init's wasmModule" : beside())));
    live = new Instance(exports, control, () => {
      // Go's own timers would resume it.
      for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
      go._scheduledTimeouts.clear();
    });
    live.onCrash.add(() => {
      if (running === live) running = starting = undefined;
      host.close();
      holdNone();
    });
    ended.then(() => live!.crash(reason, true), (error: unknown) => live!.crash(error, true));
  } catch (error) {
    if (error instanceof RuntimeLoadError) throw error;
    throw new RuntimeLoadError(`the module did not start (${textOf(error)}); are turnwire.wasm and the script of one build?`, "module_not_started", false, { cause: error });
  }
  // The same function again is no second listener.
  globalThis.addEventListener?.("online", online);
  globalThis.addEventListener?.("offline", offline);
  running = live;
  countOthers();
  return live;
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
  return (compiling ??= compile().catch((error: unknown) => {
    compiling = undefined;
    throw error;
  }));
}

async function compile(): Promise<WebAssembly.Module> {
  if (source.wasmModule) return source.wasmModule;
  const url = String(source.wasmURL || beside());
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
