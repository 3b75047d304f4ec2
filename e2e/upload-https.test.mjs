// A page that came over https and upgrades its requests, with tickets that name addresses by http: they are stored where
// the browser sends them, and no cookie goes along.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { TLSProxy, withTestHosts } from "./support/tls.mjs";

const size = 300_000;
const sum = createHash("sha256").update(bytes(1, size)).digest("hex");

let proxy;
before(async () => (proxy = await TLSProxy.start()));
after(() => proxy?.close());

const tickets = {
  "names the page's own host": { address: () => `http://page.test:${proxy.port}/` },
  "names another host": { address: () => `http://store.test:${proxy.port}/`, flags: () => ["-storage-public", `http://store.test:${proxy.port}`] },
  "names the page's own host by https, for the proxy says so": { address: () => `https://page.test:${proxy.port}/`, adds: { "x-forwarded-proto": "https" } },
};

for (const [what, { address, flags = () => [], adds = {} }] of Object.entries(tickets)) {
  describe(`a ticket that ${what}`, () => {
    const check = testbed({
      chromium: withTestHosts,
      flags: () => ["-allow-origin", `https://page.test:${proxy.port}`, ...flags()],
      at({ origin }) {
        Object.assign(proxy, { target: origin, adds, answers: { "content-security-policy": "upgrade-insecure-requests" } });
        return `https://page.test:${proxy.port}/`;
      },
    });
    check("is stored, without cookies", async ({ page, service }) => {
      for (const domain of ["page.test", "store.test"]) {
        for (const secure of [true, false]) await page.browserContext().setCookie({ domain, path: "/", name: `secret-${secure}`, value: "x", secure });
      }
      assert.match(await page.evaluate(() => document.cookie), /secret-true=x/);
      for (const blockSize of [100_000, 1 << 20]) {
        const seen = await page.evaluate((size, blockSize) => lab.upload(new Blob([lab.bytes(1, size)]), { blockSize, blockTries: 1 }), size, blockSize);
        assert.ok(seen.asked[0].answer.upload_url.startsWith(address()), seen.asked[0].answer.upload_url);
        assert.equal(seen.error, undefined, JSON.stringify(seen.error));
        assert.equal((await service.file(seen.fileId)).checksum, sum);
        const requests = (await service.storage(seen.fileId)).filter(({ method }) => method !== "OPTIONS");
        assert.ok(requests.length > 0 && requests.every(({ status, headers }) => status === 201 && !headers.includes("cookie")), JSON.stringify(requests));
      }
    });
  });
}
