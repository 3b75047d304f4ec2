import type { CallEnd, Control, FetchParams, File, LogRecord, Page, TurnEnd } from "./contract.ts";
import { textOf } from "./errors.ts";
import type { Instance } from "./instance.ts";
import { unlessLeft } from "./leaving.ts";
import { tellPages } from "./pages.ts";
import { Requests } from "./requests.ts";
import { type ClientSink, uploadFunctions, type UploadSink } from "./sinks.ts";
import { clearTimer, setTimer } from "./timers.ts";

/** What an upload does itself. */
export interface Host extends Pick<Page, keyof UploadSink> {}

/** What one instance may call of the page. */
export class Host implements Page {
  readonly #instance: () => Instance | undefined;
  readonly #requests = new Requests((word) => this.#tell(word));
  /** Those of timers.ts by the module's: an instance that crashed may have had the same. */
  readonly #timers = new Map<number, number>();

  /** The instance comes later than its host, for it needs one to start. */
  constructor(instance: () => Instance | undefined) {
    this.#instance = instance;
    const functions = this as Record<string, unknown>;
    for (const name of uploadFunctions) functions[name] = (upload: number, ...rest: never[]) => (instance()!.uploads.get(upload)![name] as (...rest: never[]) => void)(...rest);
  }

  /** What a crashed instance still waits for must not wake it. */
  #tell(word: (control: Control) => void): void {
    const instance = this.#instance();
    if (instance?.alive) word(instance.control);
  }

  /** Lets go of what a crashed instance has under way. */
  close(): void {
    this.#requests.cancelAll();
    for (const timer of [...this.#timers.keys()]) this.clearTimer(timer);
  }

  now(): number {
    return performance.now();
  }

  timeOrigin(): number {
    return performance.timeOrigin;
  }

  unixTime(): number {
    return Date.now();
  }

  random(): number {
    return Math.random();
  }

  online(): boolean {
    return navigator.onLine !== false;
  }

  setTimer(timer: number, ms: number): void {
    this.#timers.set(timer, setTimer(() => {
      this.#timers.delete(timer);
      this.#tell((control) => control.timerFired(timer));
    }, ms));
  }

  clearTimer(timer: number): void {
    const id = this.#timers.get(timer);
    if (id !== undefined) clearTimer(id);
    this.#timers.delete(timer);
  }

  crashed(message: string): void {
    this.#instance()?.crash(message, false);
  }

  #client(client: number): ClientSink {
    return this.#instance()!.clients.get(client)!;
  }

  clientEnded(client: number): void {
    this.#instance()!.clients.remove(client);
  }

  askKey(ask: number, client: number): void {
    this.#client(client).key().then(
      (key) => this.#tell((control) => control.keyGiven(ask, key)),
      (reason: unknown) => unlessLeft(() => this.#tell((control) => control.keyRefused(ask, textOf(reason)))),
    );
  }

  record(client: number, record: LogRecord): void {
    this.#client(client).log(record);
  }

  tellPages(word: number, host: string): void {
    tellPages(word, host);
  }

  fetch(request: number, client: number, params: FetchParams): void {
    this.#requests.fetch(request, this.#client(client), params);
  }

  readBody(request: number, limit: number): void {
    this.#requests.readBody(request, limit);
  }

  cancel(request: number): void {
    this.#requests.cancel(request);
  }

  callEnded(call: number, end: CallEnd): void {
    const { calls } = this.#instance()!;
    const sink = calls.get(call)!;
    calls.remove(call);
    sink.ended(end);
  }

  fileStatus(call: number, file: File): void {
    this.#instance()!.calls.get(call)!.status?.(file);
  }

  turnOpened(turn: number, request: number): void {
    this.#instance()!.turns.get(turn)!.opened(this.#requests.body(request));
  }

  turnEnded(turn: number, end: TurnEnd): void {
    this.#instance()!.turns.get(turn)!.ended(end);
  }
}
