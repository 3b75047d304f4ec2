// Toxiproxy: connections that really break, below HTTP. Installed by Go where it is missing.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { top } from "./service.mjs";

const version = "v2.5.0";

function install() {
  const folder = join(top, ".cache", "bin");
  const binary = join(folder, "server");
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    execFileSync("go", ["install", `github.com/Shopify/toxiproxy/v2/cmd/server@${version}`], { env: { ...process.env, GOBIN: folder }, stdio: ["ignore", "ignore", "inherit"] });
  }
  return binary;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class Toxiproxy {
  #process;
  #api;

  static async start() {
    const self = new Toxiproxy();
    const port = await freePort();
    self.#api = `http://127.0.0.1:${port}`;
    const child = (self.#process = spawn(install(), ["-host", "127.0.0.1", "-port", String(port)], { stdio: "ignore" }));
    process.once("exit", () => child.kill("SIGKILL"));
    await new Promise((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`toxiproxy ended with ${code}`)));
      // It says that it starts before it listens.
      const ask = () => fetch(`${self.#api}/version`).then(resolve, () => setTimeout(ask, 20));
      ask();
    });
    return self;
  }

  async #ask(method, path, body) {
    const response = await fetch(this.#api + path, { method, body: body && JSON.stringify(body) });
    if (!response.ok && !(method === "DELETE" && response.status === 404)) throw new Error(`toxiproxy: ${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }

  /** A new proxy to an origin; gives its own. */
  async proxy(name, origin) {
    const { listen } = await this.#ask("POST", "/proxies", { name, listen: "127.0.0.1:0", upstream: new URL(origin).host, enabled: true });
    return `http://${listen}`;
  }

  /** One toxic of a proxy, on what comes from the server. */
  poison(name, type, attributes) {
    return this.#ask("POST", `/proxies/${name}/toxics`, { name: "cut", type, stream: "downstream", toxicity: 1, attributes });
  }

  heal(name) {
    return this.#ask("DELETE", `/proxies/${name}/toxics/cut`);
  }

  close() {
    this.#process.removeAllListeners("exit");
    this.#process.kill("SIGKILL");
  }
}
