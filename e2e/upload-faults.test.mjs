// Three hundred uploads, eight at a time, whose storage, service or network fails in some way: each ends as it should, with
// the store holding its very bytes or the service knowing that it failed, and the module is left as it was.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before } from "node:test";
import { bytes } from "./pages/bytes.js";
import { elsewhere, testbed } from "./support/bed.mjs";
import { engine } from "./support/engines.mjs";
import { ownStore } from "./support/own.mjs";
import { random, seedFor, Tally } from "./support/seed.mjs";
import { hooked, moduleAtRest, testModule } from "./support/test-module.mjs";
import { Toxiproxy } from "./support/toxiproxy.mjs";

// What is under way in the module is the same in every engine.
const inside = engine === "chromium";
const moduleOptions = inside ? testModule() : undefined;
// The others show that their requests fail as Chromium's do; WebDriver has one page at a time.
const [uploads, together] = { chromium: [300, 8], firefox: [60, 4], webkit: [40, 1] }[engine];
const block = 64 << 10;

const store = ownStore();
const check = testbed({ at: elsewhere, flags: store.flags });
let toxiproxy;
before(async () => {
  toxiproxy = await Toxiproxy.start();
});
after(async () => {
  await toxiproxy?.close();
  await store.stop();
});

// A trouble says what meets an upload, given a source of randomness, the upload's plan and the name of the operation that
// stores its data: `fault` at the service or its storage, `toxic` on the way to the storage, `offline` in the browser.

/**
 * What an upload gets over: a block is sent six times, and each of these costs it two at most. patience is the time in
 * which it must move, where something stalls.
 */
const passing = {
  address: {
    "answered 503": () => ({ fault: "on=upload-url&times=1&status=503&retry_after=0" }),
    expired: () => ({ fault: "on=upload-url&expires_ms=1" }),
  },
  data: {
    "answered 503": (r, _, on) => ({ fault: `on=${on}&times=${1 + r.below(2)}&after=${r.below(3)}&status=503&retry_after=0` }),
    "answered 403": (r, _, on) => ({ fault: `on=${on}&times=1&after=${r.below(3)}&status=403` }),
    refused: (r, _, on) => ({ fault: `on=${on}&times=${1 + r.below(2)}&refuse=1` }),
    cut: (r, { size }, on) => ({ fault: `on=${on}&times=${1 + r.below(2)}&cut_bytes=${r.below(Math.min(size, block))}` }),
    stalled: (r, { size }, on) => ({ fault: `on=${on}&times=1&stall_bytes=${r.below(Math.min(size, block))}`, patience: 1000 }),
    "answer lost": (r, _, on) => ({ fault: `on=${on}&times=${1 + r.below(2)}&lost_answer=1` }),
    slow: (_, __, on) => ({ fault: `on=${on}&bytes_per_s=2000000` }),
  },
  list: {
    "answered 503": () => ({ fault: "on=blocklist&times=2&status=503&retry_after=0" }),
    "answered 403": () => ({ fault: "on=blocklist&times=1&status=403" }),
    refused: () => ({ fault: "on=blocklist&times=1&refuse=1" }),
    cut: (r) => ({ fault: `on=blocklist&times=1&cut_bytes=${r.below(80)}` }),
    stalled: (r) => ({ fault: `on=blocklist&times=1&stall_bytes=${r.below(80)}`, patience: 1000 }),
    "answer lost": () => ({ fault: "on=blocklist&times=2&lost_answer=1" }),
  },
  report: {
    "answered 503": () => ({ fault: "on=report&times=1&status=503&retry_after=0" }),
    // Also more often than a request is repeated.
    refused: (r) => ({ fault: `on=report&times=${1 + r.below(4)}&refuse=1` }),
    "answer lost": (r) => ({ fault: `on=report&times=${1 + r.below(4)}&lost_answer=1` }),
  },
  wire: {
    "cut on the way there": (r) => ({ toxic: ["limit_data", { bytes: r.below(block) }, { stream: "upstream" }], breaks: 1 + r.below(2) }),
    "cut on the way back": (r) => ({ toxic: ["limit_data", { bytes: r.below(600) }], breaks: 1 + r.below(2) }),
    reset: (r) => ({ toxic: ["reset_peer", { timeout: r.below(40) }], breaks: 1 + r.below(2) }),
    silent: () => ({ toxic: ["timeout", { timeout: 0 }, { stream: "upstream" }], breaks: 1, patience: 1000 }),
    narrow: () => ({ toxic: ["bandwidth", { rate: 1000 }, { stream: "upstream" }] }),
  },
  network: {
    "gone at first": () => ({ offline: "start" }),
    "gone on the way": (_, __, on) => ({ fault: `on=${on}&delay_ms=200`, offline: "moving" }),
  },
};

