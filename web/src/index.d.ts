/**
 * Turnwire: a browser client for the Conversational Agent Service, compiled from Go to WebAssembly.
 *
 * Names and meanings here are settled; members may be added.
 *
 * @module turnwire
 */

// ------------------------------------------------------------------------------------------------ client

/** What a client is made with. Checked before anything is sent: an option that there is not is refused. */
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

/** One thing that the client did or that happened to it. */
export interface LogRecord {
  /** "warn" and "error" where somebody should look. */
  level: "debug" | "info" | "warn" | "error";
  /** What happened, in words that do not vary. */
  message: string;
  /** Method, path, status, attempt, milliseconds, ids: what the message is about. */
  fields: Readonly<Record<string, string | number | boolean>>;
}

/** One client a page is usual. Constructing it starts loading the module; calls made meanwhile wait for it. */
export class AgentClient {
  /** @throws InvalidArgumentError naming the option and what it should be. */
  constructor(options: ClientOptions);
  /** Creates and opens chats, which send messages. */
  readonly chats: Chats;
  /** Uploads files, reads their records and waits for them. */
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

/** Where the parts of the package lie that its script loads. */
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

/** What every call that sends requests takes. */
export interface RequestOptions {
  /**
   * Gives the call up: a promise rejects with the signal's reason, a turn is cancelled as by its abort(), an upload ends as
   * by its own. One that is aborted already sends nothing.
   */
  signal?: AbortSignal;
  /** Milliseconds; overrides the client's. */
  timeout?: number;
  /**
   * Further tries after the first, of what is safe to repeat: a message that got no answer or 408, 425, 429, 500, 502, 503
   * or 504, under the same key, as well as reading and reporting a file; the creation of a chat or of a file only after
   * 429 and 503. Default 2.
   */
  maxRetries?: number;
  /** Sent beside the client's, and in place of those of the same name; they replace none of the client's own making. */
  headers?: HeadersOption;
}

// ------------------------------------------------------------------------------------------------- chats

/** Where chats come from. */
export interface Chats {
  /**
   * Creates a chat at the service. Has no idempotency key, and is tried again only after 429 and 503. Rejects APIError,
   * ConnectionError, TimeoutError, and ProtocolError where the answer names no chat.
   */
  create(params?: CreateChatParams, options?: RequestOptions): Promise<Chat>;
  /** A chat that exists already; sends nothing. */
  open(chatId: string): Chat;
}

/** Whose chat it is, and for how long. */
export interface CreateChatParams {
  /** Default: the client's. One of both is needed. */
  workspaceId?: string;
  /** Default: the client's. One of both is needed. */
  agentId?: string;
  /** Whether the service need not keep the chat. Default: what the service says. */
  isTemporary?: boolean;
}

/** A chat of the service: messages go in, each with a turn for its answer. */
export interface Chat {
  /** As the service names it. */
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

/** A part of a message. The interface shows text alone; any other goes to the service as it is given. */
export type Part = TextPart | {
  /** As the service names the kind, such as "file". */
  type: string;
  [field: string]: unknown;
};
/** Text of a message. */
export interface TextPart {
  /** What makes it text. */
  type: "text";
  /** Not empty. */
  text: string;
}

/** How one message is sent and its answer followed. */
export interface SendOptions extends RequestOptions {
  /** Overrides the agent's model for this message only. */
  model?: string;
  /** Names this operation, so that repeating it does nothing twice. Default: a UUID v4. */
  idempotencyKey?: string;
  /** Milliseconds without a byte on the open stream; overrides the client's. */
  idleTimeout?: number;
  /** "never" (default): a stream that breaks is interrupted. "replay": sent again with the same key. */
  resume?: "never" | "replay";
  /** Called for each event, in order. */
  onEvent?: (event: TurnEvent) => void;
}

/** queued → streaming → one of the four ends. Only the service's turn_complete makes a turn "completed". */
export type TurnStatus = "queued" | "streaming" | "completed" | "failed" | "cancelled" | "interrupted";

/**
 * A message and its answer, up to how it ended. What was received stays on it, whatever the end.
 *
 * Events reach listeners and onEvent in order, in the same task as the network chunk that brought them, or of a large chunk
 * in tasks of their own; text, reasoning and toolCalls are as of the event that a listener is given. A turn can be iterated once; an iteration started late still begins with the first event, for events are kept until it does.
 * At 8 MiB kept, reading the stream pauses until they are taken; where a listener, onEvent or done() shows that the
 * turn is followed another way, they are dropped instead, and a late iteration rejects InvalidArgumentError.
 * A listener that throws is reported as an uncaught error of its own and harms nothing else.
 */
export interface Turn extends AsyncIterable<TurnEvent> {
  /** The id of its chat. */
  readonly chatId: string;
  /** As sent with every try: the one of send's options, else one of its own. */
  readonly idempotencyKey: string;
  /** Where it is, or how it ended; as of the event delivered last. */
  readonly status: TurnStatus;
  /** The answer so far. */
  readonly text: string;
  /** The reasoning so far. */
  readonly reasoning: string;
  /** The tool calls so far, in the order in which they began. Another array once one of them has changed, and only then. */
  readonly toolCalls: readonly ToolCall[];

