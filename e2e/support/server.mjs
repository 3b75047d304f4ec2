// A server of somebody else's as a part of a test: a process on a free port, with a folder of its own. Neither outlives
// the test.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long a server may take until it answers: only a failure takes this long. */
const patience = 60_000;

/** How much of what a server says is kept for the error that tells of its end. */
const kept = 16 << 10;

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A folder that is removed by the function that comes with it, and at the latest with this process. */
export function temporaryFolder(name) {
  const path = mkdtempSync(join(tmpdir(), `turnwire-${name}-`));
  const remove = () => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  process.once("exit", remove);
  return { path, remove };
}

export class Server {
  #name;
  #process;
  #exited;
  #kill;
  #folder;
  #output = "";

  /**
   * Starts a server and waits until it answers HTTP. plan gets its folder and its port, and gives { command, args, env }.
   * Rejects with the server's own words where it ends, or stays silent.
   */
  static async start(name, plan) {
    const server = new Server();
    server.#name = name;
    // Made first, so that at the end of this process the server is gone before its folder is.
    const folder = (server.#folder = temporaryFolder(name));
    const port = await freePort();
    server.origin = `http://127.0.0.1:${port}`;
    const { command, args, env } = plan(folder.path, port);
    const child = (server.#process = spawn(command, args, { cwd: folder.path, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] }));
    server.#kill = () => child.kill("SIGKILL");
    process.prependOnceListener("exit", server.#kill);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (server.#output = (server.#output + text).slice(-kept)));
    }
    server.#exited = new Promise((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("close", (code, signal) => resolve(`it ended with ${code ?? signal}`));
    });
    await server.setUp(() => server.#answer());
    return server;
  }

  async #answer() {
    const giveUp = AbortSignal.timeout(patience);
    let ended;
    this.#exited.then((how) => (ended = how));
    for (;;) {
      const answered = await fetch(this.origin, { signal: giveUp }).then((response) => response.arrayBuffer()).catch(() => undefined);
      // Who answers after it ended is another that took the port.
      if (ended || giveUp.aborted) throw new Error(`${this.#name} does not answer: ${ended ?? "it stays silent"}; it said:\n${this.#output}`);
      if (answered) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Runs a step without which the server is of no use: where it fails the server is stopped. */
  async setUp(step) {
    try {
      await step();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop() {
    this.#kill();
    await this.#exited;
    process.off("exit", this.#kill);
    this.#folder.remove();
  }
}
