// How the package gets into a page and the module gets started, and what is said where it does not.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { testbed } from "./support/bed.mjs";
import { dist, Host, packaged } from "./support/host.mjs";
import { folder } from "./support/build.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

/** Pages of the hosts: / imports the module, /script.html has a script tag. */
const pages = (headers) => ({
  "/": { headers: { "content-type": "text/html", ...headers }, body: `<!doctype html><title>host</title><link rel="icon" href="data:,">` },
  "/script.html": { headers, body: `<!doctype html><title>host</title><link rel="icon" href="data:,"><script src="/pkg/turnwire.js"></script>` },
});

/** Opens a page of a host whose package files are those of a good server but for `changes`. */
async function hosted({ browser }, changes, { headers, path = "/" } = {}, run) {
  const host = await Host.start({ ...pages(headers), ...packaged(), ...changes });
  try {
    const page = await browser.open(host.origin + path);
    await run(page, host);
    assert.deepEqual(page.uncaught, []);
    await page.browserContext().close();
  } finally {
    await host.close();
  }
}

/** What ready() says on a page of a host, and whether a turn goes through where it says nothing. */
function tryReady(page, baseURL, options) {
  return page.evaluate(async (baseURL, options) => {
    const Turnwire = globalThis.Turnwire ?? (await import("/pkg/turnwire.mjs"));
    if (options) Turnwire.init(options).catch(() => {});
    const client = new Turnwire.AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
    const tell = (error) => ({ name: error.name, code: error.code, message: error.message, retryable: error.retryable, isLoadError: error instanceof Turnwire.RuntimeLoadError });
    try {
      await client.ready();
    } catch (error) {
      const call = await client.chats.create().then(() => undefined, tell);
      const turn = client.chats.open("chat_any").send("hello");
      return { error: tell(error), call, turn: { done: await turn.done().then(() => undefined, tell), status: turn.status } };
    }
    return { text: (await (await client.chats.create()).send("count to 2").done()).text };
  }, baseURL, options);
}

check("a script tag adds the global Turnwire and nothing else", async (bed) => {
  await hosted(bed, { "/none.html": { body: `<!doctype html><title>host</title><script src="data:text/javascript,"></script>` } }, { path: "/none.html" }, async (page, host) => {
    const names = () => page.evaluate(() => Object.getOwnPropertyNames(globalThis));
    const before = new Set(await names());
    await page.goto(`${host.origin}/script.html`);
    const added = (list) => list.filter((name) => !before.has(name));
    assert.deepEqual(added(await names()), ["Turnwire"]);
    assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
    assert.deepEqual(added(await names()), ["Turnwire"], "after the module has run");
    const { exported, esm } = await page.evaluate(async () => {
      const esm = Object.keys(await import("/pkg/turnwire.mjs")).sort();
      return { exported: Object.keys(Turnwire).sort(), esm };
    });
    assert.deepEqual(exported, esm, "both forms export the same");
    assert.deepEqual(added(await names()), ["Turnwire"], "after an import");
  });
});

check("an import sets the module on its way, before there is a client", async (bed) => {
  await hosted(bed, {}, {}, async (page, host) => {
    await page.evaluate(async () => {
      const fetched = new Promise((resolve) => {
        new PerformanceObserver((list) => list.getEntries().some(({ name }) => name.endsWith("/pkg/turnwire.wasm")) && resolve()).observe({ type: "resource", buffered: true });
      });
      globalThis.Turnwire = await import("/pkg/turnwire.mjs");
      await fetched;
    });
    assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
    assert.equal(host.asked["/pkg/turnwire.wasm"], 1);
    assert.deepEqual([host.asked["/pkg/turnwire.go.mjs"], host.asked["/pkg/turnwire.worker.mjs"]], [undefined, undefined]);
    assert.match(await page.evaluate(() => Turnwire.version), /^\d+\.\d+\.\d+\+go1\.\d+/);
  });
});

