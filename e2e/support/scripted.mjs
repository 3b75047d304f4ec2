// A service of a test's own making: what the reference service can't be made to do by a fault, such as to act and answer
// at moments that a test chooses.

import { createServer } from "node:http";

const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*, authorization, content-type, idempotency-key, last-event-id",
  "access-control-allow-methods": "*",
  "access-control-expose-headers": "*",
  "access-control-max-age": "600",
};

export class Scripted {
  #server;
  #answer;
  /** Every request so far but preflights, oldest first: { method, path, query, headers, body, at, closed }. */
  requests = [];

  /**
   * Starts a server. answer(request, response, scripted) gets each request with its body read, and answers it when and
   * how it likes; what it returns as an object is sent as JSON.
   */
  static async start(answer) {
    const scripted = new Scripted();
    scripted.#answer = answer;
    scripted.#server = createServer((request, response) => void scripted.#take(request, response));
    scripted.#server.keepAliveTimeout = 60_000;
    await new Promise((resolve) => scripted.#server.listen(0, "127.0.0.1", resolve));
    scripted.origin = `http://127.0.0.1:${scripted.#server.address().port}`;
    return scripted;
  }

  async #take(request, response) {
    for (const [name, value] of Object.entries(cors)) response.setHeader(name, value);
    response.setHeader("cache-control", "no-store");
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"]) return void response.writeHead(204).end();
    const parts = [];
    const url = new URL(request.url, this.origin);
    const entry = { method: request.method, path: url.pathname, query: url.searchParams, headers: request.headers, at: performance.now(), closed: false };
    this.requests.push(entry);
    response.on("close", () => (entry.closed = true));
    try {
      for await (const part of request) parts.push(part);
    } catch {
      return; // it was let go
    }
    entry.bytes = Buffer.concat(parts);
    entry.body = entry.bytes.toString();
    const answer = await this.#answer(entry, response, this);
    if (answer !== undefined) this.json(response, answer);
  }

  json(response, value, status = 200) {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  }

  /** Begins an event stream; the function that it gives sends an event of { type, data }. */
  stream(response) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    return (type, data = {}) => response.write(`data: ${JSON.stringify({ type, data })}\n\n`);
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
