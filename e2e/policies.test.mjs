// Pages under the policies that a site may have. With what docs/policies.md names a turn and an upload work, and the browser
// reports nothing; without a part of it, it reports just that.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before } from "node:test";
import { testbed } from "./support/bed.mjs";
import { Host, packaged } from "./support/host.mjs";

const size = 6 << 20;
const sum = createHash("sha256").update(Buffer.alloc(size, 7)).digest("hex");

const script = "/pkg/turnwire.js", worker = "/pkg/turnwire.worker.mjs";
const tag = `<script src="${script}"></script>`;
const html = (head) => `<!doctype html><title>host</title>${head}`;

/** Ahead of the worker's script: tells the page when the worker has summed, and what it was forbidden. */
const telling = `{
  const told = new BroadcastChannel("worker"), say = postMessage;
  self.postMessage = (word) => ("result" in word && told.postMessage({ summed: true }), say(word));
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => told.postMessage({ violation: [effectiveDirective, blockedURI] }));
}
`;

/** Ahead of the page's scripts. `until` resolves once the browser has reported an address of that ending. */
function listen() {
  const violations = [], waiting = [];
  const heard = (violation) => {
    violations.push(violation);
    for (const { ending, resolve } of waiting) if (violation[1].endsWith(ending)) resolve();
  };
  const observer = new ReportingObserver((reports) => {
    // Only as JSON does one of "coep" tell the address.
    for (const { type, body } of reports.map((report) => report.toJSON())) heard([body.effectiveDirective ?? type, body.blockedURL]);
  }, { types: ["csp-violation", "coep"], buffered: true });
  observer.observe();
  const seen = (globalThis.seen = { violations, summed: false, until: (ending) => new Promise((resolve) => waiting.push({ ending, resolve })) });
  new BroadcastChannel("worker").onmessage = ({ data }) => (data.summed ? (seen.summed = true) : heard(data.violation));
}

let host;
before(async () => {
  host = await Host.start({});
});
after(() => host?.close());

const check = testbed({ flags: ["-pace", "1ms", "-allow-origin", "null"] });

/** The service's other name, so that its store is of another origin. */
const storeOf = ({ origin }) => origin.replace("127.0.0.1", "localhost");

/** The least that docs/policies.md names. */
const least = (service) => ({
  "default-src": "'none'",
  "script-src": "'self' 'wasm-unsafe-eval'",
  "connect-src": `'self' ${service.origin} ${storeOf(service)}`,
});

const strict = { "script-src": "'nonce-n0' 'strict-dynamic' 'wasm-unsafe-eval'", "worker-src": "'self'" };
const trustedTypes = { "require-trusted-types-for": "'script'" };
const defaultPolicy = `trustedTypes.createPolicy("default", { createScriptURL: (url) => (url === location.origin + "${worker}" ? url : null) });`;
const isolating = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
const standard = { wasmURL: "/pkg/turnwire.go.wasm" };
const withoutWorker = { workerURL: false };
const workerUnder = (headers) => ({ [worker]: { ...packaged()[worker], headers } });
const sandbox = {
  path: "/sandbox.html",
  files: {
    "/sandbox.html": {
      headers: { "content-security-policy": "default-src 'none'; frame-src 'self'" },
      body: html('<iframe sandbox="allow-scripts" src="/page.html"></iframe>'),
    },
  },
  // A frame of an opaque origin is a foreigner to the package's own server.
  headers: { "access-control-allow-origin": "*" },
  opaque: true,
};

/** `lacks` is taken out of the least policy, `adds` are directives beside it or in their place; `headers` are on every answer of the host. */
const cases = [
  { name: "the least policy, by script tag", inWorker: true },
  { name: "the least policy, by import", head: "", inWorker: true },
  { name: "the least policy, with the standard module", init: standard, inWorker: true },
  { name: "a nonce and 'strict-dynamic'", adds: strict, head: `<script nonce="n0" src="${script}"></script>`, inWorker: true },
  { name: "a policy without the script", lacks: ["script-src", "'self'"], head: "", reports: ["script-src-elem /pkg/turnwire.mjs"], error: "TypeError" },
  { name: "a policy without 'wasm-unsafe-eval'", lacks: ["script-src", "'wasm-unsafe-eval'"], reports: ["script-src wasm-eval"], turn: "module_not_compiled", file: "module_not_compiled" },
  { name: "a policy without the module", lacks: ["connect-src", "'self'"], reports: ["connect-src /pkg/turnwire.wasm"], turn: "module_unreachable", file: "module_unreachable" },
  {
    name: "a policy without the service", lacks: ["connect-src", /http:\/\/127\S+/], turn: "connection_failed", file: "connection_failed",
    reports: ["connect-src /v1/workspaces/demo/chats", "connect-src /v1/workspaces/demo/files/upload-url"],
  },
  { name: "a policy without the store", lacks: ["connect-src", /http:\/\/localhost\S+/], reports: ["connect-src /storage/…"], file: "storage_unreachable" },

  { name: "worker-src 'none'", adds: { "worker-src": "'none'" }, reports: [`worker-src ${worker}`] },
  { name: "worker-src 'none', of a page that wants no worker", adds: { "worker-src": "'none'" }, init: withoutWorker },
  { name: "default-src 'none' of the worker's own", files: workerUnder({ "content-security-policy": "default-src 'none'" }), inWorker: true },
  {
    name: "default-src 'none' of the worker's own, with the standard module", files: workerUnder({ "content-security-policy": "default-src 'none'" }), init: standard,
    reports: ["script-src-elem /pkg/turnwire.go.mjs"],
  },

  {
    name: "Trusted Types, with a default policy that lets the worker pass", adds: { ...trustedTypes, "trusted-types": "default" },
    head: `<script src="/default.js"></script>${tag}`, files: { "/default.js": { body: defaultPolicy } }, inWorker: true,
  },
  { name: "Trusted Types, of a page that wants no worker", adds: { ...trustedTypes, "trusted-types": "'none'" }, init: withoutWorker },
  { name: "Trusted Types, with the standard module", adds: { ...trustedTypes, "trusted-types": "'none'" }, init: { ...standard, ...withoutWorker } },
  { name: "Trusted Types, where nothing lets the worker pass", adds: trustedTypes, reports: ["require-trusted-types-for trusted-types-sink"] },

  { name: "cross-origin isolation", headers: isolating, isolated: true, inWorker: true },
  {
    name: "cross-origin isolation, with a worker's script that lacks it", headers: isolating, files: workerUnder({ "cross-origin-embedder-policy": "unsafe-none" }), isolated: true,
    heard: [`coep ${worker}`],
  },

  { name: "the sandbox of a frame, by script tag", ...sandbox },
  { name: "the sandbox of a frame, by import", ...sandbox, head: "" },
];