const preload = (type) => `<link rel="preload" as="fetch" type="application/wasm" crossorigin href="/pkg/turnwire.wasm">${type}`;
for (const [what, script] of Object.entries({
  "an import": '<script type="module">globalThis.Turnwire = await import("/pkg/turnwire.mjs")</script>',
  "a script tag": '<script src="/pkg/turnwire.js"></script>',
})) {
  check(`a preload of the page serves ${what}`, async (bed) => {
    const body = `<!doctype html><title>host</title><link rel="icon" href="data:,">${preload(script)}`;
    await hosted(bed, { "/preload.html": { headers: { "content-type": "text/html" }, body } }, { path: "/preload.html" }, async (page, host) => {
      const warnings = [];
      page.on("console", (message) => warnings.push(message.text()));
      assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
      assert.equal(host.asked["/pkg/turnwire.wasm"], 1, "one fetch for both");
      const started = await page.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => /turnwire\.(wasm|mjs|js)$/.test(name))
        .sort((a, b) => a.startTime - b.startTime).map(({ name, initiatorType }) => [name.split("/").at(-1), initiatorType]));
      assert.deepEqual(started[0], ["turnwire.wasm", "link"], "before the script is there");
      assert.deepEqual(warnings, []);
    });
  });
}

check("many clients load the module once", async (bed) => {
  await hosted(bed, {}, {}, async (page, host) => {
    await page.evaluate(async (baseURL) => {
      const { AgentClient, init } = await import("/pkg/turnwire.mjs");
      const clients = Array.from({ length: 20 }, () => new AgentClient({ baseURL }));
      await Promise.all([init(), ...clients.map((client) => client.ready()), init()]);
    }, bed.service.origin);
    assert.equal(host.asked["/pkg/turnwire.wasm"], 1);
  });
});

for (const type of ["application/octet-stream", "text/plain", "application/wasm; charset=binary", undefined]) {
  check(`the module loads with the Content-Type ${type ?? "left out"}`, async (bed) => {
    // A path without the ending gets no Content-Type from the host.
    const path = type ? "/pkg/turnwire.wasm" : "/pkg/module";
    await hosted(bed, { [path]: { headers: type && { "content-type": type }, body: dist("turnwire.wasm") } }, {}, async (page) => {
      assert.deepEqual(await tryReady(page, bed.service.origin, type ? undefined : { wasmURL: path }), { text: "1 2" });
    });
  });
}

const module = dist("turnwire.wasm");
const failures = {
  "a module that is not there": { file: { status: 404, body: "no such file" }, code: "module_not_found", says: /404.*wasmURL/ },
  "a server that fails": { file: { status: 503 }, code: "module_not_found", says: /503/ },
  "a page instead of the module": { file: { headers: { "content-type": "text/html" }, body: "<!doctype html><title>404</title>" }, code: "module_not_wasm", says: /text\/html.*check the address/ },
  "a page that says it is the module": { file: { body: "<!doctype html><title>404</title>" }, code: "module_not_compiled", says: /arrives whole/ },
  "an empty file": { file: { headers: { "content-type": "application/octet-stream" }, body: "" }, code: "module_not_wasm", says: /application\/octet-stream/ },
  "half of the module": { file: { body: module.subarray(0, module.length >> 1) }, code: "module_not_compiled", says: /arrives whole/ },
  "half of the module under another type": { file: { headers: { "content-type": "text/plain" }, body: module.subarray(0, module.length >> 1) }, code: "module_not_compiled", says: /arrives whole/ },
  "a module that is another one": { file: { body: Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) }, code: "module_not_started", says: /one build/ },
  "a policy without 'wasm-unsafe-eval'": { policy: "script-src 'self'", code: "module_not_compiled", says: /script-src 'wasm-unsafe-eval'/ },
  "a policy that allows no fetch of it": { policy: "connect-src http://127.0.0.1:1", code: "module_unreachable", says: /connect-src/ },
};

for (const [what, { file, policy, code, says }] of Object.entries(failures)) {
  check(`${what}: RuntimeLoadError ${code}`, async (bed) => {
    const headers = policy && { "content-security-policy": policy };
    await hosted(bed, file && { "/pkg/turnwire.wasm": file }, { headers }, async (page) => {
      const { error, call, turn } = await tryReady(page, bed.service.origin);
      assert.deepEqual([error?.name, error?.code, error?.isLoadError], ["RuntimeLoadError", code, true], error?.message);
      assert.match(error.message, says);
      assert.match(error.message, /turnwire\.wasm/);
      assert.deepEqual(call, error, "a call says the same");
      assert.deepEqual(turn, { done: error, status: "failed" }, "so does a turn");
    });
  });
}

