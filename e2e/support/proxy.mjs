// turnwire-proxy before a service: it has the service's key, and the pages a token.

import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { command } from "./service.mjs";

const env = { ...process.env, TURNWIRE_PROXY_KEY: "dev-key", TURNWIRE_PROXY_SECRETS: "a secret that everybody knows who reads this" };
const none = "1000000";

export class Proxy {
  #process;
  #exited;

  static async start({ origin }) {
    const proxy = new Proxy();
    const token = execFileSync(command("turnwire-proxy"), ["-issue", "visitor"], { env, encoding: "utf8" }).trim();
    const child = (proxy.#process = spawn(command("turnwire-proxy"), [
      "-listen", "127.0.0.1:0", "-service", origin, "-workspace", "demo=assistant", "-origin", origin, "-pass-header", "X-Fault",
      "-rate", none, "-burst", none, "-streams", none,
    ], { env, stdio: ["ignore", "pipe", "ignore"] }));
    const kill = () => child.kill("SIGKILL");
    process.prependOnceListener("exit", kill);
    proxy.#exited = new Promise((resolve) => child.once("exit", resolve)).then(() => process.off("exit", kill));
    const base = await new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", (line) => resolve(line.replace("turnwire-proxy listening on ", "")));
      child.once("exit", (code) => reject(new Error(`turnwire-proxy ended with ${code}`)));
    });
    /** With it a page of lab.js uses the proxy. */
    proxy.query = `?base=${encodeURIComponent(base)}&key=${token}`;
    return proxy;
  }

  async close() {
    this.#process.kill("SIGKILL");
    await this.#exited;
  }
}
