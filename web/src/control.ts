import type { UploadStage } from "turnwire";

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
export interface Control {
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