/** What an upload does not get over, and the error that it ends with: by name, stage, whether a block is to blame, and code. */
const uploading = (code, blamed) => ["UploadError", "uploading", blamed, code];
const lasting = {
  address: {
    refused: () => ({ fault: "on=upload-url&refuse=1", end: ["ConnectionError", "preparing", false] }),
    "answered 400": () => ({ fault: "on=upload-url&status=400", end: ["APIError", "preparing", false] }),
    "not renewed": () => ({ fault: "on=upload-url&expires_ms=1;on=renewal&status=409", end: uploading("address_expired", false) }),
    "renewed as another file": () => ({ fault: "on=upload-url&expires_ms=1;on=renewal&other_file=1", end: uploading("address_expired", false) }),
  },
  data: {
    "answered 503": (r, _, on) => ({ fault: `on=${on}&status=503&retry_after=0`, end: uploading("storage_unavailable", true) }),
    "answered 400": (r, _, on) => ({ fault: `on=${on}&status=400`, end: uploading("storage_refused", true) }),
    "answered 403": (r, _, on) => ({ fault: `on=${on}&status=403`, end: uploading("address_refused", true) }),
    refused: (r, _, on) => ({ fault: `on=${on}&refuse=1`, end: uploading("storage_unreachable", true) }),
    cut: (r, { size }, on) => ({ fault: `on=${on}&cut_bytes=${r.below(Math.min(size, block))}`, end: uploading("storage_unreachable", true) }),
    stalled: (r, { size }, on) => ({ fault: `on=${on}&stall_bytes=${r.below(Math.min(size, block))}`, end: uploading("block_timeout", true), patience: 1000 }),
    "stored otherwise": (_, __, on) => ({ fault: `on=${on}&times=1&corrupt=1`, end: ["FileError", "reporting", false] }),
  },
  list: {
    "answered 503": () => ({ fault: "on=blocklist&status=503&retry_after=0", end: uploading("storage_unavailable", false) }),
    "answered 400": () => ({ fault: "on=blocklist&status=400", end: uploading("storage_refused", false) }),
    refused: () => ({ fault: "on=blocklist&refuse=1", end: uploading("storage_unreachable", false) }),
  },
  report: {
    // What is stored whole is never reported as failed.
    "answered 400": () => ({ fault: "on=report&times=1&status=400", end: ["UploadError", "reporting", false], stored: true }),
  },
  wire: {
    reset: () => ({ toxic: ["reset_peer", { timeout: 0 }], end: uploading("storage_unreachable", true) }),
    silent: () => ({ toxic: ["timeout", { timeout: 0 }, { stream: "upstream" }], end: uploading("block_timeout", true), patience: 1000 }),
  },
};

/** Only Chromium's network can be switched off, and through WebDriver nobody hears of a block that is tried again. */
const places = { chromium: () => true, firefox: (place) => place !== "network", webkit: (place) => !["network", "wire"].includes(place) }[engine];

/** Places whose troubles would add up: for a block, or for a renewal, which is not repeated where it may have acted. */
const apart = [["data", "wire"], ["data", "network"], ["wire", "network"], ["address", "network"]];

/** What one upload is, and what it shall meet: nothing, up to three troubles that pass, or one that lasts. */
function plan(r, i) {
  const size = r.pick([1, block - 1, block, block + 1, r.below(block), r.below(12 * block), r.below(12 * block), r.below(12 * block)]);
  const one = { i, size, put: r.below(4) === 0, kind: r.pick(["Blob", "Blob", "ArrayBuffer", "ReadableStream"]), faults: [`tag=${i}`], met: [] };
  if (one.put) one.faults.push("ticket=put");
  const whole = one.put || size <= block;
  const fits = (place) => places(place) && (place === "list" ? !whole : place === "data" ? size > 0 : true);
  const meet = (troubles, place) => {
    const name = r.pick(Object.keys(troubles[place]));
    const { fault, ...rest } = troubles[place][name](r, one, whole ? "blob" : "block");
    if (fault) one.faults.push(fault);
    one.met.push(`${troubles === lasting ? "lasting " : ""}${place} ${name}`);
    Object.assign(one, rest);
  };
  const fitting = (troubles) => Object.keys(troubles).filter(fits);
  const kind = r.below(10);
  if (kind < 4) meet(lasting, r.pick(fitting(lasting)));
  else if (kind < 9) {
    let left = fitting(passing);
    for (let n = 1 + r.below(3); n > 0 && left.length > 0; n--) {
      const place = r.pick(left);
      meet(passing, place);
      left = left.filter((other) => other !== place && !apart.some((pair) => pair.includes(place) && pair.includes(other)));
    }
  }
  return one;
}

