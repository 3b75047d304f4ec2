// Pausing, and going on in a later page: what the store has is not sent again, whatever the protocol, and other data
// begins anew.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { bytes } from "./pages/bytes.js";
import { elsewhere, testbed } from "./support/bed.mjs";
import { reasonFor } from "./support/engines.mjs";
import { temporaryFolder } from "./support/server.mjs";
import { azurite, tus, versitygw, watched } from "./support/stores.mjs";

const MiB = 1 << 20, KiB = 1 << 10;

/** The number of a block by its id. */
const indexOf = (id) => Number(/\d+$/.exec(Buffer.from(id, "base64").toString()));

/**
 * fake-gcs-server is not among them: it takes the question how far an upload came for the end of the upload.
 *
 * `of` tells of a request to the store which block it brings, by where it begins; undefined where it brings none.
 */
const stores = {
  "the service's own": {},
  Azurite: { start: azurite, of: ({ method, query }, block) => (method === "PUT" && query.blockid ? indexOf(query.blockid) * block : undefined) },
  versitygw: { start: versitygw, block: 5 * MiB, of: ({ query, method }, block) => (method === "PUT" ? (query.partNumber - 1) * block : undefined) },
  "@tus/server": { start: tus, of: ({ method, headers }) => (method === "PATCH" ? Number(headers["upload-offset"]) : undefined) },
};