/** A violation as it is every time: without hosts, ports and a file's name. */
const violation = ([directive, blocked]) => `${directive} ${URL.canParse(blocked) ? new URL(blocked).pathname.replace(/file_.*/, "…") : blocked}`;
/** A document may tell the same one more than once. */
const distinct = (violations) => [...new Set(violations)].filter((violation) => violation !== over);
const over = "connect-src /over";

for (const { name, adds, lacks, headers, files, head = tag, path = "/page.html", init, reports = [], heard = reports, ...expected } of cases) {
  check(`a turn and an upload under ${name}`, async ({ browser, service, t }) => {
    const directives = { ...least(service), ...adds };
    if (lacks) directives[lacks[0]] = directives[lacks[0]].replace(lacks[1], "");
    const policy = Object.entries(directives).map((directive) => directive.join(" ")).join("; ");
    const answers = { "/page.html": { body: html(head) }, ...packaged(), ...files };
    answers[worker].body = telling + answers[worker].body;
    for (const answer of Object.values(answers)) {
      answer.headers = { "content-security-policy": policy, ...headers, ...answer.headers };
      answer.headers["content-security-policy"] += `; report-uri ${host.origin}/reports`;
    }
    Object.assign(host, { files: { ...answers, "/reports": { status: 204 } }, posted: [] });

    const page = await browser.open(host.origin + path, { before: listen });
    t.after(() => page.browserContext().close());
    const { ended, violations, summed, isolated, opaque } = await page.frames().at(-1).evaluate(async (baseURL, store, size, init) => {
      const tell = ({ name, code }) => code ?? name;
      const act = async () => {
        const Turnwire = globalThis.Turnwire ?? (await import("/pkg/turnwire.mjs"));
        if (init) await Turnwire.init(init);
        const client = new Turnwire.AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", maxRetries: 0 });
        const turn = await client.chats.create().then((chat) => chat.send("count to 2").done()).then(({ text }) => text, tell);
        // Blocks in order are summed by the module, in the worker where there is one.
        const file = await client.files.upload(new Uint8Array(size).fill(7), {
          blockSize: 2 << 20, concurrency: 1, mapUploadTicket: (raw) => ({ fileId: raw.file_id, url: raw.upload_url.replace(baseURL, store) }),
        }).done().then(({ checksum }) => checksum, tell);
        return { turn, file };
      };
      const ended = await act().catch((error) => ({ error: tell(error) }));
      // Every policy here forbids this, so that it is told after all else.
      fetch("http://127.0.0.1:9/over").catch(() => {});
      await seen.until("/over");
      return { ended, violations: seen.violations, summed: seen.summed, isolated: crossOriginIsolated, opaque: origin === "null" };
    }, service.origin, storeOf(service), size, init);

    const posted = ({ body }) => {
      const { "effective-directive": directive, "blocked-uri": blocked } = JSON.parse(body)["csp-report"];
      return violation([directive, blocked]);
    };
    await host.told((report) => posted(report) === over);
    const { error, turn = "1 2", file = sum, inWorker = false } = expected;
    assert.deepEqual(ended, error ? { error } : { turn, file });
    assert.deepEqual(distinct(host.posted.map(posted)), reports, "what was sent to the report-uri");
    assert.deepEqual(distinct(violations.map(violation)), heard, "what page and worker were told");
    if (ended.file === sum) assert.equal(summed, inWorker, "whether the worker computed the sum");
    assert.deepEqual([isolated, opaque], [expected.isolated ?? false, expected.opaque ?? false]);
    assert.deepEqual(page.uncaught, []);
  });
}
