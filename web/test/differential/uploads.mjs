// Uploads as the page has them: their data, which is made up where it is large, blocks on their way, sums, records, tickets.

import { createHash } from "node:crypto";
import { chance, string, weighted } from "../../../e2e/hostile/values.mjs";
import { checksumBefore, checksumDuring, checksumKnown, checksumNone, chunkSize } from "../../src/contract.ts";
import { Numbered } from "../../src/numbered.ts";
import { Store, plan, ticket } from "./stores.mjs";

/** So much of a range is really hashed: what is past numbers of 32 bits can't be. */
const hashedMost = 200_000;

const knownSum = createHash("sha256").update("known").digest("hex");

export function addUploads(world, { hostility, limits, waitLimits }) {
  const { r, pair } = world;
  const uploads = new Numbered();
  const store = new Store(r);
  const plans = new Map();

  function paramsOf({ name, size, parts }) {
    const small = size <= 100 << 20;
    const checksum = r.pick([checksumNone, checksumDuring, checksumDuring, checksumBefore, checksumKnown]);
    return {
      ...limits(r), workspaceId: r.pick(["w", "w/2 ü"]), name, contentType: r.pick(["text/plain", "application/octet-stream"]), purpose: r.pick(["", "rag"]), size,
      once: checksum !== checksumBefore && chance(r, 0.2), blockSize: small && chance(r, 0.3) ? 0 : Math.max(1, Math.ceil(size / parts)),
      concurrency: 1 + r.below(5), blockTries: 1 + r.below(4), blockTimeout: r.pick([60_000, 5_000, 0]), dataTimeout: r.pick([120_000, 10_000, 0]),
      reportTimeout: r.pick([300_000, 20_000, 0]), checksum, knownSum: checksum === checksumKnown || (checksum === checksumDuring && chance(r, 0.2)) ? knownSum : "",
      base64: chance(r, 0.3), ...(chance(r, 0.4) && { wait: waitLimits(r) }), maps: chance(r, 0.2), resumable: chance(r, 0.6), fingerprint: r.pick(["", "1 2 3"]), record: "",
    };
  }

  function start(client, again) {
    const made = again?.plan ?? plan(r);
    const params = again?.params ?? paramsOf(made);
    plans.set(made.name, made);
    const upload = { number: 0, client, plan: made, params, over: false, aborted: false, blocks: new Map(), hashState: "", record: "" };
    upload.number = uploads.add(upload);
    world.tell("startUpload", upload.number, client.number, { ...params, record: again?.record ?? "" });
    client.onClose.push(() => abort(upload));
    world.endings.push({ end: () => world.after(1, () => abort(upload)), left: () => !upload.over && `upload ${upload.number}` });
    for (let i = r.below(3); i > 0; i--) world.after(r.pick([r.below(300), r.below(60_000)]), () => act(upload));
    return upload;
  }

  const live = (upload) => !upload.over;

  function act(upload) {
    if (upload.over || upload.aborted) return;
    const { number } = upload;
    switch (weighted(r, { pause: 3, abort: 1, again: upload.params.resumable ? 3 : 0, data: 0.5, moved: 1, record: 1 })) {
      case "pause":
        world.tell("pauseUpload", number);
        return world.after(r.below(90_000), () => live(upload) && world.tell("resumeUpload", number));
      case "abort": return abort(upload);
      case "again": return again(upload);
      case "data": return world.tell("dataFailed", number, Math.floor(r.next() * upload.plan.size), "NotReadableError");
      case "moved": return world.tell("dataMoved", number);
      default: return recordOf(upload);
    }
  }

  function abort(upload) {
    if (upload.over || upload.aborted) return;
    upload.aborted = true;
    world.tell("abortUpload", upload.number);
    upload.stopMapping?.();
  }

  const recordOf = (upload) => world.tell("uploadRecord", upload.number);

  /** A later page goes on with what an earlier one kept, or with something else. */
  function again(upload) {
    const record = recordOf(upload) || upload.record;
    abort(upload);
    world.after(r.below(2_000), () => {
      if (upload.client.closed) return;
      const spoiled = chance(r, 0.2) ? r.pick([record.slice(1), record.replace(/\d+/, "9"), record.replace('"lanes":[', '"lanes":[[0,1,true],'), string(r), "{}"]) : record;
      start(upload.client, { ...upload, record: spoiled });
    });
  }

  function sendBlock(upload, id, request) {
    const { number, blocks, plan } = upload;
    const here = {};
    blocks.set(id, here);
    const length = request.to - request.from;
    const later = (ms, run) => world.after(ms, () => blocks.get(id) === here && live(upload) && run());
    let at = length > 0 ? world.soon(chance(r, 0.05) ? 20_000 : 100) : 0;
    if (length > 0 && chance(r, 0.1)) later(at / 2, () => world.tell("dataMoved", number));
    if (chance(r, 0.01) && !world.calm) return later(at, () => world.tell("dataFailed", number, request.from, "TypeError: the buffer was detached"));
    later(at, () => world.tell("storeBegun", number, id));
    for (let i = r.below(4), sent = 0; i > 0 && length > 0; i--) {
      at += world.soon(chance(r, 0.05) ? 5_000 : 200);
      sent = i === 1 && chance(r, 0.7) ? length : sent + Math.floor((length - sent) * r.next());
      const now = sent;
      later(at, () => world.tell("storeProgress", number, id, now));
    }
    if (chance(r, 0.1)) later(at, () => world.tell("storeAlive", number, id));
    if (chance(r, 0.03) && !world.calm) return; // nothing more is ever heard of it
    at += world.soon(200);
    later(at, () => {
      const answer = world.surroundings.offline ? undefined : store.answer(plan, request, world.calm ? 1e9 : 8 * hostility);
      blocks.delete(id);
      if (answer) world.tell("storeAnswered", number, id, answer);
      else world.tell("storeFailed", number, id, r.pick(["error", "", "redirected"]));
    });
  }

  /** The data's bytes from a place on are the same whenever they are read. */
  function bytesAt(from, length) {
    return Buffer.alloc(length, `data from ${from} `);
  }

  function hash(upload, { from, to, state, last }) {
    const { number } = upload;
    const before = from === 0 ? "" : state || upload.hashState;
    const pieces = [];
    for (let at = 0, length = Math.min(to - from, hashedMost); at < length;) {
      const size = Math.min(length - at, chance(r, 0.5) ? chunkSize : 1 + r.below(300));
      pieces.push(bytesAt(from + at, size));
      at += size;
    }
    if (chance(r, 0.02) && !world.calm) return world.after(r.below(100), () => live(upload) && world.tell("dataFailed", number, from, "NotFoundError: gone"));
    const result = pair.hash(Buffer.from(before, "hex"), pieces, last);
    // A state that a record was spoiled to be.
    const known = Buffer.isBuffer(result);
    world.after(world.soon(chance(r, 0.05) ? 30_000 : 100), () => {
      if (!live(upload)) return;
      if (!known) return world.tell("dataFailed", number, from, "Error: the saved state of the checksum is none");
      upload.hashState = last ? "" : result.toString("hex");
      world.tell("hashed", number, { at: to, state: upload.hashState, sum: last ? result.toString("hex") : "" });
    });
  }

  function mapTicket(upload, body) {
    const { number } = upload;
    const told = (name, text) => {
      upload.stopMapping = undefined;
      if (live(upload)) world.tell(name, number, text);
    };
    const refuse = () => told("ticketRefused", "AbortError: the upload was aborted");
    if (upload.aborted) return world.after(0, refuse);
    upload.stopMapping = () => world.after(0, refuse);
    const answer = () => {
      if (!upload.stopMapping || upload.aborted) return;
      try {
        JSON.parse(body);
        if (chance(r, 0.15) && !world.calm) throw new Error("none \ud800");
        told("ticketMapped", `{${ticket(r, upload.plan, world.now + world.surroundings.timeOrigin, true).map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`);
      } catch (error) {
        told("ticketRefused", String(error));
      }
    };
    if (!chance(r, 0.05)) world.after(world.soon(200), answer);
  }

  const of = (number) => uploads.get(number);
  world.has({
    sendBlock: (number, id, request) => sendBlock(of(number), id, request),
    cancelBlock: (number, id) => of(number).blocks.delete(id),
    hash: (number, range) => hash(of(number), range),
    releaseData: () => {},
    showProgress: () => {},
    saveRecord(number, record) {
      const upload = of(number);
      if (record !== "") upload.record = record;
      else world.after(0, () => live(upload) && (upload.record = recordOf(upload)));
    },
    forgetRecord: (number) => (of(number).record = ""),
    mapTicket: (number, body) => mapTicket(of(number), body),
    uploadStatus: () => {},
    uploadEnded(number, { stage }) {
      const upload = of(number);
      world.tally.add(`upload ${stage}${stage === "done" ? ` by ${upload.plan.protocol}` : ""}`);
      upload.over = true;
      uploads.remove(number);
      if (upload.record !== "" && chance(r, 0.5) && !world.calm) again(upload);
    },
  });

  const tickets = ({ name }) => ticket(r, plans.get(name), world.now + world.surroundings.timeOrigin);
  return { start, tickets };
}
