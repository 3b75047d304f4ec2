// What a page uploads is what the store has, byte for byte: every size, every kind of data, every protocol. The store is
// read past the service and the page, and the sums are computed here.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { bytes } from "./pages/bytes.js";
import { elsewhere, testbed } from "./support/bed.mjs";
import { ownStore } from "./support/own.mjs";
import { temporaryFolder } from "./support/server.mjs";
import { azurite, fakeGCS, tus, versitygw } from "./support/stores.mjs";

const MiB = 1 << 20;

const sha256 = (data, as = "hex") => createHash("sha256").update(data).digest(as);

/** S3 takes no smaller parts than 5 MiB. */
const stores = {
  "the service's own": { start: ownStore, protocol: "azure-block" },
  "the service's own by one PUT": { start: ownStore, protocol: "put", fault: "ticket=put" },
  Azurite: { start: azurite, protocol: "azure-block" },
  versitygw: { start: versitygw, protocol: "s3-multipart", block: 5 * MiB },
  "fake-gcs-server": { start: fakeGCS, protocol: "gcs-resumable" },
  "@tus/server": { start: tus, protocol: "tus" },
};

const kinds = ["File", "ArrayBuffer", "ArrayBuffer that can grow", "Uint8Array that is a window", "DataView", "Float64Array", "view of shared memory", "ReadableStream"];

let file, folder;
const seed = 7, large = 100 * MiB;
before(() => {
  folder = temporaryFolder("roundtrip");
  file = { path: join(folder.path, "large.bin"), sha256: "" };
  const data = bytes(seed, large);
  writeFileSync(file.path, data);
  file.sha256 = sha256(data);
});
after(() => folder?.remove());

/** Uploads in the page, and looks at what it came to from everywhere. */
async function roundTrip({ page, service, store, protocol, what, run, size, sum, blocks }) {
  const known = new Set(await store.list());
  const seen = await run(page);
  assert.equal(seen.error, undefined, `${what}: ${JSON.stringify(seen.error)}`);
  const fresh = (await store.list()).filter((key) => !known.has(key));
  assert.equal(fresh.length, 1, `${what}: ${fresh}`);
  assert.deepEqual([what, await store.read(fresh[0])], [what, { size, sha256: sum }]);

  const [asked, report] = seen.asked.filter(({ method }) => method !== "GET");
  assert.deepEqual([asked.method, asked.body.size, report.method, report.path], ["POST", size, "PATCH", `/v1/files/${seen.fileId}`], what);
  assert.deepEqual(report.body, { status: "uploaded", size, checksum: sum }, what);
  const record = await service.file(seen.fileId);
  assert.deepEqual([record.status, record.size, record.checksum], ["ready", size, sum], what);
  assert.deepEqual([seen.file.id, seen.file.status, seen.file.size, seen.file.checksum, seen.file.raw], [seen.fileId, "ready", size, sum, record], what);

  const { progress, protocol: spoken, end } = seen;
  assert.deepEqual([spoken, end, progress.stage, progress.loadedBytes, progress.totalBytes], [protocol, true, "done", size, size], what);
  assert.deepEqual([progress.blocksDone, progress.blocksTotal], [blocks, blocks], what);
  return seen;
}

