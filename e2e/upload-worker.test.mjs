// The worker that computes checksums, and pages where there is none: the sum is right all the same, and the page goes on.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { Host, packaged } from "./support/host.mjs";

const check = testbed();

const size = 20 << 20;
const sum = createHash("sha256").update(bytes(5, size)).digest("hex");

const worker = "/pkg/turnwire.worker.mjs";
const html = (head) => `<!doctype html><title>host</title><link rel="icon" href="data:,">${head}`;
/** A worker that is ready, and then does as it is told otherwise. */
const odd = (otherwise) => ({ [worker]: { body: `onmessage = ({ data }) => { if (data.module) postMessage({ ready: true }); else if (!data.timer) { ${otherwise} } };` } });

/** How a page comes by the package; `works` tells whether the worker is of use there. */
const cases = [
  { name: "a module", works: true },
  { name: "a script tag", head: `<script src="/pkg/turnwire.js"></script>`, works: true },
  { name: "init({ workerURL })", init: { workerURL: "/moved.mjs" }, files: { "/moved.mjs": packaged()[worker], [worker]: undefined }, works: true },
  { name: "init({ workerURL: false })", init: { workerURL: false } },
  { name: "no worker's script", files: { [worker]: undefined } },
  { name: "a page instead of the worker's script", files: { [worker]: { body: "<!doctype html>", headers: { "content-type": "text/html" } } } },
  { name: "a policy without workers", headers: { "content-security-policy": "worker-src 'none'" } },
  { name: "a worker that fails at once", files: { [worker]: { body: "throw new Error('not here');" } } },
  { name: "a worker that fails at its first sum", files: odd("throw new Error('not now');") },
  { name: "a worker whose module breaks", files: odd("postMessage({ broken: 'unreachable' });") },
];

for (const { name, head = "", init, files, headers, works = false } of cases) {
  check(`checksums with ${name}`, async ({ browser, service, t }) => {
    const host = await Host.start({ "/": { headers: { "content-type": "text/html", ...headers }, body: html(head) }, ...packaged(), "/bytes.js": { body: `export ${bytes}` }, ...files });
    t.after(() => host.close());
    const page = await browser.open(`${host.origin}/`);
    t.after(() => page.browserContext().close());
    let workers = 0, gone = 0, none;
    const left = new Promise((resolve) => (none = resolve));
    // WebDriver knows of no workers.
    page.on?.("workercreated", () => workers++);
    page.on?.("workerdestroyed", () => ++gone === workers && none());
    const seen = await page.evaluate(async (baseURL, size, init) => {
      const { bytes } = await import("/bytes.js");
      const Turnwire = globalThis.Turnwire ?? (await import("/pkg/turnwire.mjs"));
      if (init) await Turnwire.init(init);
      let turns = 0, asked = false;
      const client = new Turnwire.AgentClient({
        baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", fetch: (url, init) => ((asked = true), fetch(url, init)),
      });
      await client.ready();
      const data = bytes(5, size);
      // Turns that the page gets while the sum of data in memory is computed, ahead of the first request.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        if (asked) return port1.close();
        turns++;
        port2.postMessage(0);
      };
      const upload = (data, options) => client.files.upload(data, { blockSize: (4 << 20) + 1, concurrency: 2, ...options });
      const before = upload(data, { checksum: "before" });
      port2.postMessage(0);
      const files = [await before.done()];
      // Two at once share the worker, or the page's own instance.
      files.push(...(await Promise.all([upload(new Blob([data])).done(), upload(data).done()])));
      return { files, turns };
    }, service.origin, size, init);
    for (const file of seen.files) assert.deepEqual([file.status, file.checksum, (await service.file(file.id)).status], ["ready", sum, "ready"]);
    assert.ok(seen.turns >= 5, `the page got ${seen.turns} turns while 20 MiB were summed`);
    t.diagnostic(`${seen.turns} turns`);
    if (works) assert.ok(page.on ? workers > 0 : host.asked[init?.workerURL ?? worker] > 0);
    // It ends with the upload.
    if (page.workers?.().length > 0) await left;
    assert.deepEqual(page.uncaught, []);
  });
}

// Chromium takes away a Blob's stream that is being read into a buffer, unless somebody holds it.
check("a sum goes on while garbage is collected", async ({ page, service }) => {
  const cdp = await page.createCDPSession();
  let over = false;
  const uploads = page.evaluate(async (size) => {
    await lab.Turnwire.init({ workerURL: false });
    const { files } = lab.client();
    const sums = [];
    for (let i = 0; i < 5; i++) sums.push((await files.upload(new Blob([lab.bytes(5, size)]), { checksum: "before" }).done()).checksum);
    return sums;
  }, size).finally(() => (over = true));
  while (!over) await cdp.send("HeapProfiler.collectGarbage");
  assert.deepEqual(await uploads, Array(5).fill(sum));
});
