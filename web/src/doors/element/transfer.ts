import type { AgentClient, AgentFile, Upload, UploadProgress } from "turnwire";
import type { Where } from "./attributes.ts";
import { percent } from "./format.ts";
import type { KeptFile } from "./kept-files.ts";
import { troubleOf, type Trouble } from "./trouble.ts";
import type { ChatFileState, ChatStrings, ChatUploadOptions } from "./types.d.ts";

export interface TransferWorld {
  client: () => AgentClient | Promise<AgentClient>;
  where: () => Where;
  strings: ChatStrings;
  options: () => ChatUploadOptions;
  /** What the element is kept under, "" where it is not: then no upload is gone on with by a later page. */
  keep: () => string;
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
  /** Counts how often it got in line: what belongs to a former time is of no interest. */
  #run = 0;
  #resumable = false;

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

  get state(): ChatFileState {
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
    this.#run += 1;
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
    else if (this.#file) this.settled = this.#settle((run) => this.#send(this.#file!, run));
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

  /** The element goes away: ends as the client's option pageHide says, but goes on where a later page could, or nothing is left to do. */
  leave(pageHide: AgentClient["pageHide"]): void {
    const stored = this.state === "reporting" || this.state === "processing";
    if (this.#held === "waiting" && !this.#upload) this.#finish("cancelled");
    else if (pageHide === "abort" && !this.#resumable && !stored) void this.cancel();
  }

  async #send(file: File, run: number): Promise<AgentFile> {
    const client = await this.world.client();
    if (this.#end || run !== this.#run) throw new DOMException("The upload was given up before it began", "AbortError");
    const keep = this.world.keep();
    this.#resumable = keep !== "";
    this.#upload = client.files.upload(file, {
      purpose: "rag",
      ...this.world.options(),
      ...(keep && { resumeKey: `${keep} ${this.key}` }),
      onProgress: (progress) => this.#note(progress),
      wait: { onStatus: (record) => this.#say(record) },
    });
    return this.#upload.done();
  }

  async #settle(begin: (run: number) => Promise<AgentFile>): Promise<void> {
    const run = this.#run;
    let end: "ready" | "failed" | "cancelled" = "ready";
    let record: AgentFile | undefined;
    let failure: unknown;
    try {
      record = await begin(run);
    } catch (error) {
      failure = error;
      end = error instanceof DOMException && error.name === "AbortError" ? "cancelled" : "failed";
    }
    if (this.#end || run !== this.#run) return;
    this.record = record;
    this.#fileId = record?.id ?? this.#fileId;
    if (end === "failed") this.trouble = troubleOf(this.world.strings, failure, this.world.where());
    this.#finish(end);
  }

  /** Waits for what an earlier page had sent whole. */
  #watch(): void {
    this.progress = {
      stage: "processing", loadedBytes: this.size, totalBytes: this.size, blocksDone: 0, blocksTotal: 0, bytesPerSecond: 0,
    };
    this.settled = this.#settle(async () => (await this.world.client()).files.wait(this.#fileId, { onStatus: (record) => this.#say(record) }));
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
