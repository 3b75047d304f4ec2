import type * as API from "turnwire";
import type { AbortParams, CallEnd, ChatParams, Error as Told, File, FileParams, ReportParams, WaitParams } from "./contract.ts";
import { AgentError, errorOf } from "./errors.ts";
import { Hidden } from "./hidden.ts";
import type { Instance } from "./instance.ts";
import { guarded } from "./listeners.ts";
import { instance } from "./loader.ts";
import { join, onAbort } from "./undo.ts";
import type { ClientConfig } from "./validate.ts";

/** A client as the running instance knows it, by a number; another one in every instance. */
export interface Handle {
  instance: Instance;
  client: number;
}

/** The module's calls that have an end, with what they are given. */
interface Calls {
  createChat: ChatParams;
  abortChat: AbortParams;
  getFile: FileParams;
  waitFile: WaitParams;
  reportFailed: ReportParams;
}

/** What the objects of one client share. */
export class ClientContext {
  readonly config: ClientConfig;
  readonly #hidden = new Hidden();
  readonly #calls = new Set<(error: AgentError) => void>();
  #handle: Handle | undefined;
  /** What ends with the client: its turns and uploads. */
  readonly onClose = new Set<() => void>();
  closed = false;

  constructor(config: ClientConfig) {
    this.config = config;
    this.#hidden.add(config.key);
  }

  /** The error of what the module said, without the keys; partial is what a turn had received. */
  error(told: Told, partial?: Partial<API.TurnResult>): AgentError {
    return errorOf(this.#hidden.of(told), partial && this.#hidden.of(partial));
  }

  /** Hands a record to the page's log, in a task of its own: the module may be in the middle of its work. */
  log(level: API.LogRecord["level"], message: string, fields: API.LogRecord["fields"]): void {
    const { onLog } = this.config;
    if (onLog) queueMicrotask(() => guarded(onLog, { level, message, fields: Object.freeze(this.#hidden.of(fields)) }));
  }

  /** The client's handle in a running instance. */
  handle(instance: Instance): Handle {
    if (this.#handle?.instance !== instance) {
      const { base, key, keyFunc, headers, credentials, fetch, onLog } = this.config;
      const client = instance.clients.add({
        fetch, credentials, key: () => this.#key(),
        log: ({ level, message, fields }) => this.log(level as API.LogRecord["level"], message, fields as API.LogRecord["fields"]),
      });
      instance.control.openClient(client, {
        base, host: `${new URL(base).origin}/`, headers, key, asksKey: keyFunc !== undefined, logs: onLog !== undefined,
      });
      if (instance.error) throw instance.error;
      this.#handle = { instance, client };
    }
    return this.#handle;
  }

  /** Runs once there is a handle, in the task in which its instance was found alive: another call may crash it a moment later. */
  async withHandle(run: (handle: Handle) => void, outlives = false): Promise<void> {
    for (;;) {
      if (!outlives) this.check();
      const running = await instance();
      if (!outlives) this.check();
      if (running.alive) return run(this.handle(running));
    }
  }

  check(): void {
    if (this.closed) throw new AgentError("the client was closed; make a new one", "client_closed");
  }

  /** The key of the author's function, in a task of its own: no call of the module may be below that. */
  async #key(): Promise<string> {
    await null;
    const key = await this.config.keyFunc!();
    if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) {
      this.#hidden.add(key);
      return key;
    }
    throw new TypeError(`it gave ${typeof key === "string" ? "a string that is empty or no header value" : `a ${typeof key}`}, not a key`);
  }

  /** One call and its end; the signal and a crash end it too, and so does close(), unless it tells the service of an end. */
  async call<Name extends keyof Calls>(
    name: Name, { signal, ...params }: Calls[Name] & { signal?: AbortSignal | undefined }, outlives = false, status?: (file: File) => void,
  ): Promise<CallEnd> {
    signal?.throwIfAborted();
    const undo: (() => void)[] = [];
    try {
      return await new Promise<CallEnd>((resolve, reject) => {
        let cancel = (): void => {};
        undo.push(onAbort(signal, () => {
          cancel();
          reject(signal!.reason);
        }));
        if (!outlives) undo.push(join(this.#calls, reject));
        this.withHandle(({ instance, client }) => {
          if (signal?.aborted) return;
          undo.push(join(instance.onCrash, reject));
          const call = instance.calls.add({
            ended: (end) => {
              // Its number may be another's from now on.
              cancel = () => {};
              if (end.error) reject(this.error(end.error));
              else resolve(end);
            },
            status,
          });
          cancel = () => {
            if (!instance.alive) return;
            instance.control.cancelCall(call);
            instance.calls.remove(call);
          };
          instance.control[name](call, client, params as never);
        }, outlives).catch(reject);
      });
    } finally {
      for (const each of undo) each();
      // It may have needed another handle, in a later instance.
      if (this.closed) this.#release();
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const end of [...this.onClose]) end();
    this.#release();
    const error = new AgentError("the client was closed while the call was under way", "client_closed");
    for (const reject of this.#calls) reject(error);
  }

  #release(): void {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle?.instance.alive) handle.instance.control.closeClient(handle.client);
  }
}