check("a failed load is tried again by the next call", async (bed) => {
  await hosted(bed, { "/pkg/turnwire.wasm": { status: 404 } }, {}, async (page, host) => {
    const { error } = await tryReady(page, bed.service.origin);
    assert.equal(error.code, "module_not_found");
    Object.assign(host.files, packaged());
    assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
  });
});

check("init says where the module is, also after a failure", async (bed) => {
  await hosted(bed, { "/pkg/turnwire.wasm": { status: 404 }, "/else/where.wasm": { body: module } }, {}, async (page, host) => {
    const { error } = await tryReady(page, bed.service.origin);
    assert.equal(error.code, "module_not_found");
    await page.evaluate(async () => (await import("/pkg/turnwire.mjs")).init({ wasmURL: new URL("/else/where.wasm", location) }));
    assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
    assert.equal(host.asked["/else/where.wasm"], 1);
  });
});

check("init takes a compiled module and fetches nothing", async (bed) => {
  await hosted(bed, { "/pkg/turnwire.wasm": { status: 404 }, "/mine.wasm": { body: module } }, {}, async (page, host) => {
    await page.evaluate(async () => {
      const wasmModule = await WebAssembly.compileStreaming(fetch("/mine.wasm"));
      const { init } = await import("/pkg/turnwire.mjs");
      await init({ wasmModule });
    });
    assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
    assert.equal(host.asked["/pkg/turnwire.wasm"], undefined);
  });
});

const { files: built } = JSON.parse(dist("build-info.json"));
const scriptWith = (integrity) => ({ "/tag.html": { body: `<!doctype html><title>host</title><link rel="icon" href="data:,"><script src="/pkg/turnwire.js" integrity="${integrity}"></script>` } });

check("a script tag with the integrity of build-info.json loads, and so does the module", async (bed) => {
  await hosted(bed, scriptWith(built["turnwire.js"].integrity), { path: "/tag.html" }, async (page) => {
    await page.evaluate(async (integrity) => {
      await Turnwire.init({ wasmModule: await WebAssembly.compileStreaming(fetch("/pkg/turnwire.wasm", { integrity })) });
    }, built["turnwire.wasm"].integrity);
    assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
  });
});

check("a script tag with another file's integrity does not load", async (bed) => {
  await hosted(bed, scriptWith(built["turnwire.mjs"].integrity), { path: "/tag.html" }, async (page, host) => {
    assert.equal(host.asked["/pkg/turnwire.js"], 1);
    assert.equal(await page.evaluate(() => typeof Turnwire), "undefined");
  });
});

check("build-info.json has the integrity of every other file", async (bed) => {
  const names = Object.keys(packaged()).map((path) => path.replace("/pkg/", "")).filter((name) => name !== "build-info.json");
  assert.deepEqual(Object.keys(built).sort(), names.sort());
  await hosted(bed, {}, {}, async (page) => {
    const taken = await page.evaluate((files) => Promise.all(files.map(async ([name, { integrity, bytes }]) => {
      const { byteLength } = await fetch(`/pkg/${name}`, { integrity }).then((response) => response.arrayBuffer());
      const refused = await fetch(`/pkg/${name}`, { integrity: integrity.replace(/.{4}$/, "AAAA") }).then(() => false, () => true);
      return byteLength === bytes && refused;
    })), Object.entries(built));
    assert.deepEqual(taken, names.map(() => true));
  });
});

const standard = { wasmURL: "/pkg/turnwire.go.wasm" };

check("init takes the standard build, and Go's runtime script from beside it", async (bed) => {
  await hosted(bed, {}, {}, async (page, host) => {
    assert.deepEqual(await tryReady(page, bed.service.origin, standard), { text: "1 2" });
    assert.deepEqual(["turnwire.wasm", "turnwire.go.wasm", "turnwire.go.mjs"].map((name) => host.asked[`/pkg/${name}`]), [undefined, 1, 1]);
    const seen = await page.evaluate(() => Object.getOwnPropertyNames(globalThis).filter((name) => ["Go", "fs", "process"].includes(name)));
    assert.deepEqual(seen, []);
  });
});

check("init says where Go's runtime script is", async (bed) => {
  await hosted(bed, { "/pkg/turnwire.go.mjs": { status: 404 }, "/else/go.mjs": { body: dist("turnwire.go.mjs") } }, {}, async (page, host) => {
    assert.deepEqual(await tryReady(page, bed.service.origin, { ...standard, runtimeURL: "/else/go.mjs" }), { text: "1 2" });
    assert.equal(host.asked["/else/go.mjs"], 1);
  });
});