for (const [name, { start, protocol, fault, block = MiB }] of Object.entries(stores)) {
  describe(name, () => {
    let store;
    before(async () => {
      store = await start();
    });
    const check = testbed({ at: elsewhere, flags: () => [...store.flags, ...(block === MiB ? [] : ["-block-size", String(block)])], env: () => store.env });
    after(() => store?.stop());
    const options = { blockSize: block, ...(fault && { headers: { "X-Fault": fault } }) };
    const blocksOf = (size, by = block) => (protocol === "put" ? 1 : Math.max(Math.ceil(size / by), 1));

    check("sizes about a block", async ({ page, service }) => {
      for (const [i, size] of [0, 1, block - 1, block, block + 1, 3.5 * block].entries()) {
        await roundTrip({
          page, service, store, protocol, what: `${size} bytes`, size, sum: sha256(bytes(i, size)), blocks: blocksOf(size),
          run: (page) => page.evaluate((seed, size, options) => lab.upload(new Blob([lab.bytes(seed, size)]), options), i, size, options),
        });
      }
    });

    check("every kind of data", async ({ page, service }) => {
      const size = 3.5 * block;
      for (const [i, kind] of kinds.entries()) {
        const { asked } = await roundTrip({
          page, service, store, protocol, what: kind, size, sum: sha256(bytes(i, size)), blocks: blocksOf(size),
          run: (page) => page.evaluate((seed, size, kind, options) => lab.upload(lab.kinds[kind](lab.bytes(seed, size)), options),
            i, size, kind, kind === "ReadableStream" ? { ...options, size } : options),
        });
        const { name, content_type } = asked[0].body;
        assert.deepEqual([name, content_type], kind === "File" ? ["chosen.bin", "application/x-chosen"] : ["upload", "application/octet-stream"]);
      }
    });

    check("a file of 100 MiB from the disk", async ({ page, service }) => {
      // The service says how large S3's parts are.
      const by = protocol === "s3-multipart" ? block : 8 * MiB;
      await page.evaluate(() => document.body.append(Object.assign(document.createElement("input"), { type: "file" })));
      await (await page.$("input")).uploadFile(file.path);
      await roundTrip({
        page, service, store, protocol, what: "file", size: large, sum: file.sha256, blocks: blocksOf(large, by),
        run: (page) => page.evaluate((options) => lab.upload(document.querySelector("input").files[0], options), { ...options, blockSize: by }),
      });
    });
  });
}

