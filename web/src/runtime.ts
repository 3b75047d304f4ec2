import type { InitOptions, TurnEvent, UploadStage } from "turnwire";
import { ByteReader, tagOf } from "./byte-reader.ts";
import { countOthers, hearConnections, holdNone, tellHeld } from "./connections.ts";
import { RuntimeCrashError, RuntimeLoadError } from "./errors.ts";
import { chunkSize, count, type Exports, instantiate, marks, out, size, stamp, state } from "./instantiate.ts";
import { invalid } from "./invalid.ts";
import { unlessLeft } from "./leaving.ts";
import { clearTimer, setTimer } from "./timers.ts";
import { object } from "./validate.ts";

/** error is an ErrorSpec's JSON. */
export type Settle = (error: string | null, ...values: string[]) => void;

export interface Sink {
  opened(body: ReadableStream<Uint8Array> | null): void;
  ended(outcome: string): void;
}

/** What the module asks of an upload's data and tells of its end; see jsbridge/upload.go. */
export interface UploadSink {
  /** header: a JSON array of names and values; body: sent where from is to; want: names, each with a comma. */
  store(id: number, method: string, url: string, header: string, from: number, to: number, body: string, want: string): void;
  cancel(id: number): void;
  hash(from: number, to: number, state: string, last: boolean): void;
  release(before: number): void;
  report(
    stage: UploadStage, loadedBytes: number, totalBytes: number, blocksDone: number, blocksTotal: number,
    bytesPerSecond: number, secondsLeft: number, fileId: string, protocol: string,
  ): void;
  /** record: what is to be kept at the end; "" while it can be asked for. */
  save(record: string): void;
  forget(): void;
  /** Step 1's answer, to be told by ticketMapped. */
  map(body: string): void;
  status(file: string): void;
  ended(outcome: string): void;
}

/** What the module gives the loader; see jsbridge/bridge.go. */
interface Control {
  openClient(config: object): number;
  closeClient(client: number): void;
  createChat(client: number, workspaceId: string, agentId: string, isTemporary: boolean | undefined, options: object, settle: Settle): number;
  abortChat(client: number, chatId: string, options: object, settle: Settle): number;
  cancelCall(call: number): void;
  startTurn(client: number, params: object, sink: Sink): number;
  abortTurn(turn: number, settle: Settle): void;
  disconnectTurn(turn: number): void;
  streamEnded(turn: number, reason: unknown): void;
  wentOnline(): void;
  wentOffline(): void;
  othersMove(root: string): void;
  othersHold(root: string, held: number): void;
  getFile(client: number, fileId: string, options: object, settle: Settle): number;
  reportFailed(client: number, fileId: string, why: string, options: object, settle: Settle): number;
  waitFile(client: number, fileId: string, options: object, status: (file: string) => void, settle: Settle): number;
  cancelWait(wait: number): void;
  startUpload(client: number, params: object, record: string, sink: UploadSink): number;
  pauseUpload(upload: number): void;
  resumeUpload(upload: number): void;
  abortUpload(upload: number): void;
  uploadRecord(upload: number): string | null;
  ticketMapped(upload: number, ticket: string | null, why: string): void;
  storeBegun(upload: number, request: number): void;
  storeAlive(upload: number, request: number): void;
  dataMoved(upload: number): void;
  storeProgress(upload: number, request: number, sent: number): void;
  storeAnswered(upload: number, request: number, status: number, header: string[], body: string): void;
  storeFailed(upload: number, request: number, detail: string): void;
  hashed(upload: number, at: number, state: string, sum: string): void;
  dataFailed(upload: number, at: number, detail: string): void;
}

// The text of an answer may begin with U+FEFF, which is no byte order mark there.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const ascii = Array.from({ length: 0x7f }, (_, c) => String.fromCharCode(c));