/** Uploads in the page by way of a lane's proxy, and says what became of it; what happens meanwhile goes to `happens`. */
const upload = (page, one, way) => page.evaluate(async ({ i, size, kind, faults, end, offline, patience }, way) => {
  const asked = (globalThis.asked = []);
  // One client for all that the page uploads: what is not let go adds up.
  const client = (globalThis.client ??= lab.client({
    maxRetries: 2,
    fetch: async (url, init) => {
      const response = await lab.asking(globalThis.asked)(url, init);
      if (!response.ok || !url.endsWith("/upload-url")) return response;
      const ticket = await response.json();
      const { pathname, search } = new URL(ticket.upload_url);
      return new Response(JSON.stringify({ ...ticket, upload_url: way + pathname + search }), response);
    },
    onLog: ({ message }) => message === "trying a block again" && happens("again"),
  }));
  const data = lab.kinds[kind](lab.bytes(i, size));
  const upload = client.files.upload(data, lab.fault(faults.join(";"), {
    size, blockSize: 64 << 10, blockTries: end ? 2 : 6, blockTimeout: patience ?? 30_000,
    // Nothing hangs: this would show as another error.
    signal: AbortSignal.timeout(60_000),
  }));
  if (offline) {
    upload.on("progress", ({ stage, loadedBytes }) => {
      if (stage === "paused") happens("paused");
      if (stage === "uploading" && loadedBytes > 0) happens("moving");
    });
  }
  const { reports, ...seen } = await lab.watch(upload);
  const files = asked.flatMap(({ answer }) => (answer?.upload_url ? [answer.file_id] : []));
  return { ...seen, files: [...new Set(files)], loaded: reports.map(({ loadedBytes }) => loadedBytes), open: lab.open() };
}, one, way);