for (const [name, { start, of, block = 512 * KiB }] of Object.entries(stores)) {
  describe(name, () => {
    const skip = reasonFor(name);
    if (skip) return void test(name, { skip }, () => {});
    const count = block > MiB ? 4 : 10;
    const size = count * block - 1000;
    const data = bytes(3, size);
    let store, folder, path;
    before(async () => {
      if (start) store = await watched(await start());
      folder = temporaryFolder("resume");
      writeFileSync((path = join(folder.path, "data.bin")), data);
    });
    const check = testbed({ at: elsewhere, flags: () => [...(store?.flags ?? []), "-block-size", String(block)], env: () => store?.env ?? {} });
    after(async () => {
      await store?.stop();
      folder?.remove();
    });

    /** How often each block of a file was brought, by where it begins. */
    async function brought(service, fileId) {
      const requests = store
        ? store.requests.map((request) => of(request, block))
        : (await service.storage(fileId)).map(({ operation, block_id }) => (operation === "block" ? indexOf(block_id) * block : undefined));
      const counts = {};
      for (const at of requests) if (at !== undefined) counts[at] = (counts[at] ?? 0) + 1;
      return counts;
    }

    /** Begins an upload of the file and pauses it when some blocks are stored; gives how many. */
    async function pauseMidway(page, options) {
      if (store) store.requests.length = 0;
      await choose(page);
      return page.evaluate(async (options) => {
        const scene = (globalThis.scene = { asked: [] });
        const { files } = lab.client({ fetch: lab.asking(scene.asked) });
        scene.upload = files.upload(document.querySelector("input").files[0], { concurrency: 1, ...options });
        scene.seen = lab.watch(scene.upload);
        await new Promise((resolve, reject) => {
          scene.seen.then(({ error }) => reject(new Error(`it ended: ${JSON.stringify(error)}`)));
          const pause = ({ blocksDone, stage }) => {
            if (stage === "paused") {
              scene.upload.off("progress", pause);
              resolve();
            } else if (blocksDone > 0) scene.upload.pause();
          };
          scene.upload.on("progress", pause);
        });
        // A block whose last byte has left is answered first.
        do await new Promise(requestAnimationFrame);
        while (lab.open() > 0);
        return { fileId: scene.upload.fileId, done: scene.upload.progress.blocksDone, open: lab.open() };
      }, { blockSize: block, ...options });
    }

    async function choose(page) {
      await page.evaluate(() => document.body.replaceChildren(Object.assign(document.createElement("input"), { type: "file" })));
      await (await page.$("input")).uploadFile(path);
    }

    /** What is stored is the data, and the blocks that were done once were brought once. */
    async function judge(service, { fileId, done }, seen) {
      assert.equal(seen.error, undefined, JSON.stringify(seen.error));
      assert.deepEqual([seen.fileId, seen.progress.stage, seen.progress.loadedBytes], [fileId, "done", size]);
      const record = await service.file(fileId);
      assert.deepEqual([record.status, record.checksum], ["ready", createHash("sha256").update(data).digest("hex")]);
      const counts = await brought(service, fileId);
      assert.deepEqual(Object.keys(counts).map(Number).sort((a, b) => a - b).slice(0, done), Array.from({ length: done }, (_, i) => i * block));
      for (let i = 0; i < done; i++) assert.equal(counts[i * block], 1, `block ${i} of the ${done} that were done: ${JSON.stringify(counts)}`);
    }

    check("a paused upload sends nothing, and goes on with what is left", async ({ page, service }) => {
      const paused = await pauseMidway(page);
      assert.ok(paused.done > 0 && paused.done < count, `${paused.done} of ${count} blocks`);
      assert.equal(paused.open, 0);
      // A block that was let go may be on its way still; it arrives ahead of what is sent after it.
      await page.evaluate((origin) => fetch(origin, { mode: "no-cors" }).then(() => {}), (store ?? service).origin);
      const before = await brought(service, paused.fileId);
      const { status } = await page.evaluate((id) => lab.client().files.get(id), paused.fileId);
      assert.equal(status, "uploading");
      assert.deepEqual(await brought(service, paused.fileId), before, "nothing was sent meanwhile");
      const seen = await page.evaluate(() => {
        scene.upload.resume();
        return scene.seen;
      });
      await judge(service, paused, seen);
      const loaded = seen.reports.map(({ loadedBytes }) => loadedBytes);
      assert.deepEqual(loaded, loaded.toSorted((a, b) => a - b));
    });

    check("a page that is loaded again goes on with the same file", async ({ page, service }) => {
      const paused = await pauseMidway(page, { resumeKey: "form" });
      // The record is written behind the upload's back: of what it has not yet, blocks may be sent again.
      const kept = await page.waitForFunction(async (block) => {
        const [record] = await lab.records();
        const { lanes = [] } = record ?? {};
        return lanes.length > 1 ? lanes.filter(([, , whole]) => whole).length : Math.floor((lanes[0]?.[1] ?? 0) / block);
      }, {}, block).then((handle) => handle.jsonValue());
      await page.reload();
      await page.waitForFunction(() => "lab" in globalThis);
      await choose(page);
      const seen = await page.evaluate((blockSize) => lab.upload(document.querySelector("input").files[0], { resumeKey: "form", blockSize, concurrency: 1 }), block);
      await judge(service, { ...paused, done: Math.min(kept, paused.done) }, seen);
      assert.deepEqual(seen.asked.map(({ method }) => method), ["PATCH"], "no second registration");
      assert.deepEqual(await page.evaluate(() => lab.records()), []);
    });
  });
}

