import type * as API from "turnwire";
import { hash, smallMost, useWorker } from "./background.ts";
import type { ClientContext } from "./client-context.ts";
import { checksumBefore, checksumDuring, type Control, type File as Told } from "./contract.ts";
import { type RuntimeCrashError, textOf, UploadError } from "./errors.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Instance } from "./instance.ts";
import { guarded, Listeners } from "./listeners.ts";
import { claim, forget, load, save } from "./records.ts";
import type { UploadSink } from "./sinks.ts";
import { type Bytes, isBlob, type Source, sourceOf } from "./source.ts";
import { send } from "./store.ts";
import { join, onAbort } from "./undo.ts";
import { ticketJSON, type UploadConfig } from "./validate-files.ts";

const aborted = "the upload was aborted";

/** Rejects where a request may have failed because the file can't be read any more: to the browser that is a network's failure. */
async function readable(data: Bytes | string): Promise<void> {
  if (isBlob(data)) await data.slice(0, 1).arrayBuffer();
}

/** Every upload that has not ended, and whose it is. */
export const uploads = new Map<Upload, ClientContext>();

/** Under what the record of an upload is kept. */
export const uploadKey = ({ config: { base } }: ClientContext, { workspaceId, resumeKey }: UploadConfig): string => `${base} ${workspaceId} ${resumeKey}`;

export const frozenFile = (file: Told): API.AgentFile => (Object.freeze(file.raw), Object.freeze(file as API.AgentFile));

/** Hands a file's record to the page's own function, in a task of its own: the module may be in the middle of its work. */
export const statusTo = (onStatus: ((file: API.AgentFile) => void) | undefined) => (file: Told): void => {
  queueMicrotask(() => guarded(onStatus, frozenFile(file)));
};

export class Upload implements API.Upload {
  readonly resumeKey: string | undefined;
  fileId?: string | undefined;
  protocol?: API.UploadProtocol | undefined;
  progress: API.UploadProgress;
  readonly #context: ClientContext;
  readonly #config: UploadConfig;
  readonly #data: API.UploadData;
  readonly #source: Source;
  readonly #listeners = new Listeners();
  /** The one that has it: its number is given to another as soon as it has not. */
  #instance: Instance | undefined;
  #id = 0;
  /** The module may know of it. */
  #begun = false;
  #paused = false;
  #over = false;
  #file: API.AgentFile | undefined;
  #error: unknown;
  #ended!: () => void;
  readonly #settled = new Promise<void>((resolve) => (this.#ended = resolve));

  readonly #requests = new Map<number, AbortController>();
  #hashState = "";
  /** Takes it out of where it waits to be called. */
  readonly #undo: (() => void)[] = [];
  /** What is let go of at the end: the worker, the key of the record. */
  readonly #releases: (() => void)[] = [];
  #saving = false;
  #unsaved = false;
  #forgotten = false;
  /** What is written at the end, before another page may have the key. */
  #written: Promise<void> | undefined;
  #stopMapping: ((reason: Error) => void) | undefined;

