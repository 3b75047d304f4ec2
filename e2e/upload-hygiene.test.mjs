// What an upload tells whom: the storage gets no key, no cookie and no header that neither protocol nor ticket names; and
// neither a signature nor the key is in a log record, an error or a property.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe } from "node:test";
import { elsewhere, testbed } from "./support/bed.mjs";
import { azurite, fakeGCS, tus, versitygw, watched } from "./support/stores.mjs";

/** What a browser sends by itself. */
const itsOwn = /^(accept|accept-encoding|accept-language|access-control-request-.*|cache-control|connection|content-length|host|origin|pragma|priority|sec-.*|user-agent)$/;

const stores = {
  "the service's own": { headers: ["x-ms-blob-content-type", "x-ms-blob-type"] },
  "the service's own by one PUT": { headers: ["content-type"], fault: "ticket=put" },
  Azurite: { start: azurite, headers: ["content-type", "x-ms-blob-content-type", "x-ms-blob-type"] },
  versitygw: { start: versitygw, headers: ["content-type"] },
  "fake-gcs-server": { start: fakeGCS, headers: ["content-range", "content-type"] },
  "@tus/server": { start: tus, headers: ["content-type", "tus-resumable", "upload-offset", "upload-metadata", "upload-length"] },
};

for (const [name, { start, headers, fault = "tag=none" }] of Object.entries(stores)) {
  describe(name, () => {
    let store;
    before(async () => {
      if (start) store = await watched(await start());
    });
    const check = testbed({ flags: () => store?.flags ?? [], env: () => store?.env ?? {} });
    after(() => store?.stop());

    for (const at of [elsewhere, ({ origin }) => `${origin}/`]) {
      check(`gets nothing but the bytes from a page ${at === elsewhere ? "elsewhere" : "of the service's own origin"}`, async ({ page, service }) => {
        const context = page.browserContext();
        for (const domain of ["127.0.0.1", "localhost"]) {
          for (const httpOnly of [false, true]) await context.setCookie({ domain, path: "/", name: `secret-${httpOnly}`, value: randomUUID(), httpOnly });
        }
        assert.match(await page.evaluate(() => document.cookie), /secret-false=/);
        const seen = await page.evaluate(async (fault) => {
          // The service alone gets this header, which its CORS rules let through. Cookies do not go along where they say *.
          const client = { credentials: lab.settings.baseURL === location.origin ? "include" : "same-origin", headers: { "Last-Event-ID": "the service's own" } };
          const seen = [];
          for (const size of [0, 1_000, 12_000_000]) {
            const { fileId, error } = await lab.upload(new File([lab.bytes(1, size)], "größe.bin", { type: "text/x-own" }), lab.fault(fault, { blockSize: 5 << 20 }), client);
            seen.push({ fileId, error });
          }
          return seen;
        }, fault);
        let requests = 0;
        for (const { fileId, error } of seen) {
          assert.equal(error, undefined, JSON.stringify(error));
          const own = store ? [] : await service.storage(fileId);
          for (const request of [...own, ...(store?.requests.splice(0) ?? [])]) {
            requests++;
            const names = Array.isArray(request.headers) ? request.headers : Object.keys(request.headers);
            assert.deepEqual(names.filter((header) => !itsOwn.test(header) && !headers.includes(header)), [], `${request.method} ${JSON.stringify(request.headers)}`);
          }
        }
        assert.ok(requests >= 4, `${requests} requests were seen`);
      }, { at });
    }
  });
}

