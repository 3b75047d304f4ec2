// A resumeKey on a page that may take no locks or keep nothing: the upload goes on without, and says so once.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { Host, packaged } from "./support/host.mjs";
import { withTestHosts } from "./support/tls.mjs";

const size = 300_000;
const sum = createHash("sha256").update(bytes(1, size)).digest("hex");

let host;
before(async () => {
  const files = packaged();
  // A frame of an opaque origin is a foreigner everywhere.
  files["/pkg/turnwire.wasm"].headers = { "access-control-allow-origin": "*" };
  files["/page.html"] = { body: '<!doctype html><script src="/pkg/turnwire.js"></script>' };
  files["/sandbox.html"] = { body: '<!doctype html><iframe sandbox="allow-scripts" src="/page.html"></iframe>' };
  host = await Host.start(files);
});
after(() => host?.close());

/** Uploads twice under one key in a frame, and gives what its log says of that. */
const twice = (frame, baseURL) => frame.evaluate(async (baseURL, data) => {
  const uploads = [];
  for (let i = 0; i < 2; i++) {
    const warned = [];
    const client = new Turnwire.AgentClient({
      baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant",
      onLog: ({ level, message, fields }) => level === "warn" && warned.push({ message, ...fields }),
    });
    const upload = client.files.upload(new Blob([new Uint8Array(data)]), { resumeKey: "mine", blockSize: 100_000 });
    const end = await upload.done().catch((error) => ({ error: `${error.code}: ${error.message}` }));
    uploads.push({ warned, id: end.id, error: end.error });
  }
  return uploads;
}, baseURL, [...bytes(1, size)]);

async function judge(uploads, service, message, reason) {
  for (const { warned, id, error } of uploads) {
    assert.equal(error, undefined);
    assert.equal((await service.file(id)).checksum, sum);
    assert.deepEqual(warned.map(({ message }) => message), [message]);
    assert.match(warned[0].reason, reason);
  }
}

const foreign = () => host.origin.replace("127.0.0.1", "page.test");

describe("a resumeKey", () => {
  const check = testbed({ chromium: withTestHosts, flags: () => ["-allow-origin", "null", "-allow-origin", foreign()] });

  check("in a sandboxed frame, where both are denied", async ({ page, service }) => {
    const frame = page.frames().find((frame) => frame.parentFrame());
    assert.equal(await frame.evaluate(() => origin), "null");
    await judge(await twice(frame, service.origin), service, "no record can be kept, so that a reload would begin anew", /SecurityError/);
  }, { at: () => `${host.origin}/sandbox.html` });

  check("on a page that is not served securely, where only locks are denied", async ({ page, service }) => {
    assert.deepEqual(await page.evaluate(() => [isSecureContext, "locks" in navigator, typeof indexedDB]), [false, false, "object"]);
    await judge(await twice(page, service.origin), service, "no lock can be taken, so that another page could upload under the same resumeKey", /Web Locks/);
  }, { at: () => `${foreign()}/page.html` });
});
