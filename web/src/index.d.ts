/**
 * Turnwire: a browser client for the Conversational Agent Service, compiled from Go to WebAssembly.
 *
 * Names and meanings here are settled; members may be added.
 */

// ------------------------------------------------------------------------------------------------ client

export interface ClientOptions {
  /** Address that the service's /v1 paths are relative to. Absolute, or relative to the page. */
  baseURL: string | URL;
  /** Access key, or a function called for a current one. Leave out behind a proxy that adds it. */
  apiKey?: string | (() => string | Promise<string>);
  /** Workspace used where a call names none. */
  workspaceId?: string;
  /** Agent used where a call names none. */
  agentId?: string;
  /** Sent with every request to the service, never to a signed address; they replace none of the client's own. */
  headers?: HeadersOption;
  /** Default "same-origin". Cookies are never sent to a signed address. */
  credentials?: RequestCredentials;
  /** Default 2; see RequestOptions.maxRetries. */
  maxRetries?: number;
  /**
   * Milliseconds until response headers, from when the browser can have a connection for the request; and for apiKey, where
   * it is a function. Default 60_000; 0: none.
   */
  timeout?: number;
  /** Milliseconds without a byte on an open stream. Default 120_000; 0: none. */
  idleTimeout?: number;
  /**
   * What happens to turns and uploads under way when the page goes away. "abort" (default): the service is told to
   * stop, by a request that outlives the page; an upload with a resumeKey is left as it is, for a later page to go on.
   * "disconnect": the service is told nothing.
   */
  pageHide?: "abort" | "disconnect";
  /** Used instead of the page's fetch, for every request to the service; blocks go to the store without it. */
  fetch?: typeof fetch;
  /** Receives one record for each request, retry, turn and upload. Never holds a key or a signed address. */
  onLog?: (record: LogRecord) => void;
}

/** Names and values that HTTP allows. What is given more than once is put together, as fetch does. */
export type HeadersOption =
  | Readonly<Record<string, string>> | Headers | ReadonlyMap<string, string> | readonly (readonly [name: string, value: string])[];

export interface LogRecord {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** Method, path, status, attempt, milliseconds, ids: what the message is about. */
  fields: Readonly<Record<string, string | number | boolean>>;
}

/** One client a page is usual. Constructing it starts loading the module; calls made meanwhile wait for it. */
export class AgentClient {
  /** @throws InvalidArgumentError naming the option and what it should be. */
  constructor(options: ClientOptions);
  readonly chats: Chats;
  readonly files: Files;
  /** As the option says: what goes away with a part of the page, such as a component, ends its turns in the same way. */
  readonly pageHide: "abort" | "disconnect";
  /** Resolves when the module runs; rejects RuntimeLoadError with what to check (address, MIME type, CSP). */
  ready(): Promise<void>;
  /**
   * Disconnects every turn, aborts every upload, releases the instance's memory. Later calls reject. What tells the service
   * of an end, such as an abort, still goes out.
   */
  close(): void;
}

export interface InitOptions {
  /** Where the module lies, turnwire.wasm or turnwire.go.wasm. Default: turnwire.wasm beside the script. */
  wasmURL?: string | URL;
  /** Where Go's runtime script lies, which turnwire.go.wasm alone needs. Default: turnwire.go.mjs beside the module. */
  runtimeURL?: string | URL;
  /** A module compiled already, for a page that has its own loading. */
  wasmModule?: WebAssembly.Module;
  /**
   * Where the script of the worker that computes checksums lies. Default: beside the script. false, or where it can't
   * be started (another origin, a Content-Security-Policy, Trusted Types): no worker, checksums yield to the page instead.
   */
  workerURL?: string | URL | false;
}

/**
 * Optional: says where the module is, or when it runs. Idempotent with the same options. In a page the module is fetched from
 * the task after the script's own on, from beside the script; who says another place in that same task saves that fetch.
 */
export function init(options?: InitOptions): Promise<void>;

/** The package's version, and the versions of the toolchain that built it. */
export const version: string;

export interface RequestOptions {
  signal?: AbortSignal;
  /** Milliseconds; overrides the client's. */
  timeout?: number;
  /**
   * Further tries after the first, of what is safe to repeat: a message that got no answer or 408, 425, 429, 500, 502, 503
   * or 504, under the same key, as well as reading and reporting a file; the creation of a chat or of a file only after
   * 429 and 503. Default 2.
   */
  maxRetries?: number;
  headers?: HeadersOption;
}

// ------------------------------------------------------------------------------------------------- chats

export interface Chats {
  create(params?: CreateChatParams, options?: RequestOptions): Promise<Chat>;
  /** A chat that exists already; sends nothing. */
  open(chatId: string): Chat;
}

export interface CreateChatParams {
  workspaceId?: string;
  agentId?: string;
  isTemporary?: boolean;
}