  /** Every event of one type. What came before is not told again. */
  on<T extends TurnEventType>(type: T, listener: (event: TurnEventOf<T>) => void): this;
  /** Every event, of whatever type. */
  on(type: "event", listener: (event: TurnEvent) => void): this;
  /** Once a network chunk, after its events: the place to render from. */
  on(type: "update", listener: (turn: Turn) => void): this;
  /** Once, at the end, whatever it is, after those who wait for done(). A turn that has ended calls nobody: ask done(). */
  on(type: "end", listener: (turn: Turn) => void): this;
  /** Takes a listener away. One that is not there is no error. */
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
  /** The answer's fragments; errors as done() does. WebKit's streams have readers alone, no `for await`. */
  textStream(): ReadableStream<string>;
}

/** What a turn came to. An error's `partial` has as much of it as there was. */
export interface TurnResult {
  /** "cancelled" too is an end that was asked for. */
  status: "completed" | "cancelled";
  /** The answer: all of it where completed, else what had come. */
  text: string;
  /** The reasoning, likewise. */
  reasoning: string;
  /** In the order in which they began. */
  toolCalls: readonly ToolCall[];
  /** The payload of turn_complete, as it came; empty where cancelled. */
  data: Readonly<Record<string, unknown>>;
}

/** A tool that the service ran, as its events tell. */
export interface ToolCall {
  /** As the events carry it, else one that the client made. */
  id: string;
  /** The tool's; empty where no event named it. */
  name: string;
  /** "building" while its arguments come, "running" from tool_call on, "finished" from tool_result on. */
  status: "building" | "running" | "finished";
  /** The arguments' text so far. */
  argumentsText: string;
  /** Parsed, from tool_call on; undefined while building, or where the text is not JSON. */
  arguments?: unknown;
  /** As tool_result carries it, from then on. */
  result?: unknown;
  /** How its events were tied together: by an id they carry, or by their order. */
  matchedBy: "id" | "order";
}

/** What every event is. */
interface EventBase<T extends string, D = Readonly<Record<string, unknown>>> {
  /** The service's name of the kind. */
  readonly type: T;
  /** The payload as it came; fields that this version does not know too. */
  readonly data: D;
  /** The event's SSE id, where it had one. */
  readonly id?: string;
}
/** A fragment of the answer. */
export type TextDeltaEvent = EventBase<"text_delta", {
  /** The fragment. May end within what a person sees as one character, never within a code point. */
  readonly chunk: string;
  readonly [field: string]: unknown;
}>;
/** A fragment of the reasoning, which Turn.reasoning collects. */
export type ReasoningDeltaEvent = EventBase<"reasoning_delta">;
/** A tool call begins: its ToolCall is "building". */
export type ToolCallStartedEvent = EventBase<"tool_call_started">;
/** A fragment of a call's arguments. */
export type ToolCallDeltaEvent = EventBase<"tool_call_delta">;
/** A call with all of its arguments: the service runs it. */
export type ToolCallEvent = EventBase<"tool_call">;
/** A call's result. */
export type ToolResultEvent = EventBase<"tool_result">;
/** The end of an answer that is complete, and nothing else is. What comes after it is ignored. */
export type TurnCompleteEvent = EventBase<"turn_complete">;
/** The turn failed at the service: it ends as "failed", and done() rejects TurnError. */
export type ErrorEvent = EventBase<"error">;

/**
 * The documented kinds: `switch (event.type)` narrows `event.data`. A kind that this version does not know still
 * arrives, as an UnknownTurnEvent under its own type: leave a default branch.
 */
export type TurnEvent =
  | TextDeltaEvent | ReasoningDeltaEvent | ToolCallStartedEvent | ToolCallDeltaEvent
  | ToolCallEvent | ToolResultEvent | TurnCompleteEvent | ErrorEvent;
/** An event of a kind that this version does not know. */
export type UnknownTurnEvent = EventBase<string>;
/** The names of the documented kinds. */
export type TurnEventType = TurnEvent["type"];
/** The documented event of this name. */
export type TurnEventOf<T extends TurnEventType> = Extract<TurnEvent, {
  /** The name asked for. */
  type: T;
}>;

// ------------------------------------------------------------------------------------------------- files

/**
 * Bytes to be stored. A Blob or File is read block by block and never as a whole; of a view only its own window of the
 * buffer is taken, and a buffer must be left as it is until the upload has ended. A stream is read once, in order, and
 * at most `concurrency` blocks ahead of what is stored.
 */
export type UploadData = Blob | ArrayBuffer | ArrayBufferView | ReadableStream<Uint8Array>;

/** Files of the service: how their bytes come there, and what became of them. */
export interface Files {
  /**
   * Asks for a signed address, stores the data there in blocks, reports the result: one object, which starts at once.
   * With the resumeKey of an upload of this client that is still under way, that upload is returned.
   * @throws InvalidArgumentError naming the field and what it should be; nothing was sent.
   */
  upload(data: UploadData, options?: UploadOptions): Upload;
  /** Reads a file's record. Rejects APIError (NotFoundError where there is none), ConnectionError, TimeoutError, ProtocolError. */
  get(fileId: string, options?: RequestOptions): Promise<AgentFile>;
  /** Polls until ready; rejects FileError on upload_failed or processing_failed, TimeoutError past the limit. */
  wait(fileId: string, options?: WaitOptions): Promise<AgentFile>;
}

/** How one upload is done, and what the service is told of it. */
export interface UploadOptions extends RequestOptions {
  /** Default: the client's. One of both is needed. */
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

/** How a file is waited for. */
export interface WaitOptions extends RequestOptions {
  /** Milliseconds between the first two looks; each later pause is half as long again. Default 1_000. */
  interval?: number;
  /** Milliseconds that the pauses grow to. Default 5_000. */
  maxInterval?: number;
  /** Milliseconds for the whole wait. Default 600_000; 0: none. */
  waitTimeout?: number;
  /** Receives the record at each look. */
  onStatus?: (file: AgentFile) => void;
}

/** Where and how the bytes are to be stored. */
export interface UploadTicket {
  /** As the service names the file. */
  fileId: string;
  /** The signed address. May be empty where parts and completeURL stand for it. */
  url: string;
  /** Default: told from the address. */
  protocol?: UploadProtocol;
  /** Of the request with the bytes. Default: the protocol's own. */
  method?: string;
  /** Sent to the address with the bytes. */
  headers?: HeadersOption;
  /** Bytes. */
  blockSize?: number;
  /** Signed addresses of S3's parts, one each. */
  parts?: {
    /** From 1. */
    partNumber: number;
    /** The signed address. */
    url: string;
  }[];
  /** The signed address that makes one object of S3's parts. */
  completeURL?: string;
  /** RFC 3339 or HTTP date, or Unix time in seconds or milliseconds. */
  expiresAt?: string | number;
}
/** The ways to store bytes: the store decides which one there is. */
export type UploadProtocol = "azure-block" | "s3-multipart" | "gcs-resumable" | "tus" | "put";

/** Where an upload is: the first five on its way, then one of its three ends. One that waits for the network is "paused" as well. */
export type UploadStage = "preparing" | "uploading" | "paused" | "reporting" | "processing" | "done" | "failed" | "aborted";

/** How far an upload is. A new object each time. */
export interface UploadProgress {
  /** Where it is, or how it ended. */
  readonly stage: UploadStage;
  /** Bytes; never goes down, and is totalBytes when done. */
  readonly loadedBytes: number;
  /** Bytes of the whole. */
  readonly totalBytes: number;
  /** Blocks that the store has taken. */
  readonly blocksDone: number;
  /** 0 until the data is cut. */
  readonly blocksTotal: number;
  /** Bytes a second over the last few seconds; 0 until known. */
  readonly bytesPerSecond: number;
  /** Seconds; undefined until known. */
  readonly secondsLeft?: number;
}

/** One upload, from the request for an address to the report that the bytes are stored. */
export interface Upload {
  /** Known from the first step on. */
  readonly fileId?: string;
  /** Known from the first step on. */
  readonly protocol?: UploadProtocol;
  /** As of now. */
  readonly progress: UploadProgress;
  /** As often as onProgress. */
  on(type: "progress", listener: (progress: UploadProgress) => void): this;
  /** Once, at the end, whatever it is. */
  on(type: "end", listener: (upload: Upload) => void): this;
  /** Takes a listener away. One that is not there is no error. */
  off(type: string, listener: (...args: never[]) => void): this;
  /** Cancels the blocks under way; what the store has of them already is not sent again where it can tell. */
  pause(): void;
  /** Goes on after pause(). Does nothing where it was not paused. */
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

/** A file as the service tells of it. */
export interface AgentFile {
  /** As the service names it. */
  readonly id: string;
  /** "ready" and the two failures are ends; any other, such as "processing", is on its way. */
  readonly status: "ready" | "upload_failed" | "processing_failed" | (string & {});
  /** As it was uploaded, where the record has it. */
  readonly name?: string;
  /** Bytes. */
  readonly size?: number;
  /** As sent to the service, in the encoding asked for. */
  readonly checksum?: string;
  /** The service's record as it came. */
  readonly raw: Readonly<Record<string, unknown>>;
}

// ------------------------------------------------------------------------------------------------ errors

/** Every error of the client. `code` is stable and snake_case; the message is for people. */
export class AgentError extends Error {
  /** For programs, such as "idle_timeout"; of an APIError and a TurnError the service's own, where it named one. */
  readonly code: string;
  /** Whether trying the same thing later can help. */
  readonly retryable: boolean;
}
/** The call's own arguments are wrong; nothing was sent. */
export class InvalidArgumentError extends AgentError {}
/** The service answered, and not with success. */
export class APIError extends AgentError {
  /** Of the HTTP answer. */
  readonly status: number;
  /** What a turn had received, where it was its replay that was refused. */
  readonly partial?: Partial<TurnResult>;
  /** x-request-id or request-id of the answer, where CORS lets the page see it: what to name when asking the service about it. */
  readonly requestId?: string;
  /** Milliseconds that the service asked to wait. */
  readonly retryAfter?: number;
  /** The body: JSON where it was JSON, else text, at most 64 KiB. */
  readonly body: unknown;
}
/** 401 or 403: the key is missing, wrong, or not allowed to do this. */
export class AuthenticationError extends APIError {}
/** 404: there is no such workspace, agent, chat or file. */
export class NotFoundError extends APIError {}
/** 409: it contradicts what the service has, such as a key that names another message. */
export class ConflictError extends APIError {}
/** 429: too many requests; see retryAfter. */
export class RateLimitError extends APIError {}
/** The connection could not be made, or broke. */
export class ConnectionError extends AgentError {
  /** What had been received of a turn, where it was one. */
  readonly partial?: Partial<TurnResult>;
}
/** A limit of the options has passed; `code` says which one. */
export class TimeoutError extends AgentError {
  /** What had been received of a turn, where it was one. */
  readonly partial?: Partial<TurnResult>;
}
/** The answer is not what the interface says. */
export class ProtocolError extends AgentError {
  /** What had been received of a turn, where it was one. */
  readonly partial?: Partial<TurnResult>;
}
/** The turn failed at the service: the stream carried an error event. */
export class TurnError extends AgentError {
  /** The event's payload, as it came. */
  readonly data: Readonly<Record<string, unknown>>;
  /** What had been received. */
  readonly partial: Partial<TurnResult>;
}
/** A replayed stream differed from what was already delivered. */
export class ReplayMismatchError extends AgentError {
  /** What had been delivered. */
  readonly partial: Partial<TurnResult>;
}
/** An upload failed: in its stage, and at its block where one is to blame. */
export class UploadError extends AgentError {
  /** Known from the first step on. */
  readonly fileId?: string;
  /** The one in which it failed. */
  readonly stage: UploadStage;
  /** Index from 0, where one block is to blame. */
  readonly block?: number;
  /** The store's or the service's answer, where there was one. */
  readonly status?: number;
  /** true where the store has every byte, and only the service did not confirm the report. */
  readonly stored?: boolean;
}
/** The file ended as upload_failed or processing_failed. */
export class FileError extends AgentError {
  /** Its record, as read last. */
  readonly file: AgentFile;
}
/** The module could not be loaded. */
export class RuntimeLoadError extends AgentError {}
/** The module stopped working. Calls under way reject with this; the next call starts a fresh instance. */
export class RuntimeCrashError extends AgentError {}
