// Addresses that do not come, and addresses that a store refuses so that the page can't see why.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { after as afterwards, Files, tickets } from "./support/files.mjs";

const files = new Files();
before(() => files.start());
after(() => files.close());
const check = testbed({ at: files.page });

const size = 5_000;

/** Begins an upload whose mapUploadTicket never settles, as `scene`, and waits until it was called. */
const unmapped = (page, options) => page.evaluate(async (size, options) => {
  const scene = (globalThis.scene = { client: lab.client() });
  await new Promise((called) => {
    scene.upload = scene.client.files.upload(new Blob([lab.bytes(1, size)]), { ...options, mapUploadTicket: () => (called(), new Promise(() => {})) });
    scene.seen = lab.watch(scene.upload);
    scene.seen.then(called);
  });
}, size, options);

/** How the upload ended, in the time that a page would give it. */
const ended = (page) => page.evaluate(() => Promise.race([scene.seen, new Promise((resolve) => setTimeout(resolve, 15_000, { hangs: true }))]));

for (const [shape, ticket] of Object.entries({
  "the usual shape": tickets["azure-block"],
  "another shape": (address) => ({ signed_url: address }),
})) {
  check(`an upload whose mapUploadTicket never settles can be aborted: an answer in ${shape}`, async ({ page }) => {
    files.script({}, ticket);
    await unmapped(page, { timeout: 0 });
    await page.evaluate(() => void scene.upload.abort());
    const seen = await ended(page);
    assert.deepEqual([seen.hangs, seen.error?.name, seen.progress?.stage], [undefined, "AbortError", "aborted"]);
    assert.equal(files.registered[0].record.status, "upload_failed");
    assert.deepEqual(files.counts("failure", "block"), { failure: 1, block: 0 });
  });

  check(`an upload whose mapUploadTicket never settles ends after timeout: an answer in ${shape}`, async ({ page }) => {
    files.script({}, ticket);
    await unmapped(page, { timeout: 1_000 });
    const { hangs, error, progress } = await ended(page);
    assert.deepEqual([hangs, error?.name, error?.code, progress?.stage], [undefined, "UploadError", "map_ticket_failed", "failed"], JSON.stringify(error));
    assert.match(error.message, /mapUploadTicket/);
    assert.equal(files.registered[0].record.status, "upload_failed");
    assert.deepEqual(files.counts("failure", "block"), { failure: 1, block: 0 });
  });
}

check("the signal and close() end an upload whose mapUploadTicket never settles", async ({ page }) => {
  for (const act of ["scene.cancel.abort(new RangeError('enough'))", "scene.client.close()"]) {
    files.script();
    await page.evaluate(async (size) => {
      const scene = (globalThis.scene = { client: lab.client(), cancel: new AbortController() });
      await new Promise((called) => {
        const mapUploadTicket = () => (called(), new Promise(() => {}));
        scene.upload = scene.client.files.upload(new Blob([lab.bytes(1, size)]), { signal: scene.cancel.signal, mapUploadTicket });
        scene.seen = lab.watch(scene.upload);
      });
    }, size);
    await page.evaluate(act);
    const seen = await ended(page);
    assert.deepEqual([act, seen.hangs, seen.error?.name], [act, undefined, act.includes("RangeError") ? "RangeError" : "AbortError"]);
    assert.equal(files.registered[0].record.status, "upload_failed");
  }
});

// An address carries how often it was renewed.
const renewed = (address) => ({ protocol: "azure-block", upload_url: `${address}?sig=${files.of("renewal").length}&sv=1&sp=rcw` });

/** Refuses as a store does whose CORS headers are set behind what checks the signature: the page sees a failed connection. */
const hidden = (_, response) => {
  for (const name of response.getHeaderNames()) if (name.startsWith("access-control-")) response.removeHeader(name);
  response.writeHead(403, { "content-type": "application/xml" }).end("<Error><Code>AuthenticationFailed</Code></Error>");
};