/** One running module. */
export class Instance {
  readonly exports: Exports;
  readonly control: Control;
  /** Told once, when the instance stops working. */
  readonly onCrash = new Set<(error: RuntimeCrashError) => void>();
  alive = true;
  /** The program has ended or trapped: nothing of it may be called again. After a panic it may, to read. */
  dead = false;
  error: RuntimeCrashError | undefined;
  readonly #io: number;
  readonly #stop: () => void;
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);

  /** stop is called once, when nothing of the program may run any more. */
  constructor(exports: Exports, control: Control, stop: () => void) {
    this.exports = exports;
    this.control = Object.fromEntries(Object.entries(control).map(([name, fn]) =>
      [name, (...args: unknown[]) => this.inside(() => (fn as (...args: unknown[]) => unknown)(...args))])) as unknown as Control;
    this.#stop = stop;
    this.#io = exports.memory();
  }

  /** A trap of the module, such as memory that can't grow, is the end of the instance and not of the page. */
  inside<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.crash(error, true);
      return undefined;
    }
  }

  /** The memory is a new buffer whenever it has grown; views of the old one are empty then. */
  #refresh(): void {
    if (this.#bytes.length === 0) {
      const { buffer } = this.exports.mem;
      this.#bytes = new Uint8Array(buffer);
      this.#words = new Uint32Array(buffer, this.#io + chunkSize);
    }
  }

  /** Gives a turn at most chunkSize bytes, or none to go on with those before; flags as feed's. */
  feed(turn: number, chunk: Uint8Array | undefined, now: number): number {
    if (chunk) {
      this.#refresh();
      this.#bytes.set(chunk, this.#io);
    }
    return this.exports.feed(turn, chunk ? chunk.length : 0, now);
  }

  /** The events that feed left. */
  batch(): TurnEvent[] {
    const chunk = this.#short();
    if (chunk !== undefined) return [{ type: "text_delta", data: { chunk } }];
    const items = JSON.parse(this.left()) as (TurnEvent | string | [string, string])[];
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      if (typeof item === "string") items[i] = { type: "text_delta", data: { chunk: item } };
      else if (Array.isArray(item)) items[i] = { type: "text_delta", data: { chunk: item[0] }, id: item[1] };
    }
    return items as TurnEvent[];
  }

  /**
   * The chunk of a batch that is one short text of plain ASCII, as most are where events come one by one: TextDecoder
   * and JSON.parse would cost more than all the rest does then.
   */
  #short(): string | undefined {
    const at = this.#word(out), length = this.#word(size);
    const bytes = this.#bytes;
    if (length > 36 || bytes[at + 1] !== 0x22) return undefined;
    let text = "";
    for (let i = at + 2; i < at + length - 2; i++) {
      const c = bytes[i]!;
      // A quote ends the first of several, a backslash begins an escape.
      if (c > 0x7e || c === 0x22 || c === 0x5c) return undefined;
      text += ascii[c]!;
    }
    return text;
  }

  #word(i: number): number {
    const word = this.#words[i];
    if (word !== undefined) return word;
    this.#refresh();
    return this.#words[i]!;
  }

  /** How many events feed left. */
  get count(): number {
    return this.#word(count);
  }

  /** How many bytes the last call left. */
  get size(): number {
    return this.#word(size);
  }

  /** Where the text (0) or the reasoning (1) of the turn that was fed last begins. */
  state(which: 0 | 1): number {
    return this.#word(state + which);
  }

  /** How long the text, of a reasoning_delta the reasoning, is with event i of the batch. */
  mark(i: number): number {
    return this.#word(marks + i);
  }

  /** The text that the last call left. */
  left(): string {
    this.#refresh();
    const at = this.#words[out]!;
    return this.read(at, at + this.#words[size]!);
  }

  /** Text in the module's memory; it can be read after a crash too. */
  read(from: number, to: number): string {
    this.#refresh();
    return decoder.decode(this.#bytes.subarray(from, to));
  }

  /** Ends everything that waits for this instance. The next call starts another one. */
  crash(reason: unknown, dead: boolean): void {
    if (dead && !this.dead) {
      this.dead = true;
      this.#stop();
    }
    if (!this.alive) return;
    this.alive = false;
    if (running === this) running = starting = undefined;
    const error = this.error = new RuntimeCrashError(`the module stopped working (${describe(reason)}); the next call starts it anew`, "runtime_crashed", true, { cause: reason });
    for (const tell of this.onCrash) tell(error);
    this.onCrash.clear();
  }
}

let source: InitOptions = {};
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
    const { wasmURL, wasmModule, workerURL } = object(options, "options");
    const isURL = (value: unknown): boolean => typeof value === "string" || tagOf(value) === "URL";
    if (wasmModule !== undefined && tagOf(wasmModule) !== "WebAssembly.Module") throw invalid("wasmModule", "a WebAssembly.Module", wasmModule);
    if (wasmURL !== undefined && !isURL(wasmURL)) throw invalid("wasmURL", "a string or a URL", wasmURL);
    if (workerURL !== undefined && workerURL !== false && !isURL(workerURL)) throw invalid("workerURL", "a string, a URL or false", workerURL);
    const next: InitOptions = {
      ...(wasmURL && { wasmURL: String(wasmURL) }), ...(wasmModule && { wasmModule }),
      ...(workerURL !== undefined && { workerURL: workerURL && String(workerURL) }),
    };
    if (starting && options !== undefined && (["wasmURL", "wasmModule", "workerURL"] as const).some((name) => next[name] !== source[name])) {
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
  let control: Control | undefined;
  let theirs: string | undefined;
  let live: Instance | undefined;
  let reason: unknown = "it ended";
  const enter = <T>(fn: (value: T) => void, value: T): void => {
    // What a crashed instance still waits for must not wake it.
    if (live?.alive) live.inside(() => fn(value));
  };
  const requests = new Set<AbortController>();
  const host = {
    started: (functions: Control, stamp?: string) => {
      theirs = stamp;
      control = functions;
    },
    crashed: (message: string) => live?.crash(message, false),
    setTimeout: (fn: () => void, ms: number) => setTimer(() => enter(fn, undefined as never), ms),
    then: (promise: Promise<unknown>, ok: (value: unknown) => void, fail: (reason: unknown) => void) =>
      void promise.then((value) => enter(ok, value), (reason: unknown) => unlessLeft(() => enter(fail, reason))),
    clearTimeout: clearTimer,
    random: Math.random,
    now: () => performance.now(),
    origin: performance.timeOrigin,
    online: () => navigator.onLine !== false,
    // The module aborts every controller in the end. After a crash the loader does, for a browser has few connections.
    AbortController: class extends AbortController {
      constructor() {
        super();
        requests.add(this);
      }
      override abort(): void {
        requests.delete(this);
        super.abort();
      }
    },
    describe,
    readText,
    holds: tellHeld,
  };
  try {
    const { go, program, exports } = await instantiate(module, host);
    go.exit = (code) => {
      reason = `exit code ${code}`;
      live?.crash(reason, true);
    };
    const ended = go.run(program);
    if (!control) throw new Error(String(reason));
    if (theirs !== stamp) throw anotherBuild(String(source.wasmURL ?? (source.wasmModule ? "init's wasmModule" : beside())));
    live = new Instance(exports, control, () => {
      // Go's own timers would resume it.
      for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
      go._scheduledTimeouts.clear();
    });
    live.onCrash.add(() => {
      requests.forEach((request) => request.abort());
      holdNone();
    });
    ended.then(() => live!.crash(reason, true), (error: unknown) => live!.crash(error, true));
  } catch (error) {
    if (error instanceof RuntimeLoadError) throw error;
    throw new RuntimeLoadError(`the module did not start (${describe(error)}); are turnwire.wasm and the script of one build?`, "module_not_started", false, { cause: error });
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
  const url = String(source.wasmURL ?? beside());
  const fail = (code: string, message: string, cause?: unknown): RuntimeLoadError =>
    new RuntimeLoadError(`the module at ${url} ${message}`, code, code === "module_unreachable", { cause });
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin" });
  } catch (error) {
    throw fail("module_unreachable", `could not be fetched (${describe(error)}): check the address (init's wasmURL), CORS and the page's connect-src policy`, error);
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
    throw fail("module_not_compiled", `could not be compiled (${describe(error)}): check that it arrives whole, and that a Content-Security-Policy has script-src 'wasm-unsafe-eval'`, error);
  }
}

/** Any thrown value for people; itself never throws. */
export function describe(reason: unknown): string {
  try {
    if (reason instanceof Error || (typeof reason === "object" && reason !== null && "message" in reason)) {
      const { name, message } = reason as Error;
      return message ? `${name}: ${message}` : String(name);
    }
    return String(reason);
  } catch {
    return "an unknown error";
  }
}

/** At most limit bytes of a body as text; what is more is not waited for. */
async function readText({ response: { body } }: { response: Response }, limit: number): Promise<string> {
  if (!body) return "";
  const reader = new ByteReader(body, "the body");
  const text = new TextDecoder();
  let read = "";
  for (let left = limit; left > 0; ) {
    const value = await reader.next();
    if (!value) return read + text.decode();
    read += text.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  reader.cancel();
  return read;
}
