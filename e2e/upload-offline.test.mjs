// An upload that ends while there is no network is not forgotten: the service is told as soon as it can be, by this page, or
// under a resumeKey by a later one.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { testbed } from "./support/bed.mjs";
import { Files, held } from "./support/files.mjs";

const files = new Files();
before(() => files.start());
after(() => files.close());
const open = testbed({ at: files.page });

/** Ahead of the page: DevTools lets requests pass that outlive their page, as reports do; a network that is gone does not. */
const byNetwork = () => void (globalThis.byNetwork = (url, init) => (globalThis.gone ? Promise.reject(new TypeError("Failed to fetch")) : fetch(url, init)));
const check = (name, run) => open(name, run, { before: byNetwork });

/** Switches the page's network off and on. */
async function switchOf(page) {
  const cdp = await page.createCDPSession();
  await cdp.send("Network.enable");
  return async (offline) => {
    await page.evaluate((offline) => void (globalThis.gone = offline), offline);
    await cdp.send("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await page.waitForFunction((offline) => navigator.onLine !== offline, {}, offline);
  };
}

/** Begins an upload whose store holds up its second block, of which the first is kept where there is a key. */
async function begin(page, options, kind) {
  files.script({ block: (request, response, { n, usual }) => (n === 1 ? held() : usual()) });
  await page.evaluate((options, kind) => {
    const scene = (globalThis.scene = {});
    scene.client = lab.client({ fetch: byNetwork });
    const data = lab.bytes(1, 3_000);
    let at = 0;
    const stream = () => new ReadableStream({
      start: (controller) => void (scene.source = controller),
      pull: (controller) => void (at < 2_000 && controller.enqueue(data.slice(at, (at += 1_000)))),
    }, { highWaterMark: 0 });
    scene.data = kind ? stream() : new File([data], "a.bin", { lastModified: 1 });
    scene.upload = scene.client.files.upload(scene.data, { size: 3_000, blockSize: 1_000, concurrency: 1, ...options });
    scene.seen = lab.watch(scene.upload);
  }, options ?? {}, kind);
  await files.once("block", 1);
  if (options?.resumeKey) await page.waitForFunction(async () => (await lab.records()).some(({ lanes }) => lanes?.length === 1));
}

const ends = {
  "was aborted": { act: () => void scene.upload.abort(), name: "AbortError", why: /abort/ },
  "was closed with its client": { act: () => scene.client.close(), name: "AbortError", why: /abort/ },
  "failed by its data": {
    act: () => scene.source.error(new Error("the drive is gone")), data: "a stream", options: { concurrency: 2 }, name: "UploadError", why: /the drive is gone/,
  },
};
for (const [how, { act, data, options, name, why }] of Object.entries(ends)) {
  check(`an upload that ${how} offline is told of when the network is back`, async ({ page }) => {
    await begin(page, options, data);
    const offline = await switchOf(page);
    await offline(true);
    await page.evaluate(`(${act})()`);
    await page.waitForFunction(() => ["aborted", "failed"].includes(scene.upload.progress.stage) || lab.open() === 0);
    assert.equal(files.of("failure").length, 0);
    await offline(false);
    await files.once("failure");
    const { record } = files.registered[0];
    assert.equal(record.status, "upload_failed");
    assert.match(record.error, why);
    const { error } = await page.evaluate(() => scene.seen);
    assert.equal(error?.name, name, JSON.stringify(error));
    assert.equal(files.of("failure").length, 1, "it is told once");
  });
}

check("two uploads that are aborted offline are both told of", async ({ page }) => {
  files.script({ block: held });
  await page.evaluate(() => {
    globalThis.scene = { uploads: [1, 2].map((seed) => lab.client({ fetch: byNetwork }).files.upload(new Blob([lab.bytes(seed, 1_000)]))) };
    for (const upload of scene.uploads) upload.done().catch(() => {});
  });
  await files.once("block", 1);
  const offline = await switchOf(page);
  await offline(true);
  await page.evaluate(() => scene.uploads.forEach((upload) => void upload.abort()));
  await page.waitForFunction(() => lab.open() === 0);
  await offline(false);
  await files.once("failure", 1);
  assert.deepEqual(files.registered.map(({ record }) => record.status), ["upload_failed", "upload_failed"]);
});

check("a later page tells of an upload with a resumeKey that was aborted offline", async ({ page }) => {
  await begin(page, { resumeKey: "form" });
  const offline = await switchOf(page);
  await offline(true);
  const kept = await page.evaluate(async () => JSON.stringify(await lab.records()));
  await page.evaluate(() => void scene.upload.abort());
  // The record says now that the file is given up.
  await page.waitForFunction(async (kept) => {
    const records = await lab.records();
    return records.length === 1 && JSON.stringify(records) !== kept;
  }, {}, kept);
  const home = page.url();
  await page.goto("about:blank");
  await offline(false);
  assert.equal(files.of("failure").length, 0);
  await page.goto(home);
  await page.waitForFunction(() => "lab" in globalThis);
  const seen = await page.evaluate(() => {
    const options = { blockSize: 1_000, resumeKey: "form", signal: AbortSignal.timeout(20_000) };
    return lab.upload(new File([lab.bytes(1, 3_000)], "a.bin", { lastModified: 1 }), options, { fetch: byNetwork });
  });
  assert.deepEqual([seen.error, seen.fileId], [undefined, "file1"], JSON.stringify(seen.error));
  assert.deepEqual(files.registered.map(({ record }) => record.status), ["upload_failed", "ready"]);
  assert.deepEqual(await page.evaluate(() => lab.records()), []);
});

check("an upload with a resumeKey that was aborted offline is told of by its own page too", async ({ page }) => {
  await begin(page, { resumeKey: "form" });
  const offline = await switchOf(page);
  await offline(true);
  await page.evaluate(() => void scene.upload.abort());
  await page.waitForFunction(() => lab.open() === 0);
  await offline(false);
  await files.once("failure");
  assert.equal(files.registered[0].record.status, "upload_failed");
  const seen = await page.evaluate(() => lab.watch(scene.client.files.upload(scene.data, { blockSize: 1_000, resumeKey: "form", signal: AbortSignal.timeout(20_000) })));
  assert.deepEqual([seen.error, seen.fileId, seen.file?.status], [undefined, "file1", "ready"], JSON.stringify(seen.error));
  assert.deepEqual(await page.evaluate(() => lab.records()), []);
});
