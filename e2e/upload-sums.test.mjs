// Who computes a checksum in the worker: WebCrypto what it may have in memory as a whole, else the module.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { Host, packaged } from "./support/host.mjs";
import { withTestHosts } from "./support/tls.mjs";

const most = 16 << 20;

/** Ahead of the worker's script: tells how many bytes each sum of WebCrypto has. */
const telling = `if (self.SubtleCrypto) {
  const told = new BroadcastChannel("digests"), { digest } = SubtleCrypto.prototype;
  SubtleCrypto.prototype.digest = function (name, data) {
    told.postMessage(data.byteLength);
    return digest.call(this, name, data);
  };
}
`;

let host;
before(async () => {
  const files = packaged(), worker = "/pkg/turnwire.worker.mjs";
  files[worker] = { body: telling + files[worker].body };
  host = await Host.start({ ...files, "/page.html": { body: '<!doctype html><link rel="icon" href="data:,">' }, "/bytes.js": { body: `export ${bytes}` } });
});
after(() => host?.close());

const insecure = () => host.origin.replace("127.0.0.1", "page.test");

const cases = [
  { name: "one block", size: 6 << 20, options: {}, digests: [6 << 20] },
  { name: "as many bytes as WebCrypto gets", size: most, options: { checksum: "before" }, digests: [most] },
  { name: "one byte more", size: most + 1, options: { checksum: "before" }, digests: [] },
  { name: "blocks sent at once", size: 12 << 20, options: { blockSize: 4 << 20 }, digests: [12 << 20] },
  { name: "blocks sent one after another", size: 12 << 20, options: { blockSize: 4 << 20, concurrency: 1 }, digests: [] },
  { name: "one block of a page that is not served securely", size: 6 << 20, options: {}, origin: insecure, digests: [] },
];

describe("the checksum of", () => {
  const check = testbed({ chromium: withTestHosts, flags: () => ["-allow-origin", insecure()] });

  for (const { name, size, options, origin = () => host.origin, digests } of cases) {
    check(name, async ({ page, service }) => {
      const seen = await page.evaluate(async (baseURL, size, options) => {
        const { bytes } = await import("/bytes.js");
        const { AgentClient } = await import("/pkg/turnwire.mjs");
        const client = new AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
        const data = bytes(5, size), uploads = [];
        for (const each of [new Blob([data]), data]) {
          const digests = [], channel = new BroadcastChannel("digests");
          channel.onmessage = ({ data }) => digests.push(data);
          const { status, checksum } = await client.files.upload(each, { ...options, wait: true }).done();
          uploads.push({ status, checksum, digests });
          channel.close();
        }
        return { uploads, secure: isSecureContext };
      }, service.origin, size, options);
      const checksum = createHash("sha256").update(bytes(5, size)).digest("hex");
      assert.deepEqual(seen, { uploads: Array(2).fill({ status: "ready", checksum, digests }), secure: origin !== insecure });
    }, { at: () => `${origin()}/page.html` });
  }
});