const upload = (page, options) => page.evaluate((size, options) =>
  lab.upload(new Blob([lab.bytes(1, size)]), { blockSize: 1_000, concurrency: 1, blockTries: 2, signal: AbortSignal.timeout(30_000), ...options }), size, options);

const signature = ({ query }) => query.get("sig");

for (const [what, step] of Object.entries({ "a block": "block", "the block list": "commit" })) {
  check(`a store whose 403 to ${what} in the middle of an upload has no CORS headers gets a new address`, async ({ page }) => {
    const refuse = (request, response, step) => (signature(request) === "0" ? hidden(request, response) : step.usual());
    files.script({ [step]: step === "block" ? afterwards(2, ...Array(20).fill(refuse)) : refuse }, renewed);
    const { error, file } = await upload(page);
    assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
    assert.deepEqual(files.counts("register", "renewal", "failure"), { register: 1, renewal: 1, failure: 0 });
    assert.ok(files.registered[0].stored.equals(bytes(1, size)));
    const taken = files.of("block").filter((request) => step === "commit" || files.of("block").indexOf(request) < 2 || signature(request) === "1");
    assert.equal(new Set(taken.map(({ query }) => query.get("blockid"))).size, taken.length, "what was stored is not sent again");
  });
}

check("a new address that does not help is asked for once", async ({ page }) => {
  files.script({ block: afterwards(2, ...Array(20).fill(hidden)) }, renewed);
  const { error } = await upload(page);
  assert.deepEqual([error?.name, error?.code, error?.stage], ["UploadError", "storage_unreachable", "uploading"], JSON.stringify(error));
  assert.deepEqual(files.counts("renewal", "failure"), { renewal: 1, failure: 1 });
});

check("a store that has never answered gets no new address", async ({ page }) => {
  files.script({ block: hidden }, renewed);
  const { error } = await upload(page);
  assert.deepEqual([error?.name, error?.code, error?.stage], ["UploadError", "storage_unreachable", "uploading"], JSON.stringify(error));
  assert.match(error.message, /CORS/);
  assert.deepEqual(files.counts("renewal", "failure"), { renewal: 0, failure: 1 });
});

for (const protocol of ["azure-block", "gcs-resumable", "tus", "s3-multipart"]) {
  // Two blocks: S3 takes none below 5 MiB, Cloud Storage none below 256 KiB.
  const block = protocol === "s3-multipart" ? 5 << 20 : 256 << 10;
  check(`a block whose last byte has left on pause() is answered first, and not sent again: ${protocol}`, async ({ page }) => {
    let answer;
    files.script({ block: (_, __, { n, usual }) => (n === 0 ? void (answer = usual) : usual()) }, protocol);
    await page.evaluate((block) => {
      const scene = (globalThis.scene = {});
      scene.upload = lab.client().files.upload(new Blob([lab.bytes(1, 2 * block)]), { blockSize: block, concurrency: 1 });
      scene.seen = lab.watch(scene.upload);
    }, block);
    await files.once("block");
    // That it has left is what the page knows: its progress says so.
    await page.waitForFunction((block) => scene.upload.progress.loadedBytes >= block, {}, block);
    await page.evaluate(() => scene.upload.pause());
    assert.equal(await page.evaluate(() => lab.open()), 1, "the block is left under way");
    answer();
    await page.waitForFunction(() => lab.open() === 0);
    assert.equal(await page.evaluate(() => scene.upload.progress.stage), "paused");
    // What is sent now comes after whatever the upload still sent.
    await page.evaluate(() => lab.client().files.get("file0"));
    assert.equal(files.of("block").length, 1, "nothing new is begun");
    const { error, file } = await page.evaluate(() => (scene.upload.resume(), scene.seen));
    assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
    assert.equal(files.of("block").length, 2, "each block was sent once");
    assert.ok(files.registered[0].stored.equals(bytes(1, 2 * block)));
  });
}
