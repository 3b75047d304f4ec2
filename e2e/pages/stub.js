// A service inside the page, as an option `fetch`: answers come when a test says so, at any pace and without a network.

const json = (value, status = 201) => new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

const encoder = new TextEncoder();

export const frame = (type, data, id) => `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify({ type, data })}\n\n`;
export const text = (chunk, id) => frame("text_delta", { chunk }, id);

/** One request; answered by one of its methods. Like a real one it breaks when its signal is aborted. */
class Request {
  #settle;
  #body;
  aborted = false;
  ended = false;

  constructor(url, init) {
    const [, chat, kind] = /\/v1\/chats\/([^/]+)\/(\w+)$/.exec(url) ?? [, undefined, "chats"];
    Object.assign(this, { url, chat, kind, headers: init.headers, key: init.headers["idempotency-key"], keepalive: init.keepalive });
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    const { signal } = init;
    const broken = () => {
      this.aborted = true;
      this.#settle.reject(signal.reason);
      if (!this.ended) this.#body?.error(signal.reason);
      this.ended = true;
    };
    if (signal.aborted) broken();
    else signal.addEventListener("abort", broken);
  }

  respond(response) {
    this.#settle.resolve(response);
  }

  fail() {
    this.#settle.reject(new TypeError("Failed to fetch"));
  }

  /** Answers with an event stream that push and close feed, or that pull does: its own source. */
  open(pull) {
    const stream = new ReadableStream({
      start: (controller) => void (this.#body = controller),
      pull: pull && ((controller) => pull(controller, this)),
      cancel: () => void (this.ended = true),
    }, { highWaterMark: 0 });
    this.respond(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    return this;
  }

  /** Sends bytes, or text, where the stream is open still. */
  push(...parts) {
    for (const part of parts) if (!this.ended) this.#body.enqueue(typeof part === "string" ? encoder.encode(part) : part);
    return this;
  }

  close() {
    if (!this.ended) this.#body.close();
    this.ended = true;
  }

  break() {
    if (!this.ended) this.#body.error(new TypeError("network error"));
    this.ended = true;
  }
}

/**
 * Every request goes to the handler of its kind, chats, messages or abort; without one, a chat is made, a message's
 * stream is opened and says nothing, and an abort is answered.
 */
export class Stub {
  requests = [];

  constructor(handlers = {}) {
    const chats = (request) => request.respond(json({ chat_id: `chat_${this.requests.length}` }));
    const messages = (request) => request.open();
    const abort = (request) => {
      for (const other of this.requests) if (other.kind === "messages" && other.chat === request.chat) other.close();
      request.respond(new Response(null, { status: 204 }));
    };
    this.handlers = { chats, messages, abort, ...handlers };
  }

  fetch = (url, init) => {
    const request = new Request(url, init);
    this.requests.push(request);
    this.handlers[request.kind](request);
    return request.answer;
  };

  of(kind, chat) {
    return this.requests.filter((request) => request.kind === kind && (chat === undefined || request.chat === chat));
  }
}
