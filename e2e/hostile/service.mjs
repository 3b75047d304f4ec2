// The hostile service: a server that answers every endpoint and the stores of every act with what answers.mjs makes of
// the right answer, and writes down what it really received and really sent. It serves the page, too.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dist } from "../support/host.mjs";
import { Scripted } from "../support/scripted.mjs";
import { top } from "../support/service.mjs";
import { answer, rights } from "./answers.mjs";
import { kindOf, randomOf, ticketOf } from "./requests.mjs";
import { Store } from "./stores.mjs";

const script = "text/javascript";

/** The files of the page: the package, and the folders of e2e/ that its modules come from. */
function file(path) {
  if (path === "/") return ["text/html; charset=utf-8", '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="/hostile/acts.js"></script>'];
  if (path.startsWith("/turnwire/")) return [path.endsWith(".wasm") ? "application/wasm" : script, dist(path.slice("/turnwire/".length))];
  if (/^\/(hostile|support|pages)\/[\w.-]+$/.test(path)) return [script, readFileSync(join(top, "e2e", path))];
  return undefined;
}

export class Hostile {
  #scripted;
  /**
   * By seed, what staged() makes. Their exchanges are in the order in which the requests came: kind, n, method, path, body,
   * and of the answer form, status, type, the bytes that were sent, whether that was all (whole), and whether the page was
   * kept from it (hidden).
   */
  acts;

  /** Starts a server; servers of one run share their acts. */
  static async start(acts) {
    const hostile = new Hostile();
    hostile.acts = acts;
    hostile.#scripted = await Scripted.start((request, response) => hostile.#answer(request, response));
    hostile.origin = hostile.#scripted.origin;
    return hostile;
  }

  /** The address that an act's calls are relative to. */
  base = (seed) => `${this.origin}/a/${seed}`;

  /** Whether a request of an act broke before its body was whole: what it carried may count as sent, and is not stored. */
  brokenOff(seed) {
    return this.#scripted.requests.some(({ path, bytes }) => path.startsWith(`/a/${seed}/`) && bytes === undefined);
  }

  /** What was asked and is not needed any more is forgotten. */
  forget() {
    this.#scripted.requests.length = 0;
  }

  async #answer(request, response) {
    const [, seed, path] = /^\/a\/(\d+)(\/.*)$/.exec(request.path) ?? [];
    const act = this.acts.get(Number(seed));
    if (!act) return this.#other(request.path, response);
    const kind = kindOf(request.method, path);
    const exchange = { kind, n: act.exchanges.filter((other) => other.kind === kind).length, method: request.method, path, headers: request.headers, body: request.bytes, bytes: Buffer.alloc(0), whole: false };
    act.exchanges.push(exchange);
    const { plan } = act;
    const r = randomOf(plan.seed, kind, exchange.n);
    let right;
    if (kind === "store") {
      right = act.store.take({ ...request, path });
      exchange.right = right.status;
    } else right = rights[kind]?.(r, { key: plan.key, size: plan.size ?? 0, ticket: act.ticket }) ?? { status: 404 };
    let a = answer(r, right, plan);
    // What a store did not do it may hide, but not call done: no client could tell.
    if (kind === "store" && right.status >= 400 && a.status < 300) a = { ...a, status: right.status };
    exchange.form = a.form;
    await play(a, exchange, response);
  }

  #other(path, response) {
    const [type, body] = file(path) ?? [];
    if (type) response.writeHead(200, { "content-type": type }).end(body);
    else response.writeHead(404).end();
  }

  close() {
    return this.#scripted.close();
  }
}

const latin1 = (value) => Buffer.from(String(value)).toString("latin1");

async function play({ status, headers, parts, bytes, end, cors }, exchange, response) {
  if (end === "refused") return void response.destroy();
  if (end === "never") return;
  if (!cors) response.removeHeader("access-control-allow-origin");
  const head = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, latin1(value)]));
  if (end === "short") head["content-length"] = String(bytes.length + 10);
  Object.assign(exchange, { status, type: headers["content-type"], hidden: !cors || (status !== 204 && ["gzip", "br"].includes(headers["content-encoding"])) || (status > 300 && status < 309 && status !== 304) });
  response.writeHead(status, head);
  response.flushHeaders();
  for (const part of parts) {
    if (part.wait > 0) await new Promise((resolve) => setTimeout(resolve, part.wait));
    if (response.destroyed) return;
    exchange.bytes = Buffer.concat([exchange.bytes, part.bytes]);
    response.write(part.bytes);
  }
  if (end === "whole") {
    exchange.whole = true;
    response.end();
  } else if (end !== "silent") response.write("", () => response.destroy());
}

/** An act as the service keeps it. */
export function staged(plan, service, store) {
  const at = `${store.base(plan.seed)}/store`;
  return { plan, exchanges: [], store: new Store(at), ticket: plan.protocol && ticketOf(plan, at), base: service.base(plan.seed), storage: at };
}
