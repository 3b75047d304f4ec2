import type * as API from "turnwire";
import { hash, smallMost, useWorker } from "./background.ts";
import type { ClientContext, Handle } from "./client-context.ts";
import { checksumBefore, checksumDuring, type File as Told } from "./contract.ts";
import { type RuntimeCrashError, textOf, UploadError } from "./errors.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { guarded, Listeners } from "./listeners.ts";
import { claim, forget, load, save } from "./records.ts";
import type { UploadSink } from "./sinks.ts";
import { type Bytes, isBlob, type Source, sourceOf } from "./source.ts";
import { send } from "./store.ts";
import { ticketJSON, type UploadConfig } from "./validate-files.ts";

/** Every upload that has not ended, and whose it is. */
export const uploads = new Map<Upload, ClientContext>();

/** Under what the record of an upload is kept. */
export const uploadKey = ({ config: { base } }: ClientContext, { workspaceId, resumeKey }: UploadConfig): string => `${base} ${workspaceId} ${resumeKey}`;

export const frozenFile = (file: Told): API.AgentFile => (Object.freeze(file.raw), Object.freeze(file as API.AgentFile));

export class Upload implements API.Upload {
  readonly resumeKey: string | undefined;
  readonly #context: ClientContext;
  readonly #config: UploadConfig;
  readonly #data: API.UploadData;
  readonly #source: Source;
  readonly #listeners = new Listeners();
  #handle: Handle | undefined;
  #id = 0;
  #fileId: string | undefined;
  #protocol: API.UploadProtocol | undefined;
  #progress: API.UploadProgress;
  #paused = false;
  /** The module has it: its number is given to another as soon as it has not. */
  #live = false;
  #over = false;
  #file: API.AgentFile | undefined;
  #error: unknown;
  #ended!: () => void;
  readonly #settled = new Promise<void>((resolve) => (this.#ended = resolve));

  readonly #requests = new Map<number, { cancel(): void }>();
  #hashState = "";
  /** What is done at the end: the worker, the key of the record. */
  readonly #releases: (() => void)[] = [];
  #saving = false;
  #unsaved = false;
  #forgotten = false;
  /** What is written at the end, before another page may have the key. */
  #written: Promise<void> | undefined;
  #stopMapping: ((reason: Error) => void) | undefined;
  readonly #aborted = (): void => void this.#abort(this.#config.signal!.reason);
  readonly #closed = (): void => void this.abort();
  readonly #waitAborted = (): void => {
    if (this.#progress.stage === "processing") void this.#abort(this.#config.waitSignal!.reason);
  };
  readonly #crashed = (error: RuntimeCrashError): void => {
    const { stage } = this.#progress;
    const stored = stage === "reporting" || stage === "processing";
    this.#end("failed", error);
    // Nobody else would ever tell. What a later page can go on with is not given up, and what is stored never failed.
    if (this.#fileId && !this.#config.resumable && !stored) this.#reportFailed(this.#fileId, error.message);
  };

