import { answerOf } from "./answer.ts";
import { startOf } from "./byte-reader.ts";
import type { Control, FetchParams } from "./contract.ts";
import { textOf } from "./errors.ts";
import { unlessLeft } from "./leaving.ts";
import type { ClientSink } from "./sinks.ts";

type Body = ReadableStream<Uint8Array> | null;

interface Request {
  controller: AbortController;
  /** Of its answer. */
  body: Body;
}

/** The module's requests to the service, by its numbers, until they have ended or the module lets go of them. */
export class Requests {
  readonly #tell: (word: (control: Control) => void) => void;
  readonly #under = new Map<number, Request>();

  /** tell says a word to the module, where it still works. */
  constructor(tell: (word: (control: Control) => void) => void) {
    this.#tell = tell;
  }

  fetch(number: number, client: ClientSink, { url, method, headers, body, keepalive }: FetchParams): void {
    const request: Request = { controller: new AbortController(), body: null };
    this.#under.set(number, request);
    // A key never follows a redirect, and no answer is taken from a cache.
    const init: RequestInit = {
      method, headers: Object.fromEntries(headers), ...(body !== undefined && { body }), credentials: client.credentials,
      redirect: "error", cache: "no-store", keepalive, signal: request.controller.signal,
    };
    this.#follow(number, request, async () => {
      const { head, body } = answerOf(await send(client.fetch, url, init));
      request.body = body;
      return (control) => control.answered(number, head);
    });
  }

  /** The body of a request's answer, for who reads it himself. */
  body(number: number): Body {
    return this.#under.get(number)!.body;
  }

  readBody(number: number, limit: number): void {
    const request = this.#under.get(number)!;
    this.#follow(number, request, async () => {
      const text = await startOf(request.body, limit);
      return (control) => {
        this.cancel(number);
        control.bodyRead(number, text);
      };
    });
  }

  /** Tells what comes of a step of a request, unless the module let go of it meanwhile. */
  #follow(number: number, request: Request, step: () => Promise<(control: Control) => void>): void {
    const tell = (word: (control: Control) => void): void => {
      if (this.#under.get(number) === request) this.#tell(word);
    };
    step().then(tell, (reason: unknown) => unlessLeft(() => tell((control) => {
      // Of a body that can't be read, the connection is still there.
      this.cancel(number);
      control.requestFailed(number, textOf(reason));
    })));
  }

  cancel(number: number): void {
    const request = this.#under.get(number);
    this.#under.delete(number);
    // Not at once: the author's own fetch may listen to its signal.
    if (request) queueMicrotask(() => request.controller.abort());
  }

  /** After a crash: a browser has few connections, and nobody else would let these go. */
  cancelAll(): void {
    for (const number of [...this.#under.keys()]) this.cancel(number);
  }
}

/**
 * The author's own fetch runs in a task of its own, because no call of the module may be below it; the browser's is called at
 * once, so that an abort on pagehide goes out.
 */
async function send(own: typeof fetch | undefined, url: string, init: RequestInit): Promise<Response> {
  if (!own) return fetch(url, init);
  await null;
  return own(url, init);
}