check("a standard build without Go's runtime script: RuntimeLoadError runtime_unreachable", async (bed) => {
  await hosted(bed, { "/pkg/turnwire.go.mjs": { status: 404 } }, {}, async (page) => {
    const { error } = await tryReady(page, bed.service.origin, standard);
    assert.deepEqual([error?.name, error?.code, error?.retryable], ["RuntimeLoadError", "runtime_unreachable", true], error?.message);
    assert.match(error.message, /pkg\/turnwire\.go\.mjs.*runtimeURL/);
  });
});

check("init is idempotent with the same options, and refuses others once the module is on its way", async (bed) => {
  await hosted(bed, {}, {}, async (page) => {
    const told = await page.evaluate(async () => {
      const { init, AgentClient } = await import("/pkg/turnwire.mjs");
      const tell = (promise) => promise.then(() => "ok", (error) => [error.name, error.code, error.message]);
      const wasmURL = "/pkg/turnwire.wasm";
      const told = [
        await tell(init({ wasmURL: 42 })), await tell(init({ wasmModule: {} })), await tell(init("here")),
        ...(await Promise.all([init({ wasmURL }), init({ wasmURL }), init()].map(tell))),
      ];
      await new AgentClient({ baseURL: "/" }).ready();
      told.push(await tell(init({ wasmURL })), await tell(init()), await tell(init({ wasmURL: "/else.wasm" })));
      return told;
    });
    assert.deepEqual(told.slice(3, 8), ["ok", "ok", "ok", "ok", "ok"]);
    for (const [name, code, message] of [...told.slice(0, 3), told[8]]) {
      assert.deepEqual([name, code], ["InvalidArgumentError", "invalid_argument"]);
      assert.match(message, /^(wasmURL|wasmModule|options) must be /);
    }
  });
});

check("the package works on another origin than the service", async (bed) => {
  await hosted(bed, {}, {}, async (page) => {
    const seen = await page.evaluate(async (baseURL) => {
      const { AgentClient } = await import("/pkg/turnwire.mjs");
      const client = new AgentClient({ baseURL, apiKey: "wrong-key", workspaceId: "demo", agentId: "assistant" });
      const { status, requestId } = await client.chats.create().catch((error) => error);
      return { status, requestId };
    }, bed.service.origin);
    assert.equal(seen.status, 401);
    assert.match(seen.requestId, /^req_/, "what CORS exposes is read");
    assert.deepEqual(await tryReady(page, bed.service.origin), { text: "1 2" });
  });
});

check("a base path and a relative baseURL are kept", async ({ page }) => {
  const urls = await page.evaluate(async () => {
    const urls = [];
    for (const baseURL of ["https://example.org/agents/v9/", "proxy", "/proxy///", new URL("https://example.org")]) {
      const client = lab.client({ baseURL, fetch: (url) => (urls.push(url), Promise.reject(new Error("enough"))) });
      await lab.settled(client.chats.create());
    }
    return urls;
  });
  const { origin } = new URL(page.url());
  assert.deepEqual(urls, [
    "https://example.org/agents/v9/v1/workspaces/demo/chats", `${origin}/proxy/v1/workspaces/demo/chats`,
    `${origin}/proxy/v1/workspaces/demo/chats`, "https://example.org/v1/workspaces/demo/chats",
  ]);
});

test("on a server, importing the package and making a client does nothing and throws nothing", () => {
  const program = `
    const before = Object.getOwnPropertyNames(globalThis).length;
    const { AgentClient, InvalidArgumentError } = await import(${JSON.stringify(join(folder, "turnwire.mjs"))});
    let fetched = 0;
    globalThis.fetch = () => { fetched++; return new Promise(() => {}); };
    const client = new AgentClient({ baseURL: "/api", apiKey: "dev-key" });
    client.chats.open("chat_any");
    try { new AgentClient({}); } catch (error) { if (!(error instanceof InvalidArgumentError)) throw error; }
    client.close();
    await new Promise((resolve) => setTimeout(resolve));
    console.log(JSON.stringify([fetched, Object.getOwnPropertyNames(globalThis).length - before]));
  `;
  // Ends by itself: nothing was started that keeps a server alive.
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", timeout: 60_000 });
  assert.deepEqual(JSON.parse(out), [0, 0]);
});
