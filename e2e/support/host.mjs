// A web server for pages that load the package otherwise than the service serves it: other headers, other bytes.

import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { folder } from "./build.mjs";

const types = { html: "text/html; charset=utf-8", mjs: "text/javascript", js: "text/javascript", wasm: "application/wasm" };

/** A file of the package. */
export const dist = (name) => readFileSync(join(folder, name));

/** The files of the package as a good server serves them, below /pkg/. */
export function packaged() {
  const files = {};
  for (const name of readdirSync(folder)) files[`/pkg/${name}`] = { body: dist(name) };
  return files;
}

export class Host {
  #server;
  /** How often each path was asked for. */
  asked = {};
  /** What was posted, in order: { path, body }. */
  posted = [];
  #heard = () => {};

  /** files: path → { status, headers, body }; the Content-Type follows from the path where no header says it. */
  static async start(files) {
    const host = new Host();
    host.files = files;
    host.#server = createServer((request, response) => host.#answer(request, response));
    await new Promise((resolve) => host.#server.listen(0, "127.0.0.1", resolve));
    host.origin = `http://127.0.0.1:${host.#server.address().port}`;
    return host;
  }

  /** Waits until something was posted for which `wanted` is true. */
  async told(wanted) {
    while (!this.posted.some(wanted)) await new Promise((resolve) => (this.#heard = resolve));
  }

  async #answer(request, response) {
    const path = request.url.split("?")[0];
    this.asked[path] = (this.asked[path] ?? 0) + 1;
    if (request.method === "POST") {
      // A page that leaves may take the rest of it along.
      const body = await text(request).catch(() => undefined);
      if (body === undefined) return;
      this.posted.push({ path, body });
      this.#heard();
    }
    const { status = 200, headers = {}, body = "" } = this.files[path] ?? { status: 404, body: "no such file" };
    const type = types[path.split(".").at(-1)];
    response.writeHead(status, { ...(type && { "content-type": type }), "cache-control": "no-store", ...headers });
    response.end(body);
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