describe("under a resumeKey", () => {
  const check = testbed({ at: elsewhere });

  /** Begins an upload that the third block holds up, and waits until two are kept and the third has come. */
  async function begin(page, service, options) {
    const id = await started(page, options);
    await service.storageOnce(id, (requests) => requests.filter(({ operation, method }) => operation === "block" && method === "PUT").length === 3);
    return id;
  }

  const started = (page, options) => page.evaluate(async (options) => {
    const scene = (globalThis.scene = {});
    scene.client = lab.client();
    scene.file = (seed = 1, lastModified = 1) => new File([lab.bytes(seed, 5_000)], "form.bin", { lastModified });
    scene.upload = scene.client.files.upload(scene.file(), lab.fault("on=block&after=2&times=1&delay_ms=600000", { blockSize: 1_000, concurrency: 1, resumeKey: "form", ...options }));
    scene.seen = lab.watch(scene.upload);
    const kept = async () => (await lab.records()).some(({ lanes }) => lanes?.length === 2);
    while (!(await kept())) await new Promise(requestAnimationFrame);
    return scene.upload.fileId;
  }, options);

  const again = async (page) => {
    await page.reload();
    await page.waitForFunction(() => "lab" in globalThis);
  };

  const others = {
    "other bytes": { seed: 2 },
    "another time of change": { lastModified: 2 },
    "another name": { options: { name: "other.bin" } },
    "another type": { options: { contentType: "text/plain" } },
  };
  check("other data begins anew, and the file before is told of", async ({ page, service }) => {
    for (const [what, { seed = 1, lastModified = 1, options = {} }] of Object.entries(others)) {
      const first = await begin(page, service);
      await again(page);
      const seen = await page.evaluate((seed, lastModified, options) => lab.upload(new File([lab.bytes(seed, 5_000)], "form.bin", { lastModified }), { blockSize: 1_000, resumeKey: "form", ...options }), seed, lastModified, options);
      assert.deepEqual([what, seen.error, seen.file?.status], [what, undefined, "ready"]);
      assert.notEqual(seen.fileId, first, what);
      assert.equal((await service.file(first)).status, "upload_failed", what);
      assert.equal((await service.storage(seen.fileId)).filter(({ operation }) => operation === "block").length, 5, what);
      assert.deepEqual(await page.evaluate(() => lab.records()), []);
    }
  });

  check("the same data goes on, and another key does not", async ({ page, service }) => {
    const first = await begin(page, service);
    await again(page);
    const [other, same] = await page.evaluate(async () => {
      const file = () => new File([lab.bytes(1, 5_000)], "form.bin", { lastModified: 1 });
      return [await lab.upload(file(), { blockSize: 1_000, resumeKey: "another" }), await lab.upload(file(), { blockSize: 1_000, resumeKey: "form" })];
    });
    assert.deepEqual([other.error, same.error, same.fileId, other.fileId === first], [undefined, undefined, first, false]);
    const blocks = (await service.storage(first)).filter(({ operation }) => operation === "block").map(({ block_id }) => indexOf(block_id));
    assert.deepEqual(blocks.sort(), [0, 1, 2, 2, 3, 4]);
    assert.equal((await service.file(first)).status, "ready");
  });

  for (const [stage, fault] of Object.entries({ "the block list": "on=blocklist&times=1&delay_ms=600000", "the report": "on=report&times=1&delay_ms=600000" })) {
    check(`a page that is loaded again before ${stage} is answered sends no block again`, async ({ page, service }) => {
      const first = await page.evaluate(async (fault, committed) => {
        const upload = lab.client().files.upload(new File([lab.bytes(1, 5_000)], "form.bin", { lastModified: 1 }), lab.fault(fault, { blockSize: 1_000, resumeKey: "form" }));
        const kept = async () => (await lab.records()).some((record) => record.lanes?.length === 5 && (record.committed || !committed) && record.sum);
        while (!(await kept())) await new Promise(requestAnimationFrame);
        return upload.fileId;
      }, fault, stage === "the report");
      await again(page);
      const seen = await page.evaluate(() => lab.upload(new File([lab.bytes(1, 5_000)], "form.bin", { lastModified: 1 }), { blockSize: 1_000, resumeKey: "form" }));
      assert.deepEqual([seen.error, seen.fileId, seen.asked.map(({ method }) => method)], [undefined, first, ["PATCH"]]);
      assert.equal((await service.storage(first)).filter(({ operation }) => operation === "block").length, 5);
      assert.equal((await service.file(first)).status, "ready");
    });
  }

  check("another tab is refused while an upload is under way, and goes on when it is closed", async ({ page, service }) => {
    const first = await begin(page, service);
    const tab = await page.browserContext().newPage();
    await tab.goto(page.url());
    await tab.waitForFunction(() => "lab" in globalThis);
    const run = () => tab.evaluate(() => lab.upload(new File([lab.bytes(1, 5_000)], "form.bin", { lastModified: 1 }), { blockSize: 1_000, resumeKey: "form" }));
    const { error } = await run();
    assert.deepEqual([error?.name, error?.code, error?.stage, error?.retryable], ["UploadError", "resume_key_in_use", "preparing", true]);
    assert.match(error.message, /"form"/);
    await page.goto("about:blank");
    const seen = await run();
    assert.deepEqual([seen.error, seen.fileId], [undefined, first]);
    assert.equal((await service.file(first)).status, "ready");
  });

  check("the same key and data twice in a page are one upload", async ({ page, service }) => {
    const before = await service.requests();
    const seen = await page.evaluate(async () => {
      const { files } = lab.client();
      const file = new File([lab.bytes(1, 5_000)], "form.bin");
      const options = { blockSize: 1_000, resumeKey: "form" };
      const first = files.upload(file, options), second = files.upload(file, options);
      const done = await Promise.all([first.done(), second.done()]);
      const later = files.upload(file, options);
      await later.done();
      return { same: first === second, files: done.map(({ id }) => id), later: later === first };
    });
    assert.deepEqual([seen.same, seen.files[0] === seen.files[1], seen.later], [true, true, false]);
    assert.equal((await service.requests()).uploadURLs - before.uploadURLs, 2);
  });

  check("an upload that has ended is kept no longer", async ({ page }) => {
    const left = await page.evaluate(async () => {
      const options = { blockSize: 1_000, resumeKey: "form" };
      const left = {};
      for (const fault of ["tag=done", "on=block&status=400", "corrupt=1&on=block"]) {
        await lab.upload(new Blob([lab.bytes(1, 5_000)]), lab.fault(fault, options));
        left[fault] = await lab.records();
      }
      const upload = lab.client().files.upload(new Blob([lab.bytes(1, 5_000)]), lab.fault("on=block&delay_ms=600000", options));
      while ((await lab.records()).length === 0) await new Promise(requestAnimationFrame);
      left.under = (await lab.records()).map(({ key }) => key);
      await upload.abort();
      left.aborted = await lab.records();
      return left;
    });
    for (const [what, records] of Object.entries(left)) {
      if (what === "under") assert.match(records[0], / demo form$/);
      else assert.deepEqual([what, records], [what, []]);
    }
  });

  const blocked = {
    "is missing": () => void delete globalThis.indexedDB && Object.defineProperty(globalThis, "indexedDB", { value: undefined }),
    "throws": () => void (IDBFactory.prototype.open = () => { throw new DOMException("not in this window", "SecurityError"); }),
    "fails": () => void (IDBFactory.prototype.open = () => {
      const request = {};
      queueMicrotask(() => request.onerror());
      return Object.assign(request, { error: new DOMException("not today", "UnknownError") });
    }),
    "can't be written": () => void (IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); }),
    "and the locks are missing": () => Object.defineProperty(Navigator.prototype, "locks", { value: undefined }),
  };
  for (const [what, before] of Object.entries(blocked)) {
    check(`a page whose database ${what} uploads all the same`, async ({ page, service }) => {
      const seen = await page.evaluate(async () => {
        const logs = [];
        return { ...(await lab.upload(new Blob([lab.bytes(1, 5_000)]), { blockSize: 1_000, resumeKey: "form" }, { onLog: (record) => logs.push(record) })), logs };
      });
      assert.deepEqual([seen.error, (await service.file(seen.fileId)).status], [undefined, "ready"]);
      if (["is missing", "throws", "fails"].includes(what)) assert.ok(seen.logs.some(({ level, message }) => level === "warn" && /record/.test(message)), JSON.stringify(seen.logs));
    }, { before });
  }
});
