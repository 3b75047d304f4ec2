// A page of a browser extension: the package is among the extension's own files, and Chromium gives its pages a policy.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { packaged } from "./support/host.mjs";
import { temporaryFolder } from "./support/server.mjs";
import { Service } from "./support/service.mjs";

const size = 6 << 20;
const sum = createHash("sha256").update(Buffer.alloc(size, 7)).digest("hex");

const page = (head) => `<!doctype html><title>extension</title>${head}`;
const files = {
  "manifest.json": JSON.stringify({
    manifest_version: 3, name: "Turnwire under test", version: "1",
    // What the page's policy does not forbid already.
    content_security_policy: { extension_pages: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http://127.0.0.1:*" },
    host_permissions: ["http://127.0.0.1/*"],
  }),
  "script.html": page('<script src="pkg/turnwire.js"></script>'),
  "module.html": page('<script type="module" src="module.js"></script>'),
  "module.js": 'import * as Turnwire from "./pkg/turnwire.mjs";\nglobalThis.Turnwire = Turnwire;\n',
  "strict/manifest.json": JSON.stringify({ manifest_version: 3, name: "Turnwire without 'wasm-unsafe-eval'", version: "1", content_security_policy: { extension_pages: "script-src 'self'" } }),
  "strict/script.html": page('<script src="pkg/turnwire.js"></script>'),
};
for (const [path, { body }] of Object.entries(packaged())) files[path.slice(1)] = files[`strict${path}`] = body;

let service, browser, folder, id;
before(async () => {
  folder = temporaryFolder("extension");
  for (const [path, body] of Object.entries(files)) {
    const file = join(folder.path, "extension", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, body);
  }
  browser = await Browser.start([], { extensions: true });
  id = await browser.install(join(folder.path, "extension"));
  service = await Service.start("-pace", "1ms", "-allow-origin", `chrome-extension://${id}`);
});
after(async () => {
  await browser?.close();
  await service?.close();
  folder?.remove();
});

/** In the page: a turn, one that is stopped, and an upload. */
async function use(baseURL, size) {
  const client = new Turnwire.AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
  const chat = await client.chats.create();
  const { text } = await chat.send("count to 3").done();
  const long = chat.send("count to 100000");
  await new Promise((resolve) => long.on("text_delta", resolve));
  await long.abort();
  const file = await client.files.upload(new Blob([new Uint8Array(size).fill(7)]), { name: "a", blockSize: 2 << 20, resumeKey: "a" }).done();
  return { chat: chat.id, text, stopped: long.status, id: file.id, checksum: file.checksum, protocol: location.protocol };
}

for (const how of ["script", "module"]) {
  test(`in a page of an extension a turn, a stop and an upload, by ${how}`, { timeout: 120_000 }, async () => {
    const page = await browser.open(`chrome-extension://${id}/${how}.html`, { shared: true });
    await page.waitForFunction(() => "Turnwire" in globalThis);
    const workers = [];
    page.on("workercreated", (worker) => workers.push(worker.url()));
    const { chat, id: file, ...seen } = await page.evaluate(use, service.origin, size);
    assert.deepEqual(seen, { text: "1 2 3", stopped: "cancelled", checksum: sum, protocol: "chrome-extension:" });
    assert.equal((await service.over(chat)).status, "cancelled");
    assert.deepEqual([(await service.file(file)).status, (await service.file(file)).checksum], ["ready", sum]);
    assert.deepEqual([...new Set(workers)], [`chrome-extension://${id}/pkg/turnwire.worker.mjs`]);
    assert.deepEqual(page.uncaught, []);
    await page.close();
  });
}

test("without 'wasm-unsafe-eval' in its policy the error says what is missing", { timeout: 120_000 }, async () => {
  const id = await browser.install(join(folder.path, "extension", "strict"));
  const page = await browser.open(`chrome-extension://${id}/script.html`, { shared: true });
  const code = await page.evaluate((baseURL) => new Turnwire.AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" }).ready().catch((error) => error.code), service.origin);
  assert.equal(code, "module_not_compiled");
  await page.close();
});
