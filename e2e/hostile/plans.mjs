// What each act does, from its seed: one client of its own, one call, and what comes between.

import { random } from "../support/seed.mjs";
import { chance, weighted } from "./values.mjs";

/** How long an act may take at most beside what its own limits add up to, in milliseconds. */
const grace = 10_000;
/** How often a refused address is renewed or a lost upload begun anew, and blocks follow each other. */
const rounds = 4;
/** The most that the waits between so many tries take (docs/profile.md: full jitter, from 500 ms). */
const backoff = (tries) => 500 * (2 ** (tries - 1) - 1);

const moments = (r) => ({ after: r.below(120), events: chance(r, 0.5) ? r.below(6) : -1 });

/** The plan of an act as data, for the page and for who answers it. */
export function plan(seed) {
  const r = random(seed);
  const call = weighted(r, { send: 9, upload: 8, create: 2, get: 2, wait: 2, abort: 1 });
  const client = {
    timeout: 200 + r.below(500), idleTimeout: 150 + r.below(400), maxRetries: r.below(3),
    pageHide: chance(r, 0.5) ? "abort" : "disconnect",
  };
  const p = {
    seed, call, client,
    key: `canary+${seed}/key`,
    sign: `signature${seed}x`,
    apiKey: weighted(r, { text: 8, function: 3, promise: 2, never: 0.5, throws: 0.5, rejects: 0.5, nothing: 0.3, number: 0.3 }),
    // How much of what is answered is right: where nothing is, nobody gets far.
    calm: r.pick([0.5, 2, 10]),
    // Answered over the network, or by a fetch inside the page.
    by: chance(r, 0.35) ? "page" : "network",
    closeAfter: chance(r, 0.07) ? r.below(200) : -1,
  };
  if (call === "send") Object.assign(p, sending(r));
  if (call === "upload") Object.assign(p, uploading(r));
  if (call === "wait") p.wait = waiting(r);
  if (call !== "send" && call !== "upload") p.signalAfter = chance(r, 0.1) ? r.below(150) : -1;
  p.bound = grace + bound(p);
  return p;
}

function sending(r) {
  const end = weighted(r, { none: 14, abort: 2, twice: 1, disconnect: 1, signal: 1, leave: 1 });
  return {
    follow: weighted(r, { listeners: 3, events: 3, text: 2, onEvent: 1, done: 1, late: 1 }),
    slow: chance(r, 0.1), end, at: end === "none" ? undefined : moments(r),
    replay: chance(r, 0.25),
  };
}

const waiting = (r) => ({ interval: 5 + r.below(40), maxInterval: 50, waitTimeout: 200 + r.below(500) });

function uploading(r) {
  const protocol = weighted(r, { "azure-block": 3, "s3-multipart": 3, "gcs-resumable": 3, tus: 3, put: 2 });
  const size = r.pick([0, 1, r.below(1000), 60_000, 300_000 + r.below(500_000)]);
  const data = r.pick(chance(r, 0.75) ? ["Blob", "File", "ArrayBuffer", "Uint8Array", "DataView", "stream", "stream"] : ["short", "long", "odd", "stuck", "throws"]);
  let end = weighted(r, { none: 10, pause: 3, abort: 2, signal: 1 });
  const map = weighted(r, { none: 10, same: 1, promise: 1, never: 0.3, throws: 0.3, odd: 0.5 });
  // No limit covers the page's own function: who waits for it can only give up.
  if (map === "never" && end !== "signal") end = "abort";
  return {
    protocol, size, data, end, at: end === "none" ? undefined : moments(r),
    home: chance(r, 0.15), map,
    // Of a stream the checksum is not known before it is read.
    options: {
      ...(protocol !== "s3-multipart" && { blockSize: Math.max(1, Math.ceil(size / (1 + r.below(5)))) }),
      concurrency: 1 + r.below(3), blockTries: 1 + r.below(3), blockTimeout: 200 + r.below(400), dataTimeout: 200 + r.below(300), reportTimeout: 200 + r.below(600),
      checksum: ["Blob", "File", "ArrayBuffer", "Uint8Array", "DataView"].includes(data) ? r.pick([true, true, false, "before"]) : chance(r, 0.7),
      ...(chance(r, 0.2) && { checksumEncoding: "base64" }),
      ...(chance(r, 0.3) && { wait: waiting(r) }),
      ...(chance(r, 0.15) && { resumeKey: `key of ${r.below(1 << 30)}` }),
    },
  };
}

/** What the limits of an act add up to: every try of every request may use its time up. */
function bound({ client, call, options, wait }) {
  const tries = client.maxRetries + 1;
  // The answer's head and its body have the limit one after the other.
  const request = tries * 2 * client.timeout + backoff(tries);
  if (call === "send") return 2 * request + tries * client.idleTimeout * 3;
  if (call === "wait") return request + wait.waitTimeout;
  if (call !== "upload") return request;
  const store = rounds * (options.blockTries * options.blockTimeout + backoff(options.blockTries));
  return 3 * request + store + options.dataTimeout + options.reportTimeout + (options.wait?.waitTimeout ?? 0);
}