export interface Chat {
  readonly id: string;
  /** The service's record as it came; empty for an opened chat. */
  readonly raw: Readonly<Record<string, unknown>>;
  /**
   * Sends a message; the turn starts at once. With the idempotencyKey of a turn of this chat that is still under way,
   * that turn is returned and nothing is sent.
   * @throws InvalidArgumentError naming the field and what it should be; nothing was sent.
   */
  send(message: string | Part[], options?: SendOptions): Turn;
  /** Tells the service to stop whatever turn this chat is producing, also one of another page. */
  abort(options?: RequestOptions): Promise<void>;
}

export type Part = TextPart | { type: string; [field: string]: unknown };
export interface TextPart {
  type: "text";
  text: string;
}

export interface SendOptions extends RequestOptions {
  /** Overrides the agent's model for this message only. */
  model?: string;
  /** Names this operation, so that repeating it does nothing twice. Default: a UUID v4. */
  idempotencyKey?: string;
  idleTimeout?: number;
  /** "never" (default): a stream that breaks is interrupted. "replay": sent again with the same key. */
  resume?: "never" | "replay";
  /** Called for each event, in order. */
  onEvent?: (event: TurnEvent) => void;
}

/**
 * queued → streaming → one of the four ends.
 *
 * Events reach listeners and onEvent in order, in the same task as the network chunk that brought them, or of a large chunk
 * in tasks of their own; text, reasoning and toolCalls are as of the event that a listener is given. A turn can be iterated once; an iteration started late still begins with the first event, for events are kept until it does.
 * At 8 MiB kept, reading the stream pauses until they are taken; where a listener, onEvent or done() shows that the
 * turn is followed another way, they are dropped instead, and a late iteration rejects InvalidArgumentError.
 * A listener that throws is reported as an uncaught error of its own and harms nothing else.
 */
export type TurnStatus = "queued" | "streaming" | "completed" | "failed" | "cancelled" | "interrupted";

export interface Turn extends AsyncIterable<TurnEvent> {
  readonly chatId: string;
  readonly idempotencyKey: string;
  readonly status: TurnStatus;
  /** The answer so far. */
  readonly text: string;
  /** The reasoning so far. */
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];

  on<T extends TurnEventType>(type: T, listener: (event: TurnEventOf<T>) => void): this;
  /** Every event, of whatever type. */
  on(type: "event", listener: (event: TurnEvent) => void): this;
  /** Once a network chunk, after its events: the place to render from. */
  on(type: "update", listener: (turn: Turn) => void): this;
  on(type: "end", listener: (turn: Turn) => void): this;
  off(type: string, listener: (...args: never[]) => void): this;

  /**
   * Cancels here at once, and at the service, where its message has left. Resolves when the service has answered; a message
   * that is sent to the chat meanwhile waits for that, at most for `timeout`. While another turn of the chat is under way,
   * which the service could stop instead, it waits for that one's end or abort, as long. Rejects where the service could not
   * be told; nobody has to wait for it.
   */
  abort(): Promise<void>;
  /** Lets go of the stream without telling the service to stop. */
  disconnect(): void;
  /** Resolves when completed or cancelled; rejects TurnError, APIError, ConnectionError, TimeoutError, ProtocolError. */
  done(): Promise<TurnResult>;
  /** The answer's fragments; errors as done() does. */
  textStream(): ReadableStream<string>;
}

export interface TurnResult {
  status: "completed" | "cancelled";
  text: string;
  reasoning: string;
  toolCalls: readonly ToolCall[];
  /** The payload of turn_complete, as it came. */
  data: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  id: string;
  name: string;
  status: "building" | "running" | "finished";
  /** The arguments' text so far. */
  argumentsText: string;
  /** Parsed, from tool_call on; undefined while building, or where the text is not JSON. */
  arguments?: unknown;
  result?: unknown;
  /** How its events were tied together: by an id they carry, or by their order. */
  matchedBy: "id" | "order";
}

interface EventBase<T extends string, D = Readonly<Record<string, unknown>>> {
  readonly type: T;
  readonly data: D;
  /** The event's SSE id, where it had one. */
  readonly id?: string;
}
export type TextDeltaEvent = EventBase<"text_delta", { readonly chunk: string; readonly [field: string]: unknown }>;
export type ReasoningDeltaEvent = EventBase<"reasoning_delta">;
export type ToolCallStartedEvent = EventBase<"tool_call_started">;
export type ToolCallDeltaEvent = EventBase<"tool_call_delta">;
export type ToolCallEvent = EventBase<"tool_call">;
export type ToolResultEvent = EventBase<"tool_result">;
export type TurnCompleteEvent = EventBase<"turn_complete">;
export type ErrorEvent = EventBase<"error">;

