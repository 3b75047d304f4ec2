// An option `fetch` that answers inside the page: with what answers.mjs makes, and wrapped in what no network can give,
// such as objects of another frame, bodies of no bytes, heads that throw.

import { answer, rights } from "/hostile/answers.mjs";
import { kindOf, randomOf, ticketOf } from "/hostile/requests.mjs";
import { chance, weighted } from "/hostile/values.mjs";

const never = new Promise(() => {});
const frame = document.createElement("iframe");
document.documentElement.append(frame);
const other = frame.contentWindow;

/** How an answer is wrapped. */
const wraps = {
  plain: 50, realm: 12, realmBytes: 5, duck: 8, noBytes: 5, locked: 2, relocked: 1, used: 1, noBody: 2, oddRead: 4, throwingRead: 2, deadRead: 1, empties: 1,
  error: 2, oddStatus: 5, oddHeaders: 4, throwsAtOnce: 2, nothing: 2, bare: 1, oddThenable: 2, oddReason: 3, getters: 2, oddText: 1,
};

const notBytes = [() => "text", () => new ArrayBuffer(4), () => new DataView(new ArrayBuffer(4)), () => [1, 2], () => 7, () => null, () => undefined, () => ({ length: 1e9 }), () => new Uint16Array(4), () => new Uint8ClampedArray(4), () => Symbol("x")];
const oddReads = [() => undefined, () => null, () => 7, () => ({}), () => ({ done: "yes" }), () => ({ value: 1 }), () => ({ get done() { throw new Error("no done"); } }), () => Promise.resolve()];
const reasons = [undefined, null, 0, "", "no", Symbol("no"), {}, { message: {} }, { get message() { throw new Error("no message"); } }, Object.create(null), new Proxy({}, { get() { throw new Error("no property"); } }), new DOMException("stop", "AbortError"), () => {}];
const oddStatuses = [0, NaN, 1e9, -1, 200.5, Infinity, "200", "", null, undefined, {}, [], true, 99, 1000, 2n ** 70n];
const oddHeaders = [null, undefined, {}, 7, { get: 1 }, { get() { throw new Error("no header"); } }, { get: () => 7 }, { get: () => ({}) }, { get: () => Symbol("x") }, { get: () => undefined }, new Map([["content-type", "text/event-stream"]])];
const oddThenables = [
  { then() { throw new Error("no then"); } }, { then: 7 }, { then(yes) { yes(undefined); yes(1); } }, { then(_, no) { no(undefined); no(1); } },
  { get then() { throw new Error("no then"); } }, { then() {} },
];

/** The fetch of an act. What it was asked and what it gave goes into `exchanges`, as the service keeps it. */
export function hostileFetch(plan, store, exchanges) {
  const counts = {};
  return (url, init) => {
    const path = new URL(url).pathname.replace(/^\/a\/\d+/, "");
    const kind = kindOf(init.method, path);
    const n = (counts[kind] = (counts[kind] ?? -1) + 1);
    const r = randomOf(plan.seed, kind, n);
    const ticket = plan.protocol && ticketOf(plan, store);
    const right = rights[kind]?.(r, { key: plan.key, size: plan.size ?? 0, ticket }) ?? { status: 404 };
    const a = answer(r, right, plan);
    const wrap = weighted(r, wraps);
    const exchange = { kind, n, method: init.method, path, body: init.body ?? "", form: a.form, wrap, status: undefined, type: a.headers["content-type"], given: [], whole: false };
    exchanges.push(exchange);
    return wrapped(r, wrap, a, exchange, init.signal);
  };
}

function wrapped(r, wrap, a, exchange, signal) {
  switch (wrap) {
    case "throwsAtOnce": throw r.pick(reasons);
    case "nothing": return r.pick([undefined, null, 7, "x", Promise.resolve(), Promise.resolve(7)]);
    case "bare": return given(r, wrap, a, exchange, signal);
    case "oddThenable": return r.pick(oddThenables);
    case "oddReason": return Promise.reject(r.pick(reasons));
  }
  if (a.end === "refused") return Promise.reject(new TypeError("Failed to fetch"));
  if (a.end === "never") return chance(r, 0.5) ? never : untilAborted(never, signal);
  return Promise.resolve().then(() => given(r, wrap, a, exchange, signal));
}

