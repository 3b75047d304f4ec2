// What the module's words about a client, a call, a turn or an upload reach. It says them from inside, so that no code of the
// page's author may run before it has returned.

import type { CallEnd, File, HashRange, LogRecord, Progress, StoreRequest, TurnEnd, UploadEnd } from "./contract.ts";

export interface ClientSink {
  /** The author's own, where he has one. */
  readonly fetch: typeof fetch | undefined;
  readonly credentials: RequestCredentials;
  /** Asks the author's function for the key, from a later task. */
  key(): Promise<string>;
  log(record: LogRecord): void;
}

export interface CallSink {
  ended(end: CallEnd): void;
  /** Of a file that is waited for. */
  status?: ((file: File) => void) | undefined;
}

export interface TurnSink {
  opened(body: ReadableStream<Uint8Array> | null): void;
  ended(end: TurnEnd): void;
}

/** An upload's functions of Page. */
export interface UploadSink {
  sendBlock(request: number, block: StoreRequest): void;
  cancelBlock(request: number): void;
  hash(part: HashRange): void;
  releaseData(before: number): void;
  showProgress(progress: Progress): void;
  saveRecord(record: string): void;
  forgetRecord(): void;
  mapTicket(body: string): void;
  status(file: File): void;
  ended(end: UploadEnd): void;
}
