// Every example, installed from the packed package, built by its own tool and used in a page, or by its own tests.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { driveChat } from "./support/chat-page.mjs";
import { install, names } from "./support/examples.mjs";
import { Host } from "./support/host.mjs";
import { Server, temporaryFolder } from "./support/server.mjs";
import { Service } from "./support/service.mjs";

/** Those that are tests of a program's own, and have no page. */
const tests = ["node-test", "vitest"];

const bed = {};
before(async () => {
  bed.folder = install();
  bed.service = await Service.start("-pace", "2ms");
  // The examples say where `make demo` serves, which may be taken.
  bed.browser = await Browser.start([`--host-resolver-rules=MAP 127.0.0.1:8080 ${new URL(bed.service.origin).host}`]);
  const files = temporaryFolder("examples");
  // So large that its checksum is the worker's.
  bed.file = join(files.path, "handbook.bin");
  writeFileSync(bed.file, new Uint8Array(9 << 20));
}, { timeout: 600_000 });
after(async () => {
  await bed.browser?.close();
  await bed.service?.close();
});

/** Runs a script of an example's package.json, as its reader does. */
async function npm(name, script) {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", SERVICE: `${bed.service.origin}/` };
  // The runner of this file tells those below it that they are its own.
  delete env.NODE_TEST_CONTEXT;
  return new Promise((resolve, reject) => execFile("npm", ["run", script], { cwd: join(bed.folder, name), env }, (error, stdout, stderr) => {
    if (error) reject(new Error(`npm run ${script} of ${name}: ${stdout}${stderr}`));
    else resolve(stdout);
  }));
}

/** Serves what an example's build gave. */
async function serve(name) {
  const folder = join(bed.folder, name);
  if (name === "next") {
    const next = join(bed.folder, "node_modules", "next", "dist", "bin", "next");
    return Server.start("next", (_, port) => ({ command: process.execPath, args: [next, "start", folder, "-H", "127.0.0.1", "-p", port], env: { NEXT_TELEMETRY_DISABLED: "1" } }));
  }
  const dist = join(folder, "dist");
  const files = {};
  for (const entry of readdirSync(dist, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(dist.length)] = { body: readFileSync(path) };
  }
  const host = await Host.start({ ...files, "/": { headers: { "content-type": "text/html" }, body: files["/index.html"].body } });
  return { origin: host.origin, missing: () => Object.keys(host.asked).filter((path) => !host.files[path]), stop: () => host.close() };
}

for (const name of names) {
  test(name, { timeout: 300_000 }, async () => {
    if (tests.includes(name)) return void (await npm(name, "test"));
    await npm(name, "build");
    const server = await serve(name);
    try {
      await driveChat({ ...bed, address: `${server.origin}/` });
      if (name === "script-tag") await hello(server.origin);
      assert.deepEqual(server.missing?.() ?? [], [], "the build lacks these");
    } finally {
      await server.stop();
    }
  });
}

async function hello(origin) {
  const page = await bed.browser.open(`${origin}/hello.html`);
  await page.waitForFunction(() => document.getElementById("answer").textContent.includes("42"));
  assert.deepEqual(page.uncaught, []);
  await page.browserContext().close();
}

test("each example names what it imports", () => {
  for (const name of names) {
    const folder = join(bed.folder, name);
    const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const named = Object.keys({ ...dependencies, ...devDependencies });
    const sources = readdirSync(folder, { recursive: true }).filter((path) => /\.m?jsx?$/.test(path) && !/node_modules|dist|\.next|\.parcel-cache/.test(path));
    for (const path of sources) {
      for (const [, from] of readFileSync(join(folder, path), "utf8").matchAll(/from "((?:@[^/"]+\/)?[^./"][^/"]*)/g)) {
        assert.ok(from.startsWith("node:") || named.includes(from), `${name}/${path} imports ${from}, which its package.json does not name`);
      }
    }
  }
});