/**
 * The documented kinds: `switch (event.type)` narrows `event.data`. A kind that this version does not know still
 * arrives, as an UnknownTurnEvent under its own type: leave a default branch.
 */
export type TurnEvent =
  | TextDeltaEvent | ReasoningDeltaEvent | ToolCallStartedEvent | ToolCallDeltaEvent
  | ToolCallEvent | ToolResultEvent | TurnCompleteEvent | ErrorEvent;
export type UnknownTurnEvent = EventBase<string>;
export type TurnEventType = TurnEvent["type"];
export type TurnEventOf<T extends TurnEventType> = Extract<TurnEvent, { type: T }>;

// ------------------------------------------------------------------------------------------------- files

/**
 * Bytes to be stored. A Blob or File is read block by block and never as a whole; of a view only its own window of the
 * buffer is taken, and a buffer must be left as it is until the upload has ended. A stream is read once, in order, and
 * at most `concurrency` blocks ahead of what is stored.
 */
export type UploadData = Blob | ArrayBuffer | ArrayBufferView | ReadableStream<Uint8Array>;

export interface Files {
  /**
   * Asks for a signed address, stores the data there in blocks, reports the result: one object, which starts at once.
   * With the resumeKey of an upload of this client that is still under way, that upload is returned.
   * @throws InvalidArgumentError naming the field and what it should be; nothing was sent.
   */
  upload(data: UploadData, options?: UploadOptions): Upload;
  get(fileId: string, options?: RequestOptions): Promise<AgentFile>;
  /** Polls until ready; rejects FileError on upload_failed or processing_failed, TimeoutError past the limit. */
  wait(fileId: string, options?: WaitOptions): Promise<AgentFile>;
}

export interface UploadOptions extends RequestOptions {
  workspaceId?: string;
  /** Default: the File's own name, else "upload". */
  name?: string;
  /** Default: the Blob's own type, else application/octet-stream. */
  contentType?: string;
  /** For example "rag". */
  purpose?: string;
  /** Bytes; needed only where the data does not tell (a stream). */
  size?: number;
  /** Bytes. Default: what the service names, else 8 MiB; in any case within what the protocol allows. */
  blockSize?: number;
  /**
   * Blocks being sent at once. Default 4. The next begins when all bytes of one have left, so that half as many again,
   * rounded down, may be awaiting their answer: with the default, six requests, as many as a browser has connections for
   * to a host without HTTP/2. On the service's own host, which needs some of those itself, a block counts until it is
   * answered.
   */
  concurrency?: number;
  /** Times that a block is sent before the upload fails. Default 4. */
  blockTries?: number;
  /**
   * Milliseconds in which the store takes nothing of a block whose bytes are read, until it is sent again. Default
   * 60_000; 0: none. One that waits for a connection is not counted.
   */
  blockTimeout?: number;
  /**
   * Milliseconds in which the data gives nothing while some of it is wanted, such as a stream whose source has died.
   * Default 120_000; 0: none.
   */
  dataTimeout?: number;
  /**
   * Milliseconds for which the report that the bytes are stored is repeated, where the service does not confirm it.
   * Default 300_000; 0: for ever.
   */
  reportTimeout?: number;
  /**
   * SHA-256 of the whole: true (default) while uploading, "before" ahead of the first step, false none, or one already
   * known (64 hexadecimal digits).
   */
  checksum?: boolean | "before" | string;
  /** How the checksum is sent. Default "hex", lower-case. */
  checksumEncoding?: "hex" | "base64";
  /**
   * Wait for ready as a part of done(). Default false: registered is done. What the options do not say of the wait's
   * requests is as for the upload's own; their signal ends the wait alone, and done() rejects with its reason.
   */
  wait?: boolean | WaitOptions;
  /** At most sixty times a second, at least ten while bytes move. */
  onProgress?: (progress: UploadProgress) => void;
  /** Understands a service whose upload-url answer looks different. */
  mapUploadTicket?: (raw: unknown) => UploadTicket;
  /**
   * Goes on after a page reload: what is stored under this key is continued if it is the same data (name, size, type,
   * purpose, time of change, first and last bytes; without a time of change, all bytes), else the upload begins anew. Kept
   * in this origin's IndexedDB: the signed address and the blocks done, never the key. Of a stream nothing can be
   * continued.
   */
  resumeKey?: string;
}

export interface WaitOptions extends RequestOptions {
  /** Milliseconds. Defaults 1_000 growing to 5_000. */
  interval?: number;
  maxInterval?: number;
  /** Milliseconds for the whole wait. Default 600_000; 0: none. */
  waitTimeout?: number;
  onStatus?: (file: AgentFile) => void;
}

