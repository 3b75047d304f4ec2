// Answers to the first step in other shapes than the usual one, what a page's mapUploadTicket makes of them, and stores
// that let no page in: the upload goes on, or says what to change, and no file is left half registered.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, request } from "node:http";
import { after, before, describe } from "node:test";
import { AwsClient } from "aws4fetch";
import { elsewhere, testbed } from "./support/bed.mjs";
import { behind, versitygw } from "./support/stores.mjs";

const check = testbed({ at: elsewhere });

const shapes = {
  bare: { protocol: "azure-block" },
  other_names: { protocol: "azure-block" },
  nested: { protocol: "azure-block" },
  nested_id: { protocol: "azure-block" },
  put: { protocol: "put" },
  no_address: { name: "ProtocolError", code: "ticket_without_url", message: /upload_url, signed_url or url.*saw .*file_id.*mapUploadTicket/ },
  no_id: { name: "ProtocolError", code: "ticket_without_id", message: /file_id or id.*saw .*upload_url.*mapUploadTicket/ },
};
for (const [shape, expected] of Object.entries(shapes)) {
  check(`an address in the shape ${shape}`, async ({ page, service }) => {
    const seen = await page.evaluate((shape) => lab.upload(new Blob([lab.bytes(1, 5_000)]), lab.fault(`ticket=${shape}`, { blockSize: 2_000 })), shape);
    const { error } = seen;
    assert.deepEqual([seen.protocol, error?.name, error?.code], [expected.protocol, expected.name, expected.code], JSON.stringify(error));
    if (error) assert.match(error.message, expected.message);
    if (seen.fileId) assert.equal((await service.file(seen.fileId)).status, error ? "upload_failed" : "ready");
  });
}

const statuses = {
  400: ["APIError", false], 401: ["AuthenticationError", false], 403: ["AuthenticationError", false], 404: ["NotFoundError", false],
  409: ["ConflictError", false], 413: ["APIError", false], 429: ["RateLimitError", true], 500: ["APIError", true], 503: ["APIError", true],
};
check("a refusal of the first step, or of the last", async ({ page, service }) => {
  for (const [status, [name, retryable]] of Object.entries(statuses)) {
    for (const on of ["upload-url", "report"]) {
      const seen = await page.evaluate((fault) => lab.upload(new Blob(["data"]), lab.fault(fault, { reportTimeout: 1 })), `on=${on}&times=1&status=${status}&retry_after=7`);
      const { error, fileId, progress } = seen;
      // Of a registered file it is the upload's failure.
      const expected = on === "report" ? "UploadError" : name;
      assert.deepEqual([on, error?.name, error?.status, error?.retryable, error?.retryAfter, progress.stage], [on, expected, Number(status), retryable, 7_000, "failed"]);
      assert.equal(fileId !== undefined, on === "report");
      // Its bytes are stored: that it failed would not be true.
      if (fileId) assert.deepEqual([error.stored, (await service.file(fileId)).status], [true, "uploading"]);
    }
  }
  const html = await page.evaluate(() => lab.upload(new Blob(["data"]), lab.fault("on=upload-url&content_type=text/html")));
  assert.deepEqual([html.error?.name, html.error?.code], ["ProtocolError", "ticket_not_json"]);
});