  constructor(context: ClientContext, data: API.UploadData, config: UploadConfig) {
    this.#context = context;
    this.#config = config;
    this.resumeKey = config.resumeKey;
    this.#progress = Object.freeze({ stage: "preparing", loadedBytes: 0, totalBytes: config.size, blocksDone: 0, blocksTotal: 0, bytesPerSecond: 0 });
    this.#data = data;
    this.#source = sourceOf(data, config.size);
    let lastMoved = 0;
    this.#source.moved = () => {
      // Often enough for a limit in milliseconds, and seldom enough for a stream of single bytes.
      const now = performance.now();
      if (now - lastMoved < Math.min(250, this.#config.dataTimeout / 4) || !this.#live) return;
      lastMoved = now;
      this.#handle!.instance.control.dataMoved(this.#id);
    };
    uploads.set(this, context);
    context.onClose.add(this.#closed);
    const { signal } = config;
    if (signal?.aborted) {
      this.#abort(signal.reason);
      return;
    }
    signal?.addEventListener("abort", this.#aborted);
    config.waitSignal?.addEventListener("abort", this.#waitAborted);
    this.#begin().catch((error: unknown) => this.#end("failed", error));
  }

  isOf(data: API.UploadData): boolean {
    return data === this.#data;
  }

  /** Under what its record is kept: whatever the upload goes to is a part of it. undefined where none is. */
  get key(): string | undefined {
    return this.resumeKey === undefined ? undefined : uploadKey(this.#context, this.#config);
  }

  /** It was aborted, and goes on only until the service has heard of it. */
  get ending(): boolean {
    return this.#error !== undefined;
  }

  get fileId(): string | undefined {
    return this.#fileId;
  }

  get protocol(): API.UploadProtocol | undefined {
    return this.#protocol;
  }

  get progress(): API.UploadProgress {
    return this.#progress;
  }

  async #begin(): Promise<void> {
    const key = this.key;
    const record = key === undefined ? "" : await this.#recall(key);
    if (this.#over) return;
    const { fingerprint, sum } = key === undefined ? { fingerprint: "", sum: "" } : await fingerprintOf(this.#data, this.#source, this.#config, () => this.#over);
    if (this.#over) return;
    await this.#context.withHandle((handle) => {
      if (this.#over) return;
      const { signal, onStatus, onProgress, mapUploadTicket, resumeKey, waitSignal, ...params } = this.#config;
      this.#handle = handle;
      const { instance, client } = handle;
      instance.onCrash.add(this.#crashed);
      this.#live = true;
      if (params.checksum === checksumDuring) params.knownSum = sum;
      this.#id = instance.uploads.add(this.#sink(handle));
      instance.control.startUpload(this.#id, client, { ...params, fingerprint, record });
      // After it, so that the address is asked for while the worker starts.
      const sums = (params.checksum === checksumDuring && !sum) || params.checksum === checksumBefore;
      if (sums && params.size > smallMost && this.#live) this.#releases.push(useWorker());
      if (this.#paused && this.#live) instance.control.pauseUpload(this.#id);
    });
  }

  /** Takes the key for this upload alone and reads what an earlier one kept under it. */
  async #recall(key: string): Promise<string> {
    const inUse = (by: string): UploadError =>
      new UploadError(`option resumeKey: ${by} is uploading under "${this.resumeKey}" at this moment`, "resume_key_in_use", true, { stage: "preparing" });
    for (const other of uploads.keys()) {
      if (other === this) break;
      if (other.key !== key) continue;
      if (!other.ending) throw inUse("another client of this page");
      await other.#settled;
      if (this.#over) return "";
    }
    const claimed = await claim(key);
    if (claimed.is === "busy") throw inUse("another page");
    if (claimed.is === "taken") {
      if (this.#over) {
        claimed.release();
        return "";
      }
      this.#releases.push(claimed.release);
    }
    try {
      const record = await load(key);
      if (claimed.is === "denied") this.#context.log("warn", "no lock can be taken, so that another page could upload under the same resumeKey", { reason: claimed.why });
      return record;
    } catch (error) {
      // Such as in a private window: the upload itself does not need it.
      this.#context.log("warn", "no record can be kept, so that a reload would begin anew", { reason: textOf(error) });
      return "";
    }
  }

  /** What the module asks for. */
  #sink(handle: Handle): UploadSink {
    const { control } = handle.instance;
    const enter = (run: () => void): void => {
      if (this.#live && handle.instance.alive) run();
    };
    return {
      sendBlock: (id, { method, url, headers, from, to, body, want }) => {
        let cancelled = false;
        this.#requests.set(id, { cancel: () => (cancelled = true) });
        const { size } = this.#config;
        // Data of size 0 is read too: a stream may have more.
        const reading: Promise<Bytes | string> = to > from || (size === 0 && body === "") ? this.#source.read(from, to) : Promise.resolve(body);
        reading.then((data) => {
          if (cancelled) return;
          const done = (run: () => void): void => {
            this.#requests.delete(id);
            enter(run);
          };
          // The limit on the store begins here: until now its bytes were waited for.
          enter(() => control.storeBegun(this.#id, id));
          if (cancelled) return;
          this.#requests.set(id, send({ method, url, base: `${this.#context.config.base}/`, headers, body: data, want }, {
            alive: () => enter(() => control.storeAlive(this.#id, id)),
            progress: (sent) => enter(() => control.storeProgress(this.#id, id, sent)),
            answered: (answer) => done(() => control.storeAnswered(this.#id, id, answer)),
            failed: (detail) => void this.#readable(data).then(
              () => done(() => control.storeFailed(this.#id, id, detail)),
              (error: unknown) => done(() => control.dataFailed(this.#id, from, textOf(error))),
            ),
          }));
        }).catch((error: unknown) => {
          if (!cancelled) enter(() => control.dataFailed(this.#id, from, textOf(error)));
        });
      },
      cancelBlock: (id) => {
        this.#requests.get(id)?.cancel();
        this.#requests.delete(id);
      },
      hash: ({ from, to, state, last }) => {
        const before = from === 0 ? "" : state || this.#hashState;
        this.#source.part(from, to).then((data) => hash({ data, state: before, last })).then((result) => enter(() => {
          this.#hashState = last ? "" : result;
          control.hashed(this.#id, { at: to, state: this.#hashState, sum: last ? result : "" });
        })).catch((error: unknown) => enter(() => control.dataFailed(this.#id, from, textOf(error))));
      },
      releaseData: (before) => this.#source.release(before),
      showProgress: ({ fileId, protocol, ...rest }) => {
        this.#fileId = fileId || undefined;
        this.#protocol = protocol || undefined;
        const { totalBytes, loadedBytes, bytesPerSecond } = rest;
        const progress: API.UploadProgress = Object.freeze({ ...rest, ...(bytesPerSecond > 0 && { secondsLeft: (totalBytes - loadedBytes) / bytesPerSecond }) });
        queueMicrotask(() => this.#report(progress));
      },
      saveRecord: (record) => {
        if (record === "") void this.#save(handle);
        else this.#written = save(this.key!, record).catch(() => {});
      },
      forgetRecord: () => {
        this.#forgotten = true;
        this.#written = forget(this.key!).catch(() => {});
      },
      mapTicket: (body) => void this.#map(handle, body),
      status: (file) => {
        const { onStatus } = this.#config;
        if (onStatus) queueMicrotask(() => guarded(() => onStatus(frozenFile(file))));
      },
      ended: ({ stage, error, file }) => {
        this.#live = false;
        queueMicrotask(() => this.#end(stage, error && this.#context.error(error), file && frozenFile(file)));
      },
    };
  }

  /** Rejects where a request may have failed because the file can't be read any more: to the browser that is a network's failure. */
  async #readable(data: Bytes | string): Promise<void> {
    if (isBlob(data)) await data.slice(0, 1).arrayBuffer();
  }

  #report(progress: API.UploadProgress): void {
    this.#progress = progress;
    const { onProgress } = this.#config;
    if (onProgress) guarded(() => onProgress(progress));
    this.#listeners.emit("progress", progress as never);
    if (this.#config.waitSignal?.aborted) this.#waitAborted();
  }

  /** Keeps the record; while one is being written, one more afterwards does for all that came meanwhile. */
  async #save(handle: Handle): Promise<void> {
    this.#unsaved = true;
    if (this.#saving) return;
    this.#saving = true;
    while (this.#unsaved) {
      this.#unsaved = false;
      // The module asks for it in the middle of its work.
      await null;
      if (!this.#live || !handle.instance.alive) break;
      const record = handle.instance.control.uploadRecord(this.#id);
      if (!record) break;
      await save(this.key!, record).catch(() => {});
    }
    this.#saving = false;
    // The end may have come while it was written.
    if (this.#forgotten) await forget(this.key!).catch(() => {});
  }

  async #map({ instance }: Handle, body: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // The page's function may give a promise, and that may never settle.
    const stopped = new Promise<never>((_, reject) => {
      this.#stopMapping = reject;
      const { timeout } = this.#config;
      if (timeout > 0) timer = setTimeout(() => reject(new Error(`it gave none within ${timeout} ms (option timeout)`)), Math.min(timeout, 2 ** 31 - 1));
    });
    stopped.catch(() => {});
    await null;
    let ticket = "";
    let why: string | undefined;
    try {
      if (this.ending) throw new Error("the upload was aborted");
      ticket = ticketJSON(await Promise.race([this.#config.mapUploadTicket!(JSON.parse(body)), stopped]), this.#context.config.base);
    } catch (error) {
      why = textOf(error);
    }
    clearTimeout(timer);
    this.#stopMapping = undefined;
    if (!this.#live || !instance.alive) return;
    if (why === undefined) instance.control.ticketMapped(this.#id, ticket);
    else instance.control.ticketRefused(this.#id, why);
  }

  /** Tells the service of a file that it would wait for in vain. */
  #reportFailed(fileId: string, why: string): void {
    const { headers, maxRetries, timeout } = this.#config;
    this.#context.call(undefined, ({ instance, client }, call) =>
      instance.control.reportFailed(call, client, { headers, maxRetries, timeout, fileId, why }), { outlives: true }).catch(() => {});
  }

  on(type: string, listener: (argument: never) => void): this {
    this.#listeners.add(type, listener);
    return this;
  }

  off(type: string, listener: (argument: never) => void): this {
    this.#listeners.remove(type, listener);
    return this;
  }

  pause(): void {
    this.#paused = true;
    if (this.#live) this.#handle!.instance.control.pauseUpload(this.#id);
  }

  resume(): void {
    this.#paused = false;
    if (this.#live) this.#handle!.instance.control.resumeUpload(this.#id);
  }

  abort(): Promise<void> {
    return this.#abort(new DOMException("the upload was aborted", "AbortError"));
  }

  #abort(reason: unknown): Promise<void> {
    if (!this.#over && this.#error === undefined) {
      this.#error = reason;
      if (this.#live) this.#handle!.instance.control.abortUpload(this.#id);
      this.#stopMapping?.(new Error("the upload was aborted"));
      if (this.#handle) return this.#settled;
      // Nothing was sent: the service has nothing to be told.
      this.#end("aborted");
    }
    return this.#settled;
  }

  async done(): Promise<API.AgentFile> {
    await this.#settled;
    if (this.#file) return this.#file;
    throw this.#error;
  }

  #end(stage: API.UploadStage, error?: unknown, file?: API.AgentFile): void {
    if (this.#over) return;
    this.#over = true;
    this.#live = false;
    // An abort that came too late has changed nothing.
    this.#error = error ?? this.#error;
    this.#file = file;
    for (const request of this.#requests.values()) request.cancel();
    this.#requests.clear();
    this.#source.close();
    this.#handle?.instance.onCrash.delete(this.#crashed);
    this.#handle = undefined;
    this.#config.signal?.removeEventListener("abort", this.#aborted);
    this.#config.waitSignal?.removeEventListener("abort", this.#waitAborted);
    const releaseAll = (): void => this.#releases.forEach((release) => release());
    if (this.#written) void this.#written.then(releaseAll);
    else releaseAll();
    uploads.delete(this);
    this.#context.onClose.delete(this.#closed);
    if (this.#progress.stage !== stage) this.#report(Object.freeze({ ...this.#progress, stage, bytesPerSecond: 0 }));
    this.#ended();
    queueMicrotask(() => this.#listeners.emit("end", this as never));
  }
}
