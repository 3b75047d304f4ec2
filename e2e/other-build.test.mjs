// A script, a module and a worker of two builds, such as a cache brings one of each: never run together. The stamp that
// each carries is changed in one of them.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { dist, Host, packaged } from "./support/host.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

const { stamp } = JSON.parse(dist("build-info.json"));

/** A file of the package as another build would have made it: only the stamp differs. */
function restamped(name) {
  const body = Buffer.from(dist(name));
  const at = body.indexOf(stamp);
  assert.ok(at >= 0, `${name} carries the stamp`);
  assert.equal(body.indexOf(stamp, at + 1), -1, `${name} carries it once`);
  body.write(stamp[0] === "0" ? "1" : "0", at);
  return { body };
}

const html = (head) => ({ headers: { "content-type": "text/html" }, body: `<!doctype html><title>host</title><link rel="icon" href="data:,">${head}` });
const script = '<script src="/pkg/turnwire.js"></script>';

/** Opens a page of a host that serves the package, but for `changes`. */
async function hosted({ browser, t }, changes, head = "") {
  const host = await Host.start({ "/": html(head), ...packaged(), "/bytes.js": { body: `export ${bytes}` }, ...changes });
  t.after(() => host.close());
  const page = await browser.open(`${host.origin}/`);
  t.after(() => page.browserContext().close());
  return { page, host };
}

test("a build's stamp is sixteen hexadecimal digits, and each part of the package carries it once", () => {
  assert.match(String(stamp), /^[0-9a-f]{16}$/);
  for (const name of ["turnwire.wasm", "turnwire.go.wasm", "turnwire.mjs", "turnwire.js", "turnwire.worker.mjs"]) restamped(name);
});

const mixtures = {
  "an imported script, and a module of another build": { name: "turnwire.wasm" },
  "a script tag, and a module of another build": { name: "turnwire.wasm", head: script },
  "a module, and an imported script of another build": { name: "turnwire.mjs" },
  "a module, and a script tag of another build": { name: "turnwire.js", head: script },
  "a module of another build that init is given": { name: "turnwire.wasm", at: "/mine.wasm", given: true },
};
for (const [what, { name, head, at = `/pkg/${name}`, given = false }] of Object.entries(mixtures)) {
  check(`${what}: RuntimeLoadError module_of_another_build`, async (bed) => {
    const { page } = await hosted(bed, { [at]: restamped(name) }, head);
    const before = await bed.service.requests();
    const seen = await page.evaluate(async (baseURL, given) => {
      const Turnwire = globalThis.Turnwire ?? (await import("/pkg/turnwire.mjs"));
      const tell = (error) => ({ name: error.name, code: error.code, message: error.message, isLoadError: error instanceof Turnwire.RuntimeLoadError });
      const said = (promise) => promise.then(() => undefined, tell);
      const init = given ? await said(Turnwire.init({ wasmModule: await WebAssembly.compileStreaming(fetch("/mine.wasm")) })) : undefined;
      const client = new Turnwire.AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
      const turn = client.chats.open("chat_any").send("hello");
      return {
        init, ready: await said(client.ready()), call: await said(client.chats.create()), turn: await said(turn.done()), status: turn.status,
        upload: await said(client.files.upload(new Blob(["data"])).done()),
      };
    }, bed.service.origin, given);
    const error = seen.ready;
    assert.deepEqual([error?.name, error?.code, error?.isLoadError], ["RuntimeLoadError", "module_of_another_build", true], error?.message);
    assert.match(error.message, /turnwire\.wasm|module/);
    assert.deepEqual([seen.call, seen.turn, seen.status], [error, error, "failed"]);
    assert.equal(seen.upload?.code, "module_of_another_build");
    if (given) assert.deepEqual(seen.init, error);
    assert.deepEqual(await bed.service.requests(), before, "nothing was sent");
    assert.deepEqual(page.uncaught, []);
  });
}

check("once the server has one build again, the next call works", async (bed) => {
  const { page, host } = await hosted(bed, { "/pkg/turnwire.wasm": restamped("turnwire.wasm") });
  const use = () => page.evaluate(async (baseURL) => {
    const { AgentClient } = await import("/pkg/turnwire.mjs");
    globalThis.client ??= new AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
    return client.chats.create().then(async (chat) => (await chat.send("count to 2").done()).text, (error) => error.code);
  }, bed.service.origin);
  assert.equal(await use(), "module_of_another_build");
  Object.assign(host.files, packaged());
  assert.equal(await use(), "1 2");
});

check("a worker of another build computes no checksum: the page does, and the upload works", async (bed) => {
  const path = "/pkg/turnwire.worker.mjs";
  // As another build's might, its sums differ: one of them would be seen.
  const wrong = "const post = self.postMessage; self.postMessage = (word) => post.call(self, word.result ? { ...word, result: '0'.repeat(64) } : word);\n";
  const size = 10 << 20;
  const sum = createHash("sha256").update(bytes(5, size)).digest("hex");
  const lying = (body) => Buffer.concat([Buffer.from(wrong), body]);
  const workers = [[dist("turnwire.worker.mjs"), "0".repeat(64)], [restamped("turnwire.worker.mjs").body, sum]];
  for (const [worker, expected] of workers.map(([body, expected]) => [lying(body), expected])) {
    const { page, host } = await hosted(bed, { [path]: { body: worker } });
    const seen = await page.evaluate(async (baseURL, size) => {
      const { bytes } = await import("/bytes.js");
      const { AgentClient } = await import("/pkg/turnwire.mjs");
      const asked = [];
      const own = (url, init) => (asked.push(init.body), fetch(url, init));
      const client = new AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", fetch: own });
      const end = await client.files.upload(new Blob([bytes(5, size)]), { checksum: "before" }).done().then(({ status }) => status, ({ code }) => code);
      return { end, told: JSON.parse(asked[0]).checksum };
    }, bed.service.origin, size);
    assert.equal(seen.told, expected);
    if (expected === sum) assert.equal(seen.end, "ready");
    assert.ok(host.asked[path] > 0);
    assert.deepEqual(page.uncaught, []);
  }
});
