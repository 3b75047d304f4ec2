// What the module's words about a client, a call, a turn or an upload reach. It says them from inside, so that no code of the
// page's author may run before it has returned.

import type { CallEnd, File, LogRecord, Page, TurnEnd } from "./contract.ts";

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

/** The page's functions for an upload. */
export const uploadFunctions = [
  "sendBlock", "cancelBlock", "hash", "releaseData", "showProgress", "saveRecord", "forgetRecord", "mapTicket", "uploadStatus", "uploadEnded",
] as const satisfies (keyof Page)[];

/** They, of one upload. */
export type UploadSink = { [name in (typeof uploadFunctions)[number]]: Page[name] extends (upload: number, ...rest: infer Rest) => void ? (...rest: Rest) => void : never };
