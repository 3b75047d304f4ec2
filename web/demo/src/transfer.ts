import type { AgentClient, AgentFile, Upload, UploadProgress } from "turnwire";
import { explain, type Trouble } from "./errors.ts";
import { percent } from "./format.ts";
import type { KeptFile } from "./kept-files.ts";
import { uploadLimits, type Settings } from "./settings.ts";

/**
 * waiting for its turn → preparing → uploading (paused, offline) → reporting → processing → ready, failed or cancelled.
 * One that a reload cut off is left until its file is chosen again: a page can't open it by itself.
 */
export type TransferState =
  | "waiting" | "preparing" | "uploading" | "paused" | "offline" | "reporting" | "processing"
  | "ready" | "failed" | "cancelling" | "cancelled" | "left";

export interface TransferWorld {
  client: () => AgentClient;
  settings: () => Settings;
  changed: (transfer: Transfer) => void;
}

type Identity = Pick<File, "name" | "size" | "lastModified">;

/** Tells a file from another, also over a reload; the client looks at the bytes too before it goes on. */
export function keyOf({ name, size, lastModified }: Identity): string {
  return `${name} ${size} ${lastModified}`;
}

/** One file on its way to the service. */
export class Transfer {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  progress: UploadProgress | undefined;
  /** Percent that was stored before this page began to send. */
  continuedAt = 0;
  /** The service's own word for what it does with the file. */
  status = "";
  /** As the service knows it, once it is ready. */
  record: Pick<AgentFile, "id" | "checksum"> | undefined;
  trouble: Trouble | undefined;
  /** Resolves when nothing of it is under way. */
  settled: Promise<void> = Promise.resolve();
  #lastModified: number;
  #file: File | undefined;
  #upload: Upload | undefined;
  #fileId = "";
  #held: "waiting" | "paused" | undefined;
  #end: "ready" | "failed" | "cancelled" | "left" | undefined;
  #cancelling = false;
  #begun = false;

  constructor(private readonly world: TransferWorld, identity: Identity) {
    this.key = keyOf(identity);
    this.name = identity.name;
    this.size = identity.size;
    this.#lastModified = identity.lastModified;
    if (identity instanceof File) this.take(identity);
  }

  /** As before the reload; what the service was busy with then is watched again. */
  static restored(world: TransferWorld, kept: KeptFile): Transfer {
    const transfer = new Transfer(world, kept);
    transfer.continuedAt = kept.percent;
    transfer.#fileId = kept.id;
    if (kept.state === "ready") {
      transfer.#end = "ready";
      transfer.record = { id: kept.id, checksum: kept.checksum };
    } else if (kept.state === "processing") transfer.#watch();
    else transfer.#end = "left";
    return transfer;
  }

  get state(): TransferState {
    if (this.#end) return this.#end;
    if (this.#cancelling) return "cancelling";
    if (this.#held) return this.#held;
    switch (this.progress?.stage) {
      case "uploading":
      case "reporting":
      case "processing":
        return this.progress.stage;
      case "paused":
        return "offline";
      default:
        return "preparing";
    }
  }

  /** Whether it takes one of the places of those that upload at the same time. */
  get active(): boolean {
    return ["preparing", "uploading", "offline", "reporting"].includes(this.state);
  }

  get over(): boolean {
    return this.#end !== undefined;
  }

  get file(): File | undefined {
    return this.#file;
  }

  /** What a later page needs; undefined of what has failed or was given up. */
  get kept(): KeptFile | undefined {
    const { name, size, state } = this;
    if (state === "failed" || state === "cancelling" || state === "cancelled") return undefined;
    const { blocksDone = 0, blocksTotal = 0 } = this.progress ?? {};
    return {
      name, size, lastModified: this.#lastModified, id: this.#fileId, checksum: this.record?.checksum ?? "",
      state: state === "ready" || state === "processing" ? state : "unfinished",
      percent: this.#upload ? percent(blocksDone, blocksTotal) : this.continuedAt,
    };
  }

  /** Gets in line (again), with the file's bytes. */
  take(file: File): void {
    this.#file = file;
    this.#upload = this.#end = this.trouble = this.progress = this.record = undefined;
    this.#cancelling = this.#begun = false;
    this.continuedAt = 0;
    this.status = this.#fileId = "";
    this.#held = "waiting";
    this.world.changed(this);
  }

  /** Its turn has come. */
  start(): void {
    if (this.#held !== "waiting") return;
    this.#held = undefined;
    if (this.#upload) this.#upload.resume();
    else if (this.#file) this.settled = this.#settle(this.#send(this.#file));
    this.world.changed(this);
  }

  pause(): void {
    if (!this.active || !this.#upload) return;
    this.#held = "paused";
    this.#upload.pause();
    this.world.changed(this);
  }

  /** Gets in line again. */
  resume(): void {
    if (this.#held !== "paused") return;
    this.#held = "waiting";
    this.world.changed(this);
  }

  /** Settles when the service knows; it is told by the client. */
  async cancel(): Promise<void> {
    if (this.#end) return;
    if (this.#upload) {
      this.#cancelling = true;
      this.world.changed(this);
      await this.#upload.abort();
    } else this.#finish("cancelled");
  }

  async #send(file: File): Promise<AgentFile> {
    this.#upload = this.world.client().files.upload(file, {
      ...uploadLimits(this.world.settings()),
      purpose: "rag",
      resumeKey: this.key,
      onProgress: (progress) => this.#note(progress),
      wait: { onStatus: (record) => this.#say(record) },
    });
    return this.#upload.done();
  }

  async #settle(done: Promise<AgentFile>): Promise<void> {
    try {
      this.record = await done;
      this.#fileId = this.record.id;
      this.#finish("ready");
    } catch (error) {
      const aborted = error instanceof DOMException && error.name === "AbortError";
      if (!aborted) this.trouble = explain(error, this.world.settings());
      this.#finish(aborted ? "cancelled" : "failed");
    }
  }

  /** Waits for what an earlier page had sent whole. */
  #watch(): void {
    this.progress = {
      stage: "processing", loadedBytes: this.size, totalBytes: this.size, blocksDone: 0, blocksTotal: 0, bytesPerSecond: 0,
    };
    const wait = async () => this.world.client().files.wait(this.#fileId, { onStatus: (record) => this.#say(record) });
    this.settled = this.#settle(wait());
  }

  #note(progress: UploadProgress): void {
    const { stage, loadedBytes, totalBytes } = progress;
    // How it ended is told with its result.
    if (stage === "done" || stage === "failed" || stage === "aborted") return;
    this.progress = progress;
    this.#fileId = this.#upload?.fileId ?? this.#fileId;
    if (!this.#begun && stage !== "preparing" && stage !== "paused") {
      this.#begun = true;
      this.continuedAt = percent(loadedBytes, totalBytes);
    }
    // What was asked of the service is finished though the upload is paused.
    if (stage === "processing") this.#held = undefined;
    this.world.changed(this);
  }

  #say({ status }: AgentFile): void {
    this.status = status;
    this.world.changed(this);
  }

  #finish(end: "ready" | "failed" | "cancelled"): void {
    this.#end = end;
    this.#held = this.#upload = undefined;
    this.#cancelling = false;
    this.world.changed(this);
  }
}