const untilAborted = (promise, signal) => Promise.race([promise, new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))]);

/** The answer itself. */
function given(r, wrap, a, exchange, signal) {
  exchange.status = a.status;
  const realm = wrap === "realm" ? other : globalThis;
  const headers = Object.entries(a.headers).map(([name, value]) => [name, String.fromCharCode(...new TextEncoder().encode(value))]);
  const bytes = wrap === "realm" || wrap === "realmBytes" ? (chunk) => new other.Uint8Array(chunk) : (chunk) => chunk;
  const next = source(r, wrap, a, exchange, signal, bytes);
  const bodyless = [204, 205, 304].includes(a.status);
  const body = bodyless ? null : stream(realm, next);
  if (bodyless) exchange.whole = true;
  const duck = (more) => ({ status: a.status, ok: a.status >= 200 && a.status < 300, type: "basic", headers: new Headers(headers), body, ...more });
  switch (wrap) {
    case "duck": return duck({ body: { getReader: () => ({ read: next, cancel: () => Promise.resolve(), releaseLock() {} }) } });
    case "oddRead": return duck({ body: { getReader: () => ({ read: r.pick(oddReads), cancel: () => Promise.resolve() }) } });
    case "throwingRead": return duck({ body: r.pick([{ getReader: () => { throw new Error("no reader"); } }, { getReader: () => ({ read() { throw new Error("no read"); }, cancel() { throw new Error("no cancel"); } }) }, {}, 7, "text"]) });
    case "deadRead": return duck({ body: { getReader: () => ({ read: () => never, cancel: () => never }) } });
    case "noBody":
      exchange.whole = true;
      return duck({ body: r.pick([null, undefined]) });
    case "error":
      exchange.status = 0;
      return r.pick([Response.error(), duck({ status: 0, type: "opaque", body: null }), duck({ status: 0, type: "opaqueredirect", body: null })]);
    case "oddStatus": return duck({ status: exchange.status = r.pick(oddStatuses) });
    case "oddHeaders": return duck({ headers: r.pick(oddHeaders) });
    case "getters":
      exchange.status = undefined;
      return r.pick([
      { get status() { throw new Error("no status"); } }, new Proxy({}, { get: () => { throw new Error("no property"); } }), duck({ get body() { throw new Error("no body"); } }),
    ]);
    case "oddText": return duck({ text: () => Promise.resolve("other"), json: () => Promise.resolve({}), toString: null });
  }
  if (a.status > 599) return duck();
  const response = new realm.Response(body, { status: a.status, headers });
  if (wrap === "locked" && body) body.getReader();
  if (wrap === "relocked" && body) setTimeout(() => body.locked || body.getReader());
  if (wrap === "used" && body) response.text().catch(() => {});
  return response;
}

/** Reads an answer's body part after part. Only bytes count as given. */
function source(r, wrap, a, exchange, signal, bytes) {
  const parts = a.parts.values();
  let empties = wrap === "empties" ? 20_000 : 0;
  const odd = wrap === "noBytes" ? r.below(a.parts.length + 1) : -1;
  let i = 0;
  const heeds = chance(r, 0.7);
  return async () => {
    if (empties-- > 0) return { done: false, value: bytes(new Uint8Array(0)) };
    if (i++ === odd) return { done: false, value: r.pick(notBytes)() };
    const { value: part, done } = parts.next();
    if (done) {
      if (a.end === "silent") return heeds ? untilAborted(never, signal) : never;
      if (a.end !== "whole") throw new TypeError("network error");
      exchange.whole = true;
      return { done: true, value: undefined };
    }
    if (part.wait > 0) await new Promise((resolve) => setTimeout(resolve, part.wait));
    if (heeds) signal.throwIfAborted();
    exchange.given.push(part.bytes);
    return { done: false, value: bytes(part.bytes) };
  };
}

/** A stream of a realm over such a source. A chunk that is no value of a stream's own is one all the same. */
function stream(realm, next) {
  return new realm.ReadableStream({
    async pull(controller) {
      const { done, value } = await next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}