/** One page with a way of its own to the storage. */
async function lane({ browser, service }, name) {
  const page = await browser.open(elsewhere(service), inside ? { before: hooked } : {});
  const way = await toxiproxy.proxy(name, service.origin);
  const cdp = inside && (await page.createCDPSession());
  if (cdp) await cdp.send("Network.enable");
  const network = (offline) => cdp.send("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  let onward = () => {};
  if (page.exposeFunction) await page.exposeFunction("happens", (what) => onward(what));
  else await page.evaluate(() => void (globalThis.happens = () => {}));
  if (inside) await page.evaluate((options) => lab.Turnwire.init(options), moduleOptions());
  const rest = async (most) => {
    if (!inside) return {};
    const { live, goroutines } = await page.evaluate(moduleAtRest, most);
    return { live, goroutines };
  };
  return {
    page,
    rest,
    /** Runs one upload under its troubles; those on the way and of the network go once they were noticed. */
    async run(one) {
      let { breaks } = one, spell = one.offline;
      const changes = [];
      onward = (what) => {
        if (what === "again" && breaks > 0 && --breaks === 0) changes.push(toxiproxy.heal(name));
        if (what === "moving" && spell === "moving") {
          spell = "begun";
          changes.push(network(true));
        }
        if (what === "paused" && spell) {
          spell = undefined;
          changes.push(network(false));
        }
      };
      if (one.toxic) await toxiproxy.poison(name, ...one.toxic);
      if (one.offline === "start") await network(true);
      const seen = await upload(page, one, way);
      await Promise.all(changes);
      if (one.toxic) await toxiproxy.heal(name);
      if (one.offline) await network(false);
      return { ...seen, unnoticed: spell !== undefined };
    },
  };
}

check(`${uploads} uploads under faults`, async ({ service, browser, t }) => {
  const r = random(seedFor(t));
  const plans = Array.from({ length: uploads }, (_, i) => plan(r, i));
  const tally = new Tally();

  const judge = async (one, seen) => {
    const { fileId, file, error, progress, files, loaded } = seen;
    const said = JSON.stringify({ ...one, fileId, file, error, progress, files });
    const sum = createHash("sha256").update(bytes(one.i, one.size)).digest("hex");
    for (const id of files) {
      const record = await service.file(id);
      const expected = file ? "ready" : one.stored && id === fileId ? "uploading" : "upload_failed";
      assert.equal(record.status, expected, `${id}: ${said}`);
      if (record.status === "ready") assert.deepEqual([await store.read(id), record.checksum], [{ size: one.size, sha256: sum }, sum], said);
    }
    const came = (error ? error.code : file.status) + (seen.unnoticed ? " before it" : "");
    for (const how of one.met.length > 0 ? one.met : ["nothing"]) tally.add(`${how}: ${came}`);
    assert.deepEqual([seen.end, seen.open], [true, 0], said);
    assert.deepEqual(loaded, loaded.toSorted((a, b) => a - b), said);
    if (!one.end) {
      assert.equal(error, undefined, said);
      assert.deepEqual([file.id, file.status, file.checksum, files, progress.stage, progress.loadedBytes], [fileId, "ready", sum, [fileId], "done", one.size], said);
      return;
    }
    const [name, stage, blamed, code] = one.end;
    assert.ok(error, said);
    assert.deepEqual([error.name, error.stage, error.fileId ?? error.file?.id, progress.stage], [name, stage, fileId, "failed"], said);
    if (code) assert.equal(error.code, code, said);
    assert.equal(error.stored, one.stored, said);
    assert.equal(error.block === undefined || error.block * block > one.size, !blamed, said);
  };

  const next = plans.values();
  await Promise.all(Array.from({ length: together }, async (_, i) => {
    const { page, run, rest } = await lane({ browser, service }, `lane ${i}`);
    // The first upload of all makes what the module then keeps.
    const first = { i: uploads + i, size: 1, kind: "Blob", faults: [], met: [] };
    await judge(first, await run(first));
    const idle = await rest(1);
    for (const one of next) await judge(one, await run(one));
    assert.deepEqual(await rest(idle.live), idle, "what is under way is that of a module at rest");
    assert.deepEqual(page.uncaught, [], "nobody caught these");
    await page.browserContext().close();
  }));
  t.diagnostic(tally.toString());
}, { timeout: 300_000 });

check("a renewal that breaks because the network goes is asked for again", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    let there = true, went = false;
    Object.defineProperty(navigator, "onLine", { get: () => there });
    const asked = [];
    const ask = lab.asking(asked);
    const client = lab.client({
      fetch: async (url, init) => {
        if (asked.length === 0 || went) return ask(url, init);
        // Requests break before the browser says why.
        [there, went] = [false, true];
        throw new TypeError("network changed");
      },
    });
    const upload = client.files.upload(new Blob([lab.bytes(1, 256 << 10)]), lab.fault("on=upload-url&expires_ms=1", { blockSize: 64 << 10 }));
    upload.on("progress", ({ stage }) => {
      if (stage !== "paused") return;
      there = true;
      dispatchEvent(new Event("online"));
    });
    return { ...(await lab.watch(upload)), asked, went };
  });
  assert.deepEqual([seen.went, seen.error, seen.file?.status], [true, undefined, "ready"]);
  assert.deepEqual(seen.asked.map(({ method, status }) => `${method} ${status}`), ["POST 201", "POST 200", "PATCH 200"]);
  assert.equal((await service.file(seen.fileId)).status, "ready");
});

check("a signed address that is none is in no error's text", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const fetched = async (url, init) => url.endsWith("/upload-url")
      ? new Response(JSON.stringify({ file_id: "file_any", upload_url: "http://[store/blob?sig=secret" }))
      : fetch(url, init);
    const logs = [];
    const upload = lab.client({ fetch: fetched, onLog: (record) => logs.push(record) }).files.upload(new Blob(["data"]), { blockTries: 1 });
    return JSON.stringify({ error: await lab.refusal(() => upload.done()), logs });
  });
  assert.match(seen, /the signed address is not a valid address/);
  assert.doesNotMatch(seen, /secret/);
});
