// Uploads of two pages to one host, which share the six connections that a browser has for it.

import assert from "node:assert/strict";
import { elsewhere, testbed } from "./support/bed.mjs";

const MiB = 1 << 20;

/** Asks the service under the page's own name for it, and sends the blocks to its other name, to which no other requests go. */
const upload = (page, { size, ...options }) => page.evaluate((size, options) => {
  const mapUploadTicket = (raw) => ({ fileId: raw.file_id, url: raw.upload_url.replace("localhost", "127.0.0.1"), protocol: "azure-block" });
  return lab.upload(new Blob([lab.bytes(1, size)]), { ...options, mapUploadTicket }, { baseURL: location.origin });
}, size, options);

const check = testbed({ at: elsewhere });

check("a block waits while another page's have all the connections", async ({ page, service }) => {
  const tab = await page.browserContext().newPage();
  await tab.goto(page.url());
  await tab.waitForFunction(() => "lab" in globalThis);
  const cdp = await page.createCDPSession();
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 3 * MiB });
  await page.evaluate(() => {
    let moving = 0;
    globalThis.allMove = new Promise((resolve) => {
      const { send } = XMLHttpRequest.prototype;
      XMLHttpRequest.prototype.send = function (body) {
        this.upload.addEventListener("progress", () => ++moving === 6 && resolve(), { once: true });
        return send.call(this, body);
      };
    });
  });
  // Its six blocks are sent side by side, for eight seconds: none makes room before the end.
  const before = upload(page, { size: 24 * MiB, blockSize: 4 * MiB, concurrency: 6 });
  await page.evaluate(() => allMove);
  const ends = await Promise.all([before, upload(tab, { size: 1_000, blockTimeout: 4_000, blockTries: 1 })]);
  for (const { error, fileId } of ends) assert.deepEqual([error, (await service.file(fileId)).status], [undefined, "ready"]);
});
