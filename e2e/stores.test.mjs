// Uploads to real storage servers, each in the form that its own service gives the address in: what arrives is the file,
// also over connections that break, and nothing arrives that is none of the store's business.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { join } from "node:path";
import { Browser } from "./support/browser.mjs";
import { Service, top } from "./support/service.mjs";
import { azurite, behind, fakeGCS, tus, versitygw, watched } from "./support/stores.mjs";
import { Toxiproxy } from "./support/toxiproxy.mjs";

const MiB = 1 << 20;
/** The smallest part that S3 takes, and a file whose last one is smaller. */
const blockSize = 5 * MiB;
const size = 4 * blockSize + 1234;

let browser, toxiproxy;
before(async () => {
  browser = await Browser.start();
  toxiproxy = await Toxiproxy.start();
});
after(async () => {
  await browser?.close();
  await toxiproxy?.close();
});

const upload = (size, blockSize) => {
  const data = new Uint8Array(size).map((_, i) => i * 7 + (i >> 8));
  const progress = [];
  const upload = lab.client().files.upload(new Blob([data]), {
    name: "größe 1.bin", blockSize, concurrency: 2, onProgress: ({ loadedBytes }) => progress.push(loadedBytes),
  });
  return upload.done().then(
    (file) => ({ protocol: upload.protocol, file, progress }),
    (error) => ({ error: lab.told(error) }),
  );
};

const kinds = [
  { start: azurite, protocol: "azure-block", headers: ["content-type", "x-ms-blob-content-type"] },
  { start: versitygw, protocol: "s3-multipart", headers: ["content-type"] },
  { start: fakeGCS, protocol: "gcs-resumable", headers: ["content-range", "content-type"] },
  { start: tus, protocol: "tus", headers: ["content-type", "tus-resumable", "upload-offset"] },
];
/** What a browser sends by itself. */
const itsOwn = /^(accept|accept-encoding|accept-language|access-control-request-.*|connection|content-length|host|origin|referer|sec-.*|user-agent|cache-control|pragma|priority)$/;

for (const { start, protocol, headers } of kinds) {
  test(protocol, { timeout: 180_000 }, async (t) => {
    const store = await watched(await start());
    t.after(() => store.stop());
    const far = behind(store, await toxiproxy.proxy(protocol, store.origin));
    const service = await Service.startWith(far.env, "-web", join(top, "e2e", "pages"), "-block-size", String(blockSize), ...far.flags);
    t.after(() => service.close());
    const page = await browser.open(`${service.origin}/`);
    t.after(() => page.browserContext().close());

    /** Uploads, and compares what the page, the service and the store say of it. Gives the requests with bytes. */
    const run = async () => {
      const known = await store.list();
      store.requests.length = 0;
      const { file, progress, error, ...told } = await page.evaluate(upload, size, blockSize);
      assert.equal(error, undefined, JSON.stringify(error));
      assert.equal(told.protocol, protocol);
      assert.deepEqual({ status: file.status, size: file.size }, { status: "ready", size });
      const keys = (await store.list()).filter((key) => !known.includes(key));
      assert.equal(keys.length, 1, `stored ${keys}`);
      assert.deepEqual(await store.read(keys[0]), { size, sha256: file.checksum });
      assert.deepEqual(progress, progress.toSorted((a, b) => a - b), "progress never goes down");
      assert.equal(progress.at(-1), size);
      for (const request of store.requests) {
        const sent = Object.keys(request.headers).filter((name) => !itsOwn.test(name));
        assert.deepEqual(sent.filter((name) => !headers.includes(name)), [], `${request.method} names only what its protocol does`);
      }
      return store.requests.filter(({ size }) => size > 10_000 || size === 1234);
    };
    const bytes = (requests) => requests.reduce((sum, { size }) => sum + size, 0);

    await t.test("in blocks, each once", async () => {
      const blocks = await run();
      assert.deepEqual(blocks.map(({ size }) => size).toSorted((a, b) => b - a), [...Array(4).fill(blockSize), 1234]);
    });

    await t.test("over connections that break every 7 MiB", async () => {
      await toxiproxy.poison(protocol, "limit_data", { bytes: 7 * MiB }, { stream: "upstream" });
      const blocks = await run();
      await toxiproxy.heal(protocol);
      assert.ok(blocks.some(({ status }) => status === undefined), "some connection broke");
      const taken = blocks.filter(({ status }) => status < 400);
      assert.ok(bytes(taken) <= size, `what the store has taken is not sent again: ${taken.map(({ size }) => size)}`);
    });
  });
}