describe("what the service is told and asked", () => {
  const check = testbed({ at: elsewhere });
  const size = 2.5 * MiB;
  const sum = sha256(bytes(seed, size)), base64 = sha256(bytes(seed, size), "base64");
  const options = { blockSize: MiB };

  /** What steps 1 and 3 carry as the checksum, and what the file shows; the service computes one itself where it is told none. */
  const checksums = [
    { name: "by default", options: {}, first: undefined, last: sum, shown: sum },
    { name: "true", options: { checksum: true }, first: undefined, last: sum, shown: sum },
    { name: "before", options: { checksum: "before" }, first: sum, last: sum, shown: sum },
    { name: "false", options: { checksum: false }, first: undefined, last: undefined, shown: sum },
    { name: "known", options: { checksum: sum.toUpperCase() }, first: sum, last: sum, shown: sum },
    { name: "base64", options: { checksumEncoding: "base64" }, first: undefined, last: base64, shown: base64 },
    { name: "before, base64", options: { checksum: "before", checksumEncoding: "base64" }, first: base64, last: base64, shown: base64 },
    { name: "known, base64", options: { checksum: sum, checksumEncoding: "base64" }, first: base64, last: base64, shown: base64 },
  ];
  for (const { name, options: own, first, last, shown } of checksums) {
    check(`the checksum: ${name}`, async ({ page, service }) => {
      for (const kind of ["Blob", "Uint8Array that is a window"]) {
        const { asked, file, error } = await page.evaluate((seed, size, kind, options) => lab.upload(lab.kinds[kind](lab.bytes(seed, size)), options), seed, size, kind, { ...options, ...own });
        assert.deepEqual([asked[0].body.checksum, asked[1].body.checksum, file?.checksum], [first, last, shown], JSON.stringify(error));
        assert.equal((await service.file(file.id)).status, "ready");
      }
    });
  }

  check("a checksum that is another's fails the file", async ({ page, service }) => {
    for (const how of [{ checksum: "0".repeat(64) }, { headers: { "X-Fault": "corrupt=1&on=block&times=1" } }]) {
      const { error, progress, fileId } = await page.evaluate((seed, size, options) => lab.upload(new Blob([lab.bytes(seed, size)]), options), seed, size, { ...options, ...how });
      assert.deepEqual([error?.name, error?.file?.status, error?.file?.id, progress.stage], ["FileError", "upload_failed", fileId, "failed"]);
      assert.match(error.message, /SHA-256/);
      assert.equal((await service.file(fileId)).status, "upload_failed");
    }
  });

  check("registered is done, unless a wait is asked for", async ({ page }) => {
    const seen = await page.evaluate(async (options) => {
      const rag = (report, own) => lab.upload(new File(["the moon is a rock"], "moon.txt", { type: "text/plain" }), lab.fault(`on=report&${report}`, { ...options, purpose: "rag", ...own }));
      const statuses = [];
      return {
        registered: await rag("processing_ms=300", {}),
        waited: await rag("processing_ms=300", { wait: true }),
        followed: await rag("processing_ms=300", { wait: { interval: 50, maxInterval: 50, onStatus: (file) => statuses.push(file.status) } }),
        failed: await rag("processing_error=no%20text%20in%20it", { wait: true }),
        late: await rag("processing_ms=2000", { wait: { interval: 20, maxInterval: 20, waitTimeout: 200 } }),
        statuses,
      };
    }, options);
    const stages = ({ reports }) => [...new Set(reports.map(({ stage }) => stage))];
    const ended = ({ file, error }) => [file?.status, error?.name, error?.code];
    assert.deepEqual(ended(seen.registered), ["processing", undefined, undefined]);
    assert.deepEqual(stages(seen.registered), ["preparing", "uploading", "reporting", "done"]);
    assert.equal(seen.registered.asked[0].body.purpose, "rag");
    for (const one of [seen.waited, seen.followed]) {
      assert.deepEqual(ended(one), ["ready", undefined, undefined]);
      assert.deepEqual(stages(one), ["preparing", "uploading", "reporting", "processing", "done"]);
    }
    assert.equal(seen.statuses.at(-1), "ready");
    assert.ok(seen.statuses.length > 2 && seen.statuses.slice(0, -1).every((status) => status === "processing"), `${seen.statuses}`);
    assert.deepEqual(ended(seen.failed), [undefined, "FileError", "processing_failed"]);
    assert.match(seen.failed.error.message, /no text in it/);
    assert.equal(seen.failed.error.file.status, "processing_failed");
    assert.deepEqual(ended(seen.late), [undefined, "TimeoutError", "wait_timeout"]);
  });

  check("files.get and files.wait", async ({ page, service }) => {
    const seen = await page.evaluate(async (options) => {
      const { files } = lab.client();
      const upload = (report) => files.upload(new File(["the moon is a rock"], "moon.txt"), lab.fault(`on=report&${report}`, { ...options, purpose: "rag" })).done();
      const statuses = [];
      const cancel = new AbortController();
      // Longer than the test takes on a busy machine.
      const endless = await upload("processing_ms=600000");
      const slow = await upload("processing_ms=1500");
      const waited = await files.wait(slow.id, { interval: 50, maxInterval: 50, onStatus: (file) => statuses.push(file.status) });
      const cancelled = lab.refusal(() => files.wait(endless.id, { signal: cancel.signal, onStatus: () => cancel.abort() }));
      return {
        got: await files.get(endless.id),
        slow: slow.id,
        waited,
        again: await files.wait(slow.id),
        failed: await lab.refusal(async () => files.wait((await upload("processing_error=broken")).id)),
        late: await lab.refusal(() => files.wait(endless.id, { interval: 20, waitTimeout: 100 })),
        missing: await lab.refusal(() => files.get("file_unknown")),
        missed: await lab.refusal(() => files.wait("file_unknown")),
        unknown: await lab.settled(files.wait(slow.id, lab.fault("times=1&file_status=embedding", { interval: 20 }))),
        cancelled: await cancelled,
        statuses,
      };
    }, options);
    const { got, slow, waited, again, failed, late, missing, missed, unknown, cancelled, statuses } = seen;
    assert.deepEqual([got.status, got.name, got.size, got.raw.purpose], ["processing", "moon.txt", 18, "rag"]);
    assert.deepEqual([waited.id, waited.status, again.status, waited.raw], [slow, "ready", "ready", await service.file(slow)]);
    assert.deepEqual([statuses[0], statuses.at(-1)], ["processing", "ready"]);
    assert.deepEqual([failed.name, failed.file.status, failed.code], ["FileError", "processing_failed", "processing_failed"]);
    assert.deepEqual([late.name, late.code], ["TimeoutError", "wait_timeout"]);
    for (const error of [missing, missed]) assert.deepEqual([error.name, error.status], ["NotFoundError", 404]);
    assert.deepEqual([unknown.error, unknown.value?.status], [undefined, "ready"], "a status that is not known is waited past");
    assert.equal(cancelled.name, "AbortError");
  });
});
