// Toxiproxy: connections that really break, below HTTP.

import { Server } from "./server.mjs";
import { tool } from "./tools.mjs";

export class Toxiproxy {
  #server;

  static async start() {
    const self = new Toxiproxy();
    self.#server = await Server.start("toxiproxy", (folder, port) => ({ command: tool("toxiproxy"), args: ["-host", "127.0.0.1", "-port", String(port)] }));
    return self;
  }

  async #ask(method, path, body) {
    const response = await fetch(this.#server.origin + path, { method, body: body && JSON.stringify(body) });
    if (!response.ok && !(method === "DELETE" && response.status === 404)) throw new Error(`toxiproxy: ${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }

  /** A new proxy to an origin; gives its own. */
  async proxy(name, origin) {
    const { listen } = await this.#ask("POST", "/proxies", { name, listen: "127.0.0.1:0", upstream: new URL(origin).host, enabled: true });
    return `http://${listen}`;
  }

  /** One toxic of a proxy, on what comes from the server, or with stream "upstream" on what goes to it. */
  poison(name, type, attributes, { toxic = "cut", stream = "downstream" } = {}) {
    return this.#ask("POST", `/proxies/${name}/toxics`, { name: toxic, type, stream, toxicity: 1, attributes });
  }

  heal(name, toxic = "cut") {
    return this.#ask("DELETE", `/proxies/${name}/toxics/${toxic}`);
  }

  /** The way to a server far away: bytes a second for each connection and direction, milliseconds for a round trip. */
  async slow(name, { rate, roundTrip }) {
    await this.poison(name, "latency", { latency: roundTrip, jitter: 0 }, { toxic: "far" });
    for (const stream of ["upstream", "downstream"]) await this.poison(name, "bandwidth", { rate: rate / 1000 }, { toxic: `narrow ${stream}`, stream });
  }

  close() {
    return this.#server.stop();
  }
}