/** Where and how the bytes are to be stored. */
export interface UploadTicket {
  fileId: string;
  /** The signed address. May be empty where parts and completeURL stand for it. */
  url: string;
  /** Default: told from the address. */
  protocol?: UploadProtocol;
  method?: string;
  /** Sent to the address with the bytes. */
  headers?: HeadersOption;
  /** Bytes. */
  blockSize?: number;
  parts?: { partNumber: number; url: string }[];
  completeURL?: string;
  /** RFC 3339 or HTTP date, or Unix time in seconds or milliseconds. */
  expiresAt?: string | number;
}
export type UploadProtocol = "azure-block" | "s3-multipart" | "gcs-resumable" | "tus" | "put";

/** An upload that waits for the network is paused as well. */
export type UploadStage = "preparing" | "uploading" | "paused" | "reporting" | "processing" | "done" | "failed" | "aborted";

export interface UploadProgress {
  readonly stage: UploadStage;
  /** Bytes; never goes down, and is totalBytes when done. */
  readonly loadedBytes: number;
  readonly totalBytes: number;
  readonly blocksDone: number;
  /** 0 until the data is cut. */
  readonly blocksTotal: number;
  /** Bytes a second over the last few seconds; 0 until known. */
  readonly bytesPerSecond: number;
  /** Seconds; undefined until known. */
  readonly secondsLeft?: number;
}

export interface Upload {
  /** Known from the first step on. */
  readonly fileId?: string;
  readonly protocol?: UploadProtocol;
  readonly progress: UploadProgress;
  on(type: "progress", listener: (progress: UploadProgress) => void): this;
  on(type: "end", listener: (upload: Upload) => void): this;
  off(type: string, listener: (...args: never[]) => void): this;
  /** Cancels the blocks under way; what the store has of them already is not sent again where it can tell. */
  pause(): void;
  resume(): void;
  /**
   * Stops and tells the service upload_failed; offline, once there is a network. done() then rejects with an AbortError
   * DOMException. Of bytes that are stored and being reported it comes too late: the report decides, and done() resolves
   * where it is taken. Resolves when the upload has ended.
   */
  abort(): Promise<void>;
  /** Resolves when the service knows the bytes stored; with wait, when it is ready. Rejects UploadError, APIError, FileError, TimeoutError. */
  done(): Promise<AgentFile>;
}

export interface AgentFile {
  readonly id: string;
  readonly status: "ready" | "upload_failed" | "processing_failed" | (string & {});
  readonly name?: string;
  /** Bytes. */
  readonly size?: number;
  /** As sent to the service, in the encoding asked for. */
  readonly checksum?: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

// ------------------------------------------------------------------------------------------------ errors

/** Every error of the client. `code` is stable and snake_case; the message is for people. */
export class AgentError extends Error {
  readonly code: string;
  /** Whether trying the same thing later can help. */
  readonly retryable: boolean;
}
/** The call's own arguments are wrong; nothing was sent. */
export class InvalidArgumentError extends AgentError {}
/** The service answered, and not with success. */
export class APIError extends AgentError {
  readonly status: number;
  /** What a turn had received, where it was its replay that was refused. */
  readonly partial?: Partial<TurnResult>;
  readonly requestId?: string;
  /** Milliseconds that the service asked to wait. */
  readonly retryAfter?: number;
  /** The body: JSON where it was JSON, else text, at most 64 KiB. */
  readonly body: unknown;
}
export class AuthenticationError extends APIError {}   // 401, 403
export class NotFoundError extends APIError {}          // 404
export class ConflictError extends APIError {}          // 409
export class RateLimitError extends APIError {}         // 429
/** The connection could not be made, or broke. */
export class ConnectionError extends AgentError { readonly partial?: Partial<TurnResult>; }
export class TimeoutError extends AgentError { readonly partial?: Partial<TurnResult>; }
/** The answer is not what the interface says. */
export class ProtocolError extends AgentError { readonly partial?: Partial<TurnResult>; }
/** The turn failed at the service: the stream carried an error event. */
export class TurnError extends AgentError {
  readonly data: Readonly<Record<string, unknown>>;
  readonly partial: Partial<TurnResult>;
}
/** A replayed stream differed from what was already delivered. */
export class ReplayMismatchError extends AgentError { readonly partial: Partial<TurnResult>; }
/** An upload failed: in its stage, and at its block where one is to blame. */
export class UploadError extends AgentError {
  readonly fileId?: string;
  readonly stage: UploadStage;
  /** Index from 0, where one block is to blame. */
  readonly block?: number;
  /** The store's or the service's answer, where there was one. */
  readonly status?: number;
  /** true where the store has every byte, and only the service did not confirm the report. */
  readonly stored?: boolean;
}
/** The file ended as upload_failed or processing_failed. */
export class FileError extends AgentError { readonly file: AgentFile; }
/** The module could not be loaded. */
export class RuntimeLoadError extends AgentError {}
/** The module stopped working. Calls under way reject with this; the next call starts a fresh instance. */
export class RuntimeCrashError extends AgentError {}
