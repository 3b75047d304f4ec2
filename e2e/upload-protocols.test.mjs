// What a store says is held against what was sent: it can't have more than that, nor be done before the last byte. And a store
// that takes its time over the end, or forgets that it had one, is no failure.

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { answer, Files, first, lost } from "./support/files.mjs";

const KiB = 1 << 10;

const files = new Files();
before(() => files.start());
after(() => files.close());
const check = testbed({ at: files.page });

// Cloud Storage takes no smaller blocks.
const block = 256 * KiB, size = 3 * block - 1000;

const upload = (page, options) => page.evaluate((size, options) =>
  lab.upload(new Blob([lab.bytes(1, size)]), { blockTries: 3, signal: AbortSignal.timeout(30_000), ...options }), size, { blockSize: block, ...options });

const range = (end) => (_, response) => void response.writeHead(308, { range: `bytes=0-${end - 1}` }).end();
const offset = (at) => (_, response) => void response.writeHead(204, { "upload-offset": at }).end();

/** What a store says that can't be, by its protocol. */
const lies = {
  "gcs-resumable": {
    "answers the first block as though it were the last": { block: first(answer(200)) },
    "answers the second block as though it were the last": { block: first(undefined, answer(201)) },
    "has the second block when the first was sent": { block: first(range(2 * block)) },
    "has one byte more than was sent": { block: first(range(block + 1)) },
    "has one byte more than was sent, later": { block: first(undefined, range(2 * block + 1)) },
    "has everything after the first block": { block: first(range(size)) },
    "is done when it is asked how far it came after a break": { block: first(lost, answer(200)) },
    "has what was never sent when it is asked after a break": { block: first(lost, range(2 * block)) },
  },
  tus: {
    "has the second block when the first was sent": { block: first(offset(2 * block)) },
    "has one byte more than was sent": { block: first(offset(block + 1)) },
    "has one byte more than was sent, later": { block: first(undefined, offset(2 * block + 1)) },
    "has everything after the first block": { block: first(offset(size)) },
    // It is asked twice: what it can do, and after the break.
    "has what was never sent when it is asked after a break": { block: first(lost), survey: first(undefined, offset(2 * block)) },
  },
};
for (const [protocol, stories] of Object.entries(lies)) {
  describe(`a store of ${protocol} that says that it`, () => {
    for (const [what, steps] of Object.entries(stories)) {
      check(what, async ({ page }) => {
        files.script(steps, protocol);
        const { error, fileId, protocol: used, progress } = await upload(page);
        assert.equal(used, protocol);
        assert.deepEqual([error?.name, error?.code, error?.stage, progress.stage], ["UploadError", "storage_mismatch", "uploading", "failed"], JSON.stringify(error));
        assert.equal(error.fileId, fileId);
        assert.deepEqual(files.counts("report", "failure"), { report: 0, failure: 1 });
        assert.ok(files.of("block").filter(({ bytes }) => bytes.length > 0).length <= 2, "nothing is sent after what can't be");
      });
    }

    check("has what was sent is believed, also when less came through", async ({ page }) => {
      const half = (request, response, { file, files }) => {
        const at = Number(request.headers["upload-offset"] ?? /^bytes (\d+)/.exec(request.headers["content-range"])[1]);
        const stored = files.append(file, at, request.bytes.subarray(0, block / 2));
        (protocol === "tus" ? offset : range)(stored)(request, response);
      };
      files.script({ block: first(undefined, half) }, protocol);
      const { error } = await upload(page);
      assert.equal(error, undefined, JSON.stringify(error));
      const [{ stored, record }] = files.registered;
      assert.equal(record.status, "ready");
      assert.ok(stored.equals(bytes(1, size)));
    });
  });
}

describe("a completion of S3", () => {
  const missing = answer(404, "<Error><Code>NoSuchUpload</Code></Error>", { "content-type": "application/xml" });

  check("that takes longer than blockTimeout while white space trickles is waited for", async ({ page }) => {
    // S3 keeps the connection alive so while it joins the parts.
    const limit = 2_000, pause = limit / 4, pauses = 14;
    const slow = (_, response, { file }) => {
      // Without the second header Chromium keeps the first kilobyte of XML to itself, and the page hears nothing.
      response.writeHead(200, { "content-type": "application/xml", "x-content-type-options": "nosniff" });
      response.write('<?xml version="1.0" encoding="UTF-8"?>\n');
      let left = pauses;
      const timer = setInterval(() => {
        if (--left > 0) return void response.write(" ");
        clearInterval(timer);
        file.stored = Buffer.concat([...file.blocks.values()]);
        response.end("<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>");
      }, pause);
      response.on("close", () => clearInterval(timer));
    };
    files.script({ commit: slow }, "s3-multipart");
    const { error, file } = await upload(page, { blockTimeout: limit, blockTries: 1 });
    assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
    assert.deepEqual(files.counts("commit", "report", "failure"), { commit: 1, report: 1, failure: 0 });
  });

  check("that says nothing at all for blockTimeout is tried again", async ({ page }) => {
    const silent = (_, response) => {
      response.writeHead(200, { "content-type": "application/xml" });
      response.flushHeaders();
    };
    files.script({ commit: first(silent) }, "s3-multipart");
    const { error } = await upload(page, { blockTimeout: 1_000, blockTries: 2 });
    assert.equal(error, undefined, JSON.stringify(error));
    assert.deepEqual(files.counts("commit", "failure"), { commit: 2, failure: 0 });
  });

  for (const [what, way] of Object.entries({
    "was lost": (request, response, { usual }) => {
      const unsent = { writeHead: () => unsent, end: () => lost(request, response) };
      usual(unsent);
    },
    "came too late": (request, response, { usual }) => usual({ writeHead: () => ({ end() {} }) }),
  })) {
    check(`whose answer ${what} has happened all the same: a 404 afterwards leaves the judgement to the service`, async ({ page }) => {
      files.script({ commit: first(way, missing, missing, missing) }, "s3-multipart");
      const { error, file } = await upload(page, { blockTimeout: 1_500 });
      assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
      assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
      assert.equal(files.of("block").length, 1, "no part is sent again");
    });
  }

  check("whose answer was lost and that did not happen is for the service to see", async ({ page }) => {
    files.script({ commit: first(lost, missing, missing, missing) }, "s3-multipart");
    const { error } = await upload(page);
    assert.deepEqual([error?.name, error?.code], ["FileError", "upload_failed"], JSON.stringify(error));
    assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
  });

  check("that is answered 404 at once has failed", async ({ page }) => {
    files.script({ commit: missing }, "s3-multipart");
    const { error } = await upload(page);
    assert.deepEqual([error?.name, error?.status, error?.stage], ["UploadError", 404, "uploading"], JSON.stringify(error));
    assert.deepEqual(files.counts("report", "failure"), { report: 0, failure: 1 });
  });
});
