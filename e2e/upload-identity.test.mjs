// What makes two uploads the same: only data that is certainly the same is continued under a resumeKey, and only on its way
// to the same place.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { after as afterwards, Files, first, held } from "./support/files.mjs";

const MiB = 1 << 20;

const files = new Files();
before(() => files.start());
after(() => files.close());
const check = testbed({ at: files.page });

const sum = (data, form = "hex") => createHash("sha256").update(data).digest(form);

const again = async (page) => {
  await page.reload();
  await page.waitForFunction(() => "lab" in globalThis);
};

/** Makes lab.data, which gives the data that a test uploads: of a seed, with the byte in the middle turned round or not. */
const give = (page, kind, size) => page.evaluate((kind, size) => {
  lab.data = (seed, turned) => {
    const data = lab.bytes(seed, size);
    if (turned) data[size >> 1] ^= 0xff;
    return kind === "File" ? new File([data], "upload", { lastModified: 1 }) : lab.kinds[kind](data);
  };
}, kind, size);

/** Begins an upload whose store takes this many blocks and holds up the next, and waits until that is there and those are kept. */
async function begin(page, blocks, options) {
  await page.evaluate((options) => {
    const scene = (globalThis.scene = {});
    scene.client = lab.client();
    scene.upload = scene.client.files.upload(lab.data(1), { resumeKey: "form", concurrency: 1, ...options });
    scene.seen = lab.watch(scene.upload);
  }, options);
  await files.once("block", blocks);
  await page.waitForFunction(async (blocks) => (await lab.records()).some(({ lanes }) => lanes?.length === blocks), {}, blocks);
}

/** A later page's upload under the same key. */
const later = (page, seed, turned, options) => page.evaluate((seed, turned, options) =>
  lab.upload(lab.data(seed, turned), { resumeKey: "form", concurrency: 1, signal: AbortSignal.timeout(30_000), ...options }), seed, turned, options);

/** What is stored as the upload's file, and that the one before was told of. */
function judgeAnew(seen, data, form) {
  assert.equal(seen.error, undefined, JSON.stringify(seen.error));
  assert.equal(seen.fileId, "file1", "a new file was begun");
  const [old, { record, stored }] = files.registered;
  assert.equal(sum(stored), sum(data), "the bytes stored are those given");
  assert.deepEqual([record.status, record.checksum], ["ready", sum(data, form)]);
  assert.equal(old.record.status, "upload_failed");
}

for (const kind of ["ArrayBuffer", "Uint8Array that is a window", "Blob"]) {
  // Of the first and the last 8 MiB a change would be seen by itself. What is stored reaches beyond the middle.
  const size = 20 * MiB, options = { blockSize: 4 * MiB };
  check(`a later page does not continue a changed ${kind} as a mixture`, async ({ page }) => {
    files.script({ block: afterwards(3, held) });
    await give(page, kind, size);
    await begin(page, 3, options);
    await again(page);
    await give(page, kind, size);
    const seen = await later(page, 1, true, options);
    const data = bytes(1, size);
    data[size >> 1] ^= 0xff;
    judgeAnew(seen, data);
  });

  check(`a later page continues the same ${kind}`, async ({ page }) => {
    files.script({ block: afterwards(3, held) });
    await give(page, kind, size);
    await begin(page, 3, options);
    await again(page);
    await give(page, kind, size);
    const seen = await later(page, 1, false, options);
    assert.deepEqual([seen.error, seen.fileId, files.registered.length], [undefined, "file0", 1], JSON.stringify(seen.error));
    assert.equal(sum(files.registered[0].stored), sum(bytes(1, size)));
    // The fourth was held up, and is sent again.
    assert.deepEqual(files.counts("block"), { block: 6 });
  });
}

for (const same of [true, false]) {
  check(`a later page does not take a stream for one that was reported, with ${same ? "the same" : "other"} bytes`, async ({ page }) => {
    files.script({ report: (_, __, { file, usual }) => Object.assign(usual(), file.record.file_id === "file0" && { status: "processing" }) });
    const options = { size: 5_000, blockSize: 2_000, wait: { interval: 50 } };
    await give(page, "ReadableStream", 5_000);
    await page.evaluate((options) => void lab.client().files.upload(lab.data(1), { resumeKey: "form", ...options }), options);
    // By the second poll a record is written, if any is.
    await files.once("read", 1);
    await again(page);
    await give(page, "ReadableStream", 5_000);
    const seen = await later(page, same ? 1 : 2, false, options);
    assert.deepEqual([seen.error, seen.fileId, seen.file?.status], [undefined, "file1", "ready"], JSON.stringify(seen.error));
    assert.equal(sum(files.registered[1].stored), sum(bytes(same ? 1 : 2, 5_000)));
    assert.equal(files.registered[0].record.status, "processing", "what was reported stays the service's own");
    assert.deepEqual(files.counts("failure"), { failure: 0 });
  });
}

for (const [what, { one, other, form }] of Object.entries({
  "another purpose": { one: { purpose: "rag" }, other: { purpose: "archive" } },
  "a purpose where there was none": { one: {}, other: { purpose: "rag" } },
})) {
  check(`a later page begins anew with ${what}`, async ({ page }) => {
    files.script({ block: afterwards(2, held) });
    await give(page, "File", 5_000);
    await begin(page, 2, { blockSize: 1_000, ...one });
    await again(page);
    await give(page, "File", 5_000);
    judgeAnew(await later(page, 1, false, { blockSize: 1_000, ...other }), bytes(1, 5_000), form);
    assert.deepEqual(files.registered.map(({ record }) => record.purpose), [one.purpose, other.purpose]);
  });
}

