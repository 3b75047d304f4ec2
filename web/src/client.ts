import type * as API from "turnwire";
import { closeConnections, reopenConnections } from "./connections.ts";
import { AgentError, type ErrorSpec, errorOf, ProtocolError, type RuntimeCrashError } from "./errors.ts";
import { Files } from "./files.ts";
import { Hidden } from "./hidden.ts";
import { cameBack, left } from "./leaving.ts";
import { guarded } from "./listeners.ts";
import { type Instance, instance, type Settle } from "./runtime.ts";
import { Turn, turns } from "./turn.ts";
import { uploads } from "./upload.ts";
import { type ClientConfig, clientConfig, createParams, requestConfig, type RequestConfig, segment, sendConfig } from "./validate.ts";

/** A client's place in the running instance; made anew when the instance is. */
export interface Seat {
  instance: Instance;
  client: number;
}

/** What the objects of one client share. */
export class Session {
  readonly config: ClientConfig;
  readonly #hidden = new Hidden();
  readonly #calls = new Set<(error: AgentError) => void>();
  #seat: Seat | undefined;
  closed = false;

  constructor(config: ClientConfig) {
    this.config = config;
    this.#hidden.add(config.key);
  }

  /** The error of what the module said, without the keys; partial is what a turn had received. */
  error(spec: ErrorSpec, partial?: Partial<API.TurnResult>): AgentError {
    return errorOf(this.#hidden.of(spec), partial && this.#hidden.of(partial));
  }

  /** Hands a record to the page's log, in a task of its own: the module may be in the middle of its work. */
  log(level: API.LogRecord["level"], message: string, fields: Record<string, string | number | boolean>): void {
    const { onLog } = this.config;
    if (onLog) queueMicrotask(() => guarded(() => onLog({ level, message, fields: Object.freeze(this.#hidden.of(fields)) })));
  }

  /** The client's seat in a running instance. */
  seat(instance: Instance): Seat {
    if (this.#seat?.instance !== instance) {
      const client = instance.control.openClient(this.#wire());
      if (instance.error) throw instance.error;
      this.#seat = { instance, client };
    }
    return this.#seat;
  }

  /** Runs with a seat, in the task in which the instance is known to work: of calls that wait together, one may crash it. */
  async seated(run: (seat: Seat) => void, outlives = false): Promise<void> {
    for (;;) {
      if (!outlives) this.check();
      const running = await instance();
      if (!outlives) this.check();
      if (running.alive) return run(this.seat(running));
    }
  }

  check(): void {
    if (this.closed) throw new AgentError("the client was closed; make a new one", "client_closed");
  }

  /**
   * The options as the module wants them. The page's own functions run in tasks of their own, because no call of the
   * module may be below them; only the browser's fetch is called at once, so that an abort on pagehide goes out.
   */
  #wire(): object {
    const { base, key, keyFunc, headers, credentials, fetch: own, onLog } = this.config;
    return {
      base, key, headers, credentials, host: `${new URL(base).origin}/`,
      keyFunc: keyFunc && (async () => {
        await null;
        const key = await keyFunc();
        if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) {
          this.#hidden.add(key);
          return key;
        }
        throw new TypeError(`it gave ${typeof key === "string" ? "a string that is empty or no header value" : `a ${typeof key}`}, not a key`);
      }),
      fetch: own
        ? async (url: string, init: RequestInit) => {
            await null;
            return answerOf(await own(url, init));
          }
        : (url: string, init: RequestInit) => fetch(url, init).then(answerOf),
      log: onLog && ((level: API.LogRecord["level"], message: string, fields: string) => this.log(level, message, JSON.parse(fields))),
    };
  }

  /** One request and its answer; the signal and a crash end it too, and so does close(), unless it tells the service of an end. */
  async call(
    options: RequestConfig, start: (seat: Seat, options: object, settle: Settle) => number,
    { stop = "cancelCall", outlives = false }: { stop?: "cancelCall" | "cancelWait"; outlives?: boolean } = {},
  ): Promise<string[]> {
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    let drop: (() => void) | undefined;
    try {
      return await new Promise<string[]>((resolve, reject) => {
        let cancel = (): void => {};
        const aborted = (): void => {
          cancel();
          reject(signal!.reason);
        };
        const crashed = (error: RuntimeCrashError): void => reject(error);
        signal?.addEventListener("abort", aborted);
        if (!outlives) this.#calls.add(reject);
        let under: Instance | undefined;
        drop = () => {
          signal?.removeEventListener("abort", aborted);
          this.#calls.delete(reject);
          under?.onCrash.delete(crashed);
        };
        this.seated((seat) => {
          if (signal?.aborted) return;
          under = seat.instance;
          under.onCrash.add(crashed);
          const call = start(seat, rest, (error, ...values) => (error === null ? resolve(values) : reject(this.error(JSON.parse(error)))));
          cancel = () => seat.instance.alive && seat.instance.control[stop](call);
        }, outlives).catch(reject);
      });
    } finally {
      drop?.();
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    const seat = this.#seat;
    this.#seat = undefined;
    for (const [turn, session] of turns) if (session === this) turn.disconnect();
    for (const [upload, session] of uploads) if (session === this) void upload.abort();
    if (seat?.instance.alive) seat.instance.control.closeClient(seat.client);
    const error = new AgentError("the client was closed while the call was under way", "client_closed");
    for (const reject of this.#calls) reject(error);
  }
}

/** What the module needs of an answer, read once and here: a fetch of the page's own may give anything. */
function answerOf(response: Response): object {
  const { status, type, headers } = response ?? {};
  const get = (name: string): string => {
    const value = headers.get(name);
    return typeof value === "string" ? value : "";
  };
  if (!Number.isInteger(status) || status < 0 || status > 999 || typeof headers?.get !== "function") throw new TypeError("option fetch must resolve with a Response");
  // Such a one has nothing that can be read.
  if (status < 100) throw new TypeError(`the answer is of type ${type || "none"}, and says nothing`);
  return {
    response, status, body: response.body, contentType: get("content-type"), requestId: get("x-request-id") || get("request-id"), retryAfter: get("retry-after"),
  };
}

/**
 * A page that goes away stops its turns at the service too: what nobody will read must not be paid for. So for its
 * uploads, but for those that a later page can go on with.
 */
function leave(): void {
  left();
  closeConnections();
  for (const [turn, session] of turns) {
    if (session.config.pageHide === "abort") turn.abort().catch(() => {});
    else turn.disconnect();
  }
  for (const [upload, session] of uploads) {
    // Whose bytes are all stored is left to the service, which hears of it all the same.
    const stored = upload.progress.stage === "reporting" || upload.progress.stage === "processing";
    if (session.config.pageHide === "abort" && upload.resumeKey === undefined && !stored) void upload.abort();
  }
}

function shown(): void {
  cameBack();
  reopenConnections();
}

export class AgentClient implements API.AgentClient {
  readonly chats: API.Chats;
  readonly files: API.Files;
  readonly #session: Session;

  constructor(options: API.ClientOptions) {
    this.#session = new Session(clientConfig(options));
    this.chats = new Chats(this.#session);
    this.files = new Files(this.#session);
    // On a server there is nothing to load; a failure is told by ready() and by the calls.
    if (typeof location === "undefined") return;
    instance().catch(() => {});
    addEventListener("pagehide", leave);
    addEventListener("pageshow", shown);
  }

  ready(): Promise<void> {
    return this.#session.seated(() => {});
  }

  close(): void {
    this.#session.close();
  }
}

class Chats implements API.Chats {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async create(params?: API.CreateChatParams, options?: API.RequestOptions): Promise<API.Chat> {
    const session = this.#session;
    session.check();
    const { workspaceId, agentId, isTemporary } = createParams(params, session.config);
    const [id, raw] = await session.call(requestConfig(options, session.config), ({ instance, client }, options, settle) =>
      instance.control.createChat(client, workspaceId, agentId, isTemporary, options, settle));
    if (id === "." || id === "..") throw new ProtocolError(`the service named the chat "${id}", which no path can hold`, "chat_without_id");
    return new Chat(session, id!, JSON.parse(raw!));
  }

  open(chatId: string): API.Chat {
    this.#session.check();
    return new Chat(this.#session, segment(chatId, "chatId", "given"), {});
  }
}

class Chat implements API.Chat {
  readonly id: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly #session: Session;

  constructor(session: Session, id: string, raw: Record<string, unknown>) {
    this.id = id;
    this.raw = Object.freeze(raw);
    this.#session = session;
  }

  send(message: string | API.Part[], options?: API.SendOptions): API.Turn {
    this.#session.check();
    const config = sendConfig(message, options, this.#session.config);
    // A double click, or an effect that a framework runs twice: the key names one operation.
    for (const [turn, session] of turns) {
      // One that was just aborted or disconnected leaves the list a moment later.
      const under = turn.status === "queued" || turn.status === "streaming";
      if (under && session === this.#session && turn.chatId === this.id && turn.idempotencyKey === config.key) return turn;
    }
    return new Turn(this.#session, this.id, config);
  }

  async abort(options?: API.RequestOptions): Promise<void> {
    const session = this.#session;
    session.check();
    await session.call(requestConfig(options, session.config), ({ instance, client }, options, settle) =>
      instance.control.abortChat(client, this.id, options, settle), { outlives: true });
  }
}