describe("secrets", () => {
  const check = testbed();

  for (const at of [elsewhere, ({ origin }) => `${origin}/`]) {
    check(`no signature and no key is told by an upload to a storage ${at === elsewhere ? "elsewhere" : "at the page's own origin"}`, async ({ page }) => {
      const console = [];
      page.on("console", (message) => console.push(message.text()));
      const told = await page.evaluate(async () => {
        const asked = [], logs = [], texts = [];
        const client = lab.client({ fetch: lab.asking(asked), onLog: (record) => logs.push(record), maxRetries: 1 });
        const roots = {};
        const upload = async (name, fault, options = {}) => {
          const upload = (roots[name] = client.files.upload(new Blob([lab.bytes(1, 3_000)]), lab.fault(fault, { blockSize: 1_000, blockTries: 2, ...options })));
          upload.on("progress", (progress) => texts.push(["progress", JSON.stringify(progress)]));
          const { value, error } = await lab.settled(upload.done());
          roots[`${name}: end`] = error ?? value;
        };
        await upload("done", "tag=none");
        await upload("kept", "tag=none", { resumeKey: "kept" });
        await upload("put", "ticket=put");
        for (const status of [400, 403, 404, 409, 500]) await upload(`refused ${status}`, `on=block&status=${status}&retry_after=0`);
        await upload("list refused", "on=blocklist&status=400");
        await upload("reset", "on=block&refuse=1");
        await upload("stalled", "on=block&stall_bytes=10", { blockTimeout: 100 });
        await upload("expired", "on=upload-url&expires_ms=1;on=renewal&status=409");
        await upload("another file", "on=upload-url&expires_ms=1;on=renewal&other_file=1");
        await upload("corrupt", "on=block&corrupt=1");
        await upload("not reported", "on=report&status=500&retry_after=0", { reportTimeout: 1 });
        await upload("not mapped", "tag=none", { mapUploadTicket: (raw) => { throw new Error("no"); } });
        const stream = client.files.upload(lab.stream(lab.bytes(1, 3_000)), { size: 5_000, blockSize: 1_000 });
        roots["short stream: end"] = (await lab.settled(stream.done())).error;

        const signatures = asked.flatMap(({ answer }) => (answer?.upload_url ? [answer.upload_url, new URL(answer.upload_url).searchParams.get("sig")] : [])).filter(Boolean);
        const walked = new Set();
        const walk = (value, path) => {
          if (typeof value === "string") texts.push([path, value]);
          if (value === null || (typeof value !== "object" && typeof value !== "function") || walked.has(value) || value === globalThis) return;
          walked.add(value);
          for (const name of Reflect.ownKeys(value)) {
            texts.push([path, String(name)]);
            walk(value[name], `${path}.${String(name)}`);
          }
          for (let up = Object.getPrototypeOf(value); up && up !== Object.prototype && up !== Function.prototype; up = Object.getPrototypeOf(up)) {
            for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(up))) if (get && !(up instanceof Error)) walk(Reflect.get(up, name, value), `${path}.${name}`);
          }
        };
        for (const [name, root] of Object.entries(roots)) {
          walk(root, name);
          texts.push([`JSON of ${name}`, JSON.stringify(root) ?? ""], [`string of ${name}`, String(root)]);
          try {
            walk(structuredClone(root), `clone of ${name}`);
          } catch {
            // An upload has functions: it can't be cloned, and so leaks nothing that way.
          }
        }
        texts.push(["logs", JSON.stringify(logs)]);
        for (const store of [localStorage, sessionStorage]) texts.push(["storage", JSON.stringify({ ...store })]);
        const secrets = ["dev-key", ...signatures.flatMap((secret) => [secret, encodeURIComponent(secret)])];
        const ends = Object.fromEntries(Object.entries(roots).filter(([name]) => name.endsWith(": end")).map(([name, end]) => [name, end?.code ?? end?.status]));
        return {
          leaks: texts.filter(([, text]) => secrets.some((secret) => text.includes(secret)) || /[?&](sig|se|sp)=/.test(text)), ends,
          secrets, signatures: signatures.length, texts: texts.length, logs: logs.length,
        };
      });
      assert.deepEqual(told.leaks, []);
      assert.deepEqual(told.ends, {
        "done: end": "ready", "kept: end": "ready", "put: end": "ready",
        "refused 400: end": "storage_refused", "refused 403: end": "address_refused", "refused 404: end": "storage_refused", "refused 409: end": "storage_refused",
        "refused 500: end": "storage_unavailable", "list refused: end": "storage_refused", "reset: end": "storage_unreachable", "stalled: end": "block_timeout",
        "expired: end": "address_expired", "another file: end": "address_expired", "corrupt: end": "upload_failed", "not reported: end": "report_unconfirmed",
        "not mapped: end": "map_ticket_failed", "short stream: end": "data_unreadable",
      });
      assert.ok(told.signatures > 20 && told.texts > 200 && told.logs > 40, `${told.signatures} ${told.texts} ${told.logs}`);
      for (const text of console) assert.ok(!text.includes("dev-key"), text);
    }, { at });
  }
});