  constructor(context: ClientContext, data: API.UploadData, config: UploadConfig) {
    this.#context = context;
    this.#config = config;
    this.resumeKey = config.resumeKey;
    this.progress = Object.freeze({ stage: "preparing", loadedBytes: 0, totalBytes: config.size, blocksDone: 0, blocksTotal: 0, bytesPerSecond: 0 });
    this.#data = data;
    let lastMoved = 0;
    this.#source = sourceOf(data, config.size, () => {
      // Often enough for a limit in milliseconds, and seldom enough for a stream of single bytes.
      const now = performance.now();
      if (now - lastMoved < Math.min(250, config.dataTimeout / 4)) return;
      lastMoved = now;
      this.#control?.dataMoved(this.#id);
    });
    uploads.set(this, context);
    this.#undo.push(join(context.onClose, () => void this.abort()));
    const { signal } = config;
    if (signal?.aborted) {
      void this.#abort(signal.reason);
      return;
    }
    this.#undo.push(
      onAbort(signal, () => void this.#abort(signal!.reason)),
      onAbort(config.waitSignal, () => this.#waitAborted()),
    );
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

  /** The module's functions, while they may be called of this upload. */
  get #control(): Control | undefined {
    return this.#instance?.alive ? this.#instance.control : undefined;
  }

  /** Its bytes are all stored. */
  get stored(): boolean {
    return /^(reporting|processing)$/.test(this.progress.stage);
  }

  async #begin(): Promise<void> {
    const key = this.key;
    let record = "", print = { fingerprint: "", sum: "" };
    if (key !== undefined) {
      record = await this.#recall(key);
      if (!this.#over) print = await fingerprintOf(this.#data, this.#source, this.#config, () => this.#over);
    }
    await this.#context.withHandle(({ instance, client }) => {
      if (this.#over) return;
      const { signal, onStatus, onProgress, mapUploadTicket, resumeKey, waitSignal, ...params } = this.#config;
      this.#undo.push(join(instance.onCrash, (error) => this.#crashed(error)));
      this.#begun = true;
      this.#instance = instance;
      const { fingerprint, sum } = print;
      if (params.checksum === checksumDuring) params.knownSum = sum;
      this.#id = instance.uploads.add(this.#sink());
      instance.control.startUpload(this.#id, client, { ...params, fingerprint, record });
      // After it, so that the address is asked for while the worker starts.
      const sums = (params.checksum === checksumDuring && !sum) || params.checksum === checksumBefore;
      if (sums && params.size > smallMost && this.#instance) this.#releases.push(useWorker());
      if (this.#paused) this.#control?.pauseUpload(this.#id);
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
  #sink(): UploadSink {
    const dataFailed = (from: number, error: unknown): void => this.#control?.dataFailed(this.#id, from, textOf(error));
    return {
      sendBlock: async (id, { from, to, body, ...request }) => {
        const controller = new AbortController();
        const { signal } = controller;
        this.#requests.set(id, controller);
        try {
          // Data of size 0 is read too: a stream may have more.
          const data = await (to > from || (this.#config.size === 0 && body === "") ? this.#source.read(from, to) : body);
          // The limit on the store begins here: until now its bytes were waited for.
          if (!signal.aborted) this.#control?.storeBegun(this.#id, id);
          if (signal.aborted) return;
          send({ ...request, base: `${this.#context.config.base}/`, body: data }, {
            alive: () => this.#control?.storeAlive(this.#id, id),
            progress: (sent) => this.#control?.storeProgress(this.#id, id, sent),
            answered: (answer) => {
              this.#requests.delete(id);
              this.#control?.storeAnswered(this.#id, id, answer);
            },
            failed: (detail) => void readable(data).then(() => {
              this.#requests.delete(id);
              this.#control?.storeFailed(this.#id, id, detail);
            }).catch((error: unknown) => dataFailed(from, error)),
          }, signal);
        } catch (error) {
          if (!signal.aborted) dataFailed(from, error);
        }
      },
      cancelBlock: (id) => {
        this.#requests.get(id)?.abort();
        this.#requests.delete(id);
      },
      hash: async ({ from, to, state, last }) => {
        try {
          const before = from === 0 ? "" : state || this.#hashState;
          const result = await hash({ data: await this.#source.part(from, to), state: before, last });
          if (!this.#control) return;
          this.#hashState = last ? "" : result;
          this.#control.hashed(this.#id, { at: to, state: this.#hashState, sum: last ? result : "" });
        } catch (error) {
          dataFailed(from, error);
        }
      },
      releaseData: (before) => this.#source.release?.(before),
      showProgress: ({ fileId, protocol, ...rest }) => {
        this.fileId = fileId || undefined;
        this.protocol = protocol || undefined;
        const { totalBytes, loadedBytes, bytesPerSecond } = rest;
        const progress: API.UploadProgress = Object.freeze({ ...rest, ...(bytesPerSecond > 0 && { secondsLeft: (totalBytes - loadedBytes) / bytesPerSecond }) });
        queueMicrotask(() => this.#report(progress));
      },
      saveRecord: (record) => {
        if (record === "") void this.#save();
        else this.#written = save(this.key!, record).catch(() => {});
      },
      forgetRecord: () => {
        this.#forgotten = true;
        this.#written = forget(this.key!).catch(() => {});
      },
      mapTicket: (body) => void this.#map(body),
      uploadStatus: statusTo(this.#config.onStatus),
      uploadEnded: ({ stage, error, file }) => {
        this.#instance?.uploads.remove(this.#id);
        this.#instance = undefined;
        queueMicrotask(() => this.#end(stage, error && this.#context.error(error), file && frozenFile(file)));
      },
    };
  }

  #report(progress: API.UploadProgress): void {
    this.progress = progress;
    guarded(this.#config.onProgress, progress);
    this.#listeners.emit("progress", progress as never);
    if (this.#config.waitSignal?.aborted) this.#waitAborted();
  }

  /** A signal of the wait's own ends the wait alone. */
  #waitAborted(): void {
    if (this.progress.stage === "processing") void this.#abort(this.#config.waitSignal!.reason);
  }

  /** Keeps the record; while one is being written, one more afterwards does for all that came meanwhile. */
  async #save(): Promise<void> {
    this.#unsaved = true;
    if (this.#saving) return;
    this.#saving = true;
    while (this.#unsaved) {
      this.#unsaved = false;
      // The module asks for it in the middle of its work.
      await null;
      const record = this.#control?.uploadRecord(this.#id);
      if (!record) break;
      await save(this.key!, record).catch(() => {});
    }
    this.#saving = false;
    // The end may have come while it was written.
    if (this.#forgotten) await forget(this.key!).catch(() => {});
  }

  async #map(body: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const { timeout, mapUploadTicket } = this.#config;
    await null;
    try {
      if (this.ending) throw new Error(aborted);
      // The page's function may give a promise, and that may never settle.
      const ticket = await new Promise<API.UploadTicket>((resolve, reject) => {
        this.#stopMapping = reject;
        if (timeout > 0) timer = setTimeout(() => reject(new Error(`it gave none within ${timeout} ms (option timeout)`)), Math.min(timeout, 2 ** 31 - 1));
        Promise.resolve(mapUploadTicket!(JSON.parse(body))).then(resolve, reject);
      });
      this.#control?.ticketMapped(this.#id, ticketJSON(ticket, this.#context.config.base));
    } catch (error) {
      this.#control?.ticketRefused(this.#id, textOf(error));
    }
    clearTimeout(timer);
    this.#stopMapping = undefined;
  }

  #crashed(error: RuntimeCrashError): void {
    const { stored, fileId } = this;
    this.#end("failed", error);
    // Nobody else would ever tell. What a later page can go on with is not given up, and what is stored never failed.
    if (!fileId || this.resumeKey !== undefined || stored) return;
    const { headers, maxRetries, timeout } = this.#config;
    this.#context.call("reportFailed", { headers, maxRetries, timeout, fileId, why: error.message }, true).catch(() => {});
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
    this.#control?.pauseUpload(this.#id);
  }

  resume(): void {
    this.#paused = false;
    this.#control?.resumeUpload(this.#id);
  }

  abort(): Promise<void> {
    return this.#abort(new DOMException(aborted, "AbortError"));
  }

  #abort(reason: unknown): Promise<void> {
    if (!this.#over && !this.ending) {
      this.#error = reason;
      this.#control?.abortUpload(this.#id);
      this.#stopMapping?.(new Error(aborted));
      // Nothing was sent: the service has nothing to be told.
      if (!this.#begun) this.#end("aborted");
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
    this.#instance = undefined;
    // An abort that came too late has changed nothing.
    this.#error = error ?? this.#error;
    this.#file = file;
    for (const request of this.#requests.values()) request.abort();
    this.#requests.clear();
    this.#source.close?.();
    for (const each of this.#undo) each();
    const releaseAll = (): void => this.#releases.forEach((release) => release());
    if (this.#written) void this.#written.then(releaseAll);
    else releaseAll();
    uploads.delete(this);
    if (this.progress.stage !== stage) this.#report(Object.freeze({ ...this.progress, stage, bytesPerSecond: 0 }));
    this.#ended();
    queueMicrotask(() => this.#listeners.emit("end", this as never));
  }
}