for (const [one, other] of [["hex", "base64"], ["base64", "hex"]]) {
  for (const reached of ["the blocks", "the report"]) {
    check(`a later page sends the checksum in ${other}, where ${one} was asked for and ${reached} had been reached`, async ({ page }) => {
      files.script(reached === "the blocks" ? { block: afterwards(2, held) } : { report: first(held) });
      await give(page, "File", 5_000);
      await page.evaluate((one) => void lab.client().files.upload(lab.data(1), { resumeKey: "form", blockSize: 1_000, concurrency: 1, checksumEncoding: one }), one);
      await files.once(reached === "the blocks" ? "block" : "report", reached === "the blocks" ? 2 : 0);
      await page.waitForFunction(async (blocks) => (await lab.records()).some(({ lanes, sum }) => (blocks ? lanes?.length === 2 : sum)), {}, reached === "the blocks");
      await again(page);
      await give(page, "File", 5_000);
      const seen = await later(page, 1, false, { blockSize: 1_000, checksumEncoding: other });
      const expected = sum(bytes(1, 5_000), other);
      assert.deepEqual([seen.error, seen.file?.checksum], [undefined, expected], JSON.stringify(seen.error));
      assert.equal(JSON.parse(files.of("report").at(-1).body).checksum, expected);
    });
  }
}

check("two workspaces at once under one resumeKey are two uploads of one client", async ({ page }) => {
  files.script();
  await give(page, "File", 5_000);
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const data = lab.data(1);
    const uploads = ["north", "south"].map((workspaceId) => client.files.upload(data, { resumeKey: "form", workspaceId, blockSize: 1_000 }));
    const files = await Promise.all(uploads.map((upload) => upload.done()));
    return { same: uploads[0] === uploads[1], ids: files.map(({ id }) => id), records: await lab.records() };
  });
  assert.deepEqual([seen.same, new Set(seen.ids).size, seen.records], [false, 2, []]);
  assert.deepEqual(files.registered.map(({ record }) => [record.workspace, record.status]).sort(), [["north", "ready"], ["south", "ready"]]);
});

check("two workspaces under one resumeKey are two uploads over a reload", async ({ page }) => {
  files.script({ block: afterwards(2, held) });
  await give(page, "File", 5_000);
  await begin(page, 2, { blockSize: 1_000, workspaceId: "north" });
  await again(page);
  await give(page, "File", 5_000);
  const seen = [];
  for (const workspaceId of ["south", "north"]) seen.push(await later(page, 1, false, { blockSize: 1_000, workspaceId }));
  assert.deepEqual(seen.map(({ error, fileId }) => [error, fileId]), [[undefined, "file1"], [undefined, "file0"]]);
  assert.deepEqual(files.registered.map(({ record }) => [record.workspace, record.status]), [["north", "ready"], ["south", "ready"]]);
});

check("the same upload after an abort is a new one, and ends well", async ({ page }) => {
  files.script({ block: first(held) });
  await give(page, "File", 5_000);
  await page.evaluate(() => {
    const scene = (globalThis.scene = { client: lab.client(), data: lab.data(1) });
    scene.begin = () => scene.client.files.upload(scene.data, { resumeKey: "form", blockSize: 1_000, concurrency: 1 });
    scene.first = scene.begin();
  });
  await files.once("block");
  const seen = await page.evaluate(async () => {
    const first = lab.watch(scene.first);
    const aborted = scene.first.abort();
    const upload = scene.begin();
    const second = lab.watch(upload);
    await aborted;
    return { same: upload === scene.first, first: await first, second: await second, records: await lab.records() };
  });
  assert.equal(seen.same, false, "an upload that is being aborted is not given back");
  assert.deepEqual([seen.first.error?.name, seen.first.progress.stage], ["AbortError", "aborted"]);
  assert.deepEqual([seen.second.error, seen.second.file?.id, seen.second.progress.stage], [undefined, "file1", "done"], JSON.stringify(seen.second.error));
  assert.deepEqual(files.registered.map(({ record }) => record.status), ["upload_failed", "ready"]);
  assert.deepEqual(seen.records, []);
});

check("who else is uploading under a resumeKey is told by its right name", async ({ page }) => {
  files.script({ block: afterwards(2, held) });
  await give(page, "File", 5_000);
  await begin(page, 2, { blockSize: 1_000 });
  const tab = await page.browserContext().newPage();
  await tab.goto(page.url());
  await tab.waitForFunction(() => "lab" in globalThis);
  await give(tab, "File", 5_000);
  for (const [where, told, not] of [[page, /another client of this page/, /another page/], [tab, /another page/, /another client/]]) {
    const { error } = await later(where, 1, false, { blockSize: 1_000 });
    assert.deepEqual([error?.name, error?.code, error?.stage, error?.retryable], ["UploadError", "resume_key_in_use", "preparing", true], JSON.stringify(error));
    assert.match(error.message, told);
    assert.doesNotMatch(error.message, not);
    assert.match(error.message, /"form"/);
  }
  assert.equal(files.registered.length, 1);
});
