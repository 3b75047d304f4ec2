// The reference service as a process of its own: built from the tree, on a free port, with its log at hand.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { folder } from "./build.mjs";
import { temporaryFolder } from "./server.mjs";

export const top = fileURLToPath(new URL("../..", import.meta.url));

/** How long a test waits for what must come: only a failure takes this long. */
const patience = 30_000;

const binaries = {};

/** A command of the house, built once. */
export function command(name) {
  if (binaries[name]) return binaries[name];
  const folder = join(top, ".cache", "e2e");
  mkdirSync(folder, { recursive: true });
  // Test files run in processes of their own, and none may find the file half written or in use.
  const own = join(folder, `${name}.${process.pid}`);
  execFileSync("go", ["build", "-o", own, `./cmd/${name}`], { cwd: top, stdio: ["ignore", "ignore", "inherit"] });
  renameSync(own, join(folder, name));
  return (binaries[name] = join(folder, name));
}

/** Behind the proxy a page's identifiers carry a seal, and the service's idempotency keys the caller's mark: see proxy/doc.go. */
const proxied = !!process.env.TURNWIRE_PROXY;
const bare = (id) => (proxied ? id?.replace(/\.[\w-]{28}$/, "") : id);
const unmarked = (key) => (proxied ? key.replace(/\.[\w-]{12}$/, "") : key);

const same = (record, match) => Object.entries(match).every(([name, value]) => record[name] === value);

export class Service {
  /** Every record of the log, oldest first. */
  log = [];
  #process;
  #waiting = new Set();
  #exited;
  /** Where it stores files: it is killed, and cleans up nothing itself. */
  #folder = temporaryFolder("service");

  /** Starts a service with faults on. flags are further flags of turnwire-dev. */
  static start(...flags) {
    return Service.startWith({}, ...flags);
  }

  /** The same with more in its environment, such as the credentials of a store. */
  static async startWith(env, ...flags) {
    const service = new Service();
    const args = ["-addr", "127.0.0.1:0", "-faults", "-log-format", "json", "-dist", folder, ...flags];
    const child = (service.#process = spawn(command("turnwire-dev"), args, { cwd: top, env: { ...process.env, TMPDIR: service.#folder.path, ...env }, stdio: ["ignore", "pipe", "pipe"] }));
    const kill = () => child.kill("SIGKILL");
    process.prependOnceListener("exit", kill);
    service.#exited = new Promise((resolve) => child.once("exit", resolve)).then(() => process.off("exit", kill));
    createInterface({ input: child.stderr }).on("line", (line) => service.#record(line));
    service.origin = await new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", (line) => {
        const [, origin] = /^turnwire-dev listening on (http:\S+)\/$/.exec(line) ?? [];
        if (origin) resolve(origin);
        else reject(new Error(`turnwire-dev said: ${line}`));
      });
      child.once("exit", (code) => reject(new Error(`turnwire-dev ended with ${code}: ${JSON.stringify(service.log)}`)));
    });
    return service;
  }

  #record(line) {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      record = { msg: line };
    }
    this.log.push(record);
    for (const waiter of this.#waiting) if (same(record, waiter.match)) waiter.resolve(record);
  }

  /** The first record whose fields are those of match, now or as soon as it is written. */
  async logged(match) {
    for (const name of ["chat", "file"]) if (name in match) match = { ...match, [name]: bare(match[name]) };
    const past = this.log.find((record) => same(record, match));
    if (past) return past;
    return new Promise((resolve, reject) => {
      const waiter = { match, resolve: (record) => finish(() => resolve(record)) };
      const timer = setTimeout(() => finish(() => reject(new Error(
        `the service did not log ${JSON.stringify(match)}; its last records:\n${this.log.slice(-15).map((r) => JSON.stringify(r)).join("\n")}`,
      ))), patience);
      const finish = (how) => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        how();
      };
      this.#waiting.add(waiter);
    });
  }

  /** Waits until the newest turn of a chat is over, and gives its debug record. */
  async over(chat) {
    await this.logged({ msg: "turn finished", chat });
    return (await this.turns()).findLast((turn) => turn.chat_id === bare(chat));
  }

  /** All turns, oldest first: turn_id, chat_id, idempotency_key, status, requests, aborts, tools, events. */
  async turns() {
    return (await this.#get("/debug/turns")).map((turn) => ({ ...turn, idempotency_key: unmarked(turn.idempotency_key) }));
  }

  /** The newest turn; undefined before the first. */
  async newest() {
    return (await this.turns()).at(-1);
  }

  /** How many requests of each kind came so far. */
  async requests() {
    const counts = await this.#get("/debug/requests");
    return {
      chats: counts["POST /v1/workspaces/{workspace_id}/chats"] ?? 0,
      messages: counts["POST /v1/chats/{chat_id}/messages"] ?? 0,
      aborts: counts["POST /v1/chats/{chat_id}/abort"] ?? 0,
      uploadURLs: counts["POST /v1/workspaces/{workspace_id}/files/upload-url"] ?? 0,
      reports: counts["PATCH /v1/files/{file_id}"] ?? 0,
      fileReads: counts["GET /v1/files/{file_id}"] ?? 0,
    };
  }

  /** A file's record. */
  async file(id) {
    return { ...(await this.#get(`/v1/files/${bare(id)}`, { authorization: "Bearer dev-key" })), file_id: id };
  }

  /** A file's record, once its status is this one. */
  async fileOnce(id, status) {
    await this.logged({ msg: `file ${status}`, file: id });
    return this.file(id);
  }

  /** The requests to the service's own storage so far, of one file or of all: file_id, operation, block_id, bytes, headers, status, finished. */
  storage(fileId = "") {
    return this.#get(`/debug/storage?file_id=${bare(fileId)}`);
  }

  /** The same, as soon as they are as test wants them. */
  async storageOnce(fileId, test) {
    const giveUp = AbortSignal.timeout(patience);
    for (;;) {
      const requests = await this.storage(fileId);
      if (test(requests)) return requests;
      if (giveUp.aborted) throw new Error(`the storage was not asked for what was waited for: ${JSON.stringify(requests)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #get(path, headers = {}) {
    const response = await fetch(this.origin + path, { headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return response.json();
  }

  async close() {
    this.#process.kill("SIGKILL");
    await this.#exited;
    this.#folder.remove();
  }
}