/** What a page may make of the service's answer; the service's own words are in raw. */
const maps = {
  "the usual ticket": { map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url }) },
  "a promise of one": { map: async (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: "azure-block", blockSize: 1_000, expiresAt: raw.expires_at }) },
  "one of other names": { fault: "ticket=nested", map: (raw) => ({ fileId: raw.file.file_id, url: raw.url, expiresAt: Date.now() + 60_000 }) },
  "one with headers": { fault: "ticket=put", map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: "put", headers: { "Content-Type": "text/plain" } }) },
  "one with Headers": { fault: "ticket=put", map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: "put", headers: new Headers({ "Content-Type": "text/x-headers" }) }), type: "text/x-headers" },
  "one with a Map": { fault: "ticket=put", map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: "put", headers: new Map([["Content-Type", "text/x-map"]]) }), type: "text/x-map" },
  "one with pairs": { fault: "ticket=put", map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: "put", headers: [["Content-Type", "text/x-pairs"]] }), type: "text/x-pairs" },
  "a Set of headers": { map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, headers: new Set() }), code: "map_ticket_failed", message: /headers must be/ },
  "a throw": { map: () => { throw new RangeError("not like this"); }, code: "map_ticket_failed", message: /mapUploadTicket.*not like this/ },
  "a rejection": { map: () => Promise.reject(new RangeError("nor like this")), code: "map_ticket_failed", message: /mapUploadTicket.*nor like this/ },
  "nothing": { map: () => {}, code: "map_ticket_failed", message: /mapUploadTicket.*the ticket must be an object/ },
  "a string": { map: (raw) => raw.upload_url, code: "map_ticket_failed", message: /mapUploadTicket.*the ticket must be an object.*not a string/ },
  "no fileId": { map: (raw) => ({ url: raw.upload_url }), code: "map_ticket_failed", message: /fileId must be/ },
  "no url": { map: (raw) => ({ fileId: raw.file_id }), code: "map_ticket_failed", message: /url must be/ },
  "a number for url": { map: (raw) => ({ fileId: raw.file_id, url: 42 }), code: "map_ticket_failed", message: /url must be/ },
  "no address for url": { map: (raw) => ({ fileId: raw.file_id, url: "http://" }), code: "map_ticket_failed", message: /url must be/ },
  "a script for url": { map: (raw) => ({ fileId: raw.file_id, url: "javascript:alert(1)" }), code: "map_ticket_failed", message: /url must be/ },
  "odd headers": { map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, headers: { a: 1 } }), code: "map_ticket_failed", message: /headers must be/ },
  "headers that HTTP has not": { map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, headers: { "no name": "x" } }), code: "map_ticket_failed", message: /headers must be/ },
  "odd parts": { map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, parts: [{}] }), code: "map_ticket_failed", message: /parts must be/ },
  "another protocol": { map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: "ftp" }), name: "ProtocolError", code: "unknown_upload_protocol", message: /ftp.*azure-block/ },
  "multipart without parts": { map: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: "s3-multipart" }), name: "ProtocolError", code: "ticket_without_parts", message: /parts/ },
};
check("what a page's mapUploadTicket makes of the answer", async ({ page, service }) => {
  for (const [what, { map, fault = "tag=none", name = "UploadError", code, message, type }] of Object.entries(maps)) {
    await page.evaluate(`globalThis.map = ${map}`);
    const seen = await page.evaluate(async (fault) => {
      const { setRequestHeader } = XMLHttpRequest.prototype;
      const headers = [];
      XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
        headers.push(`${name.toLowerCase()}: ${value}`);
        setRequestHeader.call(this, name, value);
      };
      const seen = await lab.upload(new Blob([lab.bytes(1, 5_000)]), lab.fault(fault, { mapUploadTicket: map, blockSize: 2_000, blockTries: 1 }));
      XMLHttpRequest.prototype.setRequestHeader = setRequestHeader;
      return { ...seen, headers };
    }, fault);
    const { error, asked } = seen;
    assert.deepEqual([what, error?.name, error?.code], code ? [what, name, code] : [what, undefined, undefined], JSON.stringify(error));
    if (error) assert.match(error.message, message, what);
    const { answer } = asked[0];
    const record = await service.file(answer.file_id ?? answer.file.file_id);
    assert.deepEqual([what, record.status], [what, error ? "upload_failed" : "ready"]);
    if (!error) assert.equal(record.checksum, seen.file.checksum);
    if (type) assert.deepEqual(seen.headers, [`content-type: ${type}`], what);
  }
});

/** A way to a store on which its answers lose their Access-Control-Expose-Headers: versitygw shows the ETag whatever the rules say. */
async function unexposed(store) {
  const { hostname, port } = new URL(store.origin);
  const relay = createServer((incoming, outgoing) => {
    const onward = request({ hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers }, (answer) => {
      delete answer.headers["access-control-expose-headers"];
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise((resolve) => relay.listen(0, "127.0.0.1", resolve));
  return { ...behind(store, `http://127.0.0.1:${relay.address().port}`), stop: async () => (relay.closeAllConnections(), relay.close(), store.stop()) };
}

describe("a bucket whose CORS rules", () => {
  let store, client, bucket;
  before(async () => {
    store = await unexposed(await versitygw());
    client = new AwsClient({ accessKeyId: store.env.AWS_ACCESS_KEY_ID, secretAccessKey: store.env.AWS_SECRET_ACCESS_KEY, region: store.env.AWS_REGION, service: "s3", retries: 0 });
    bucket = store.flags[1].replace("s3=", "");
  });
  const check = testbed({ at: elsewhere, flags: () => store.flags, env: () => store.env });
  after(() => store?.stop());

  const rule = `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>PUT</AllowedMethod><AllowedMethod>POST</AllowedMethod><AllowedHeader>content-type</AllowedHeader></CORSRule></CORSConfiguration>`;
  const rules = [
    { name: "are missing", set: () => client.fetch(`${bucket}?cors`, { method: "DELETE" }), code: "storage_unreachable", retryable: true, message: /CORS rules allow this page's origin, the method PUT/ },
    { name: "expose no ETag", set: () => client.fetch(`${bucket}?cors`, { method: "PUT", body: rule, headers: { "content-md5": createHash("md5").update(rule).digest("base64") } }),
      code: "header_hidden", retryable: false, message: /ETag.*"ExposeHeaders": \["ETag"\]/ },
  ];
  for (const { name, set, code, retryable, message } of rules) {
    check(name, async ({ page, service }) => {
      const response = await set();
      assert.ok(response.ok, await response.text());
      const { error, fileId } = await page.evaluate(() => lab.upload(new Blob(["data"]), { blockTries: 1 }));
      assert.deepEqual([error?.name, error?.code, error?.stage, error?.block, error?.retryable, error?.fileId], ["UploadError", code, "uploading", 0, retryable, fileId], JSON.stringify(error));
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /[?&]X-Amz/, "no signature is told");
      assert.equal((await service.file(fileId)).status, "upload_failed");
    });
  }
});
