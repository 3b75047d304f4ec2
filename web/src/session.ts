import type * as API from "turnwire";
import { answerOf } from "./answer.ts";
import type { Settle } from "./control.ts";
import { AgentError, type ErrorSpec, errorOf, type RuntimeCrashError } from "./errors.ts";
import { Hidden } from "./hidden.ts";
import type { Instance } from "./instance.ts";
import { guarded } from "./listeners.ts";
import { instance } from "./loader.ts";
import type { ClientConfig, RequestConfig } from "./validate.ts";

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
  /** What ends with the client: its turns and uploads. */
  readonly onClose = new Set<() => void>();
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
        let gone = false;
        const aborted = (): void => {
          gone = true;
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
          const call = start(seat, rest, (error, ...values) => {
            if (error === null) resolve(values);
            // Of a call that its caller gave up, only the caller's own reason is told.
            else if (!gone) reject(this.error(JSON.parse(error)));
          });
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
    for (const end of [...this.onClose]) end();
    if (seat?.instance.alive) seat.instance.control.closeClient(seat.client);
    const error = new AgentError("the client was closed while the call was under way", "client_closed");
    for (const reject of this.#calls) reject(error);
  }
}
