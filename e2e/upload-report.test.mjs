// Once the store has everything, no upload is said to have failed: the record tells what became of a report that got no
// good answer, the report is repeated, and where the service stays away the page learns that the bytes are stored.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { answer, Files, first, held, lost, unheard } from "./support/files.mjs";
import { testbed } from "./support/bed.mjs";

const files = new Files();
before(() => files.start());
after(() => files.close());
const check = testbed({ at: files.page });

const size = 5_000;

/** An upload of three blocks, to its end. What should end soon is not waited for for long. */
const upload = (page, options) => page.evaluate((size, options) =>
  lab.upload(new File([lab.bytes(1, size)], "a.bin", { lastModified: 1 }), { blockSize: 2_000, signal: AbortSignal.timeout(20_000), ...options }), size, options);

const away = answer(503, { error: { message: "not now" } });

/** The service never heard of a failure, and each block was stored once. */
function judge() {
  assert.deepEqual(files.of("failure").map(({ body }) => body), [], "the store had everything");
  assert.deepEqual(files.counts("register", "block", "commit"), { register: 1, block: 3, commit: 1 });
}

const troubles = {
  "is answered late": { report: first((_, __, { usual }) => void usual()), options: { timeout: 3_000 } },
  "is never heard of by the service at first": { report: first(lost, lost) },
  "is answered 503 again and again": { report: first(away, away, away) },
  "is answered 503 though it was taken": { report: first((request, response, step) => (step.usual(), away(request, response))) },
  "loses its answer": { report: first(unheard, unheard) },
  "loses its answer, and the record can't be read at first": { report: first(unheard, unheard, unheard), read: first(away, lost) },
  "is answered by a page in between": { report: first(answer(200, "<!doctype html><title>Sign in</title>", { "content-type": "text/html" })) },
  "is answered by a page that calls itself JSON": { report: first(answer(200, "<!doctype html><title>Sign in</title>")) },
  "is answered by a text in JSON": { report: first(answer(200, '"ok"')) },
  "is answered by a list": { report: first(answer(200, "[]")) },
};
for (const [what, { report, read, options }] of Object.entries(troubles)) {
  check(`a report that ${what} ends well`, async ({ page }) => {
    files.script({ report, ...(read && { read }) });
    const seen = await upload(page, options);
    assert.deepEqual([seen.error, seen.file?.status, seen.progress.stage], [undefined, "ready", "done"], JSON.stringify(seen.error));
    judge();
    assert.ok(files.of("read").length > 0, "the record is read before the report is repeated");
    assert.equal(files.registered[0].record.status, "ready", "the service has taken it");
    assert.equal(new Set(files.of("report").map(({ body }) => body)).size, 1, "every report says the same");
  });
}

check("a report that is answered with nothing, or with an object, is not repeated", async ({ page }) => {
  for (const [status, body] of [[204, undefined], [200, ""], [200, {}], [200, { status: "uploaded" }], [202, { file: { status: "processing" } }]]) {
    files.script({ report: (request, response, { usual }) => (usual(), answer(status, body)(request, response)) });
    const seen = await upload(page);
    assert.deepEqual([seen.error, seen.progress.stage], [undefined, "done"], JSON.stringify(seen.error));
    judge();
    assert.deepEqual(files.counts("report", "read"), { report: 1, read: 0 });
  }
});

for (const status of ["upload_failed", "processing_failed"]) {
  check(`a record that says ${status} after a report without an answer is the file's end`, async ({ page }) => {
    files.script({ report: (request, response, { file }) => (Object.assign(file.record, { status, error: "it is not a PDF" }), lost(request, response)) });
    const { error } = await upload(page);
    assert.deepEqual([error?.name, error?.code], ["FileError", status], JSON.stringify(error));
    assert.match(error.message, /it is not a PDF/);
    judge();
  });
}

/** What a page is told whose upload is stored and not confirmed. */
function stored(error, expected) {
  const { name, code, stage, stored, fileId } = error ?? {};
  assert.deepEqual({ name, code, stage, stored, fileId }, { name: "UploadError", stage: "reporting", stored: true, fileId: "file0", ...expected }, JSON.stringify(error));
  assert.match(error.message, /stored/);
}

const stubborn = {
  "is answered 503 by": away,
  "gets no answer from": lost,
  "is held up by": held,
  "is answered by a page instead of": answer(200, "<!doctype html><title>Sign in</title>", { "content-type": "text/html" }),
};
for (const [what, report] of Object.entries(stubborn)) {
  check(`a report that ${what} the service until reportTimeout ends in an error that says that the bytes are stored`, async ({ page }) => {
    files.script({ report });
    const seen = await upload(page, { reportTimeout: 1_500, timeout: 500 });
    stored(seen.error, { code: "report_unconfirmed" });
    assert.equal(seen.progress.stage, "failed");
    judge();
  });
}

check("a report that the service refuses ends with its code, and says that the bytes are stored", async ({ page }) => {
  files.script({ report: answer(422, { error: { code: "checksum_not_wanted", message: "leave it out" } }) });
  const { error } = await upload(page);
  stored(error, { code: "checksum_not_wanted" });
  assert.equal(error.status, 422);
  assert.match(error.message, /leave it out/);
  judge();
});

check("a report that is answered by an error with status 200 is not accepted", async ({ page }) => {
  files.script({ report: answer(200, { error: { message: "no such file" } }) });
  const seen = await upload(page, { reportTimeout: 1_500 });
  stored(seen.error, { code: seen.error?.code });
  assert.equal(seen.progress.stage, "failed");
  judge();
});

for (const later of ["the same page", "a later page"]) {
  check(`under a resumeKey ${later} only reports what was stored, and sends no byte`, async ({ page }) => {
    let willing = false;
    files.script({ report: (request, response, step) => (willing ? step.usual() : away(request, response)) });
    const { error } = await upload(page, { reportTimeout: 1_000, resumeKey: "form" });
    stored(error, { code: "report_unconfirmed" });
    assert.equal((await page.evaluate(() => lab.records())).length, 1, "the record is kept");
    willing = true;
    if (later === "a later page") {
      await page.reload();
      await page.waitForFunction(() => "lab" in globalThis);
    }
    const reports = files.of("report").length;
    const seen = await upload(page, { resumeKey: "form" });
    assert.deepEqual([seen.error, seen.fileId, seen.file?.status], [undefined, "file0", "ready"], JSON.stringify(seen.error));
    judge();
    assert.equal(files.of("report").length - reports, 1);
    assert.deepEqual(await page.evaluate(() => lab.records()), []);
  });
}

/** Begins an upload, and aborts it as soon as the service has its report; everything that this sends at once has arrived. */
async function abortMidReport(page) {
  await page.evaluate((size) => {
    const scene = (globalThis.scene = {});
    scene.client = lab.client();
    scene.upload = scene.client.files.upload(new Blob([lab.bytes(1, size)]), { blockSize: 2_000 });
    scene.seen = lab.watch(scene.upload);
  }, size);
  const { response } = await files.once("report");
  await page.evaluate(async () => {
    scene.aborted = lab.settled(scene.upload.abort());
    // What the abort sends has left ahead of this.
    await scene.client.files.get("file0");
  });
  return response;
}

check("an abort during the report comes too late where the service takes it: one report reaches it", async ({ page }) => {
  files.script({ report: held });
  const response = await abortMidReport(page);
  assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ file_id: "file0", status: "ready" }));
  const seen = await page.evaluate(() => scene.aborted.then(() => scene.seen));
  assert.deepEqual([seen.error, seen.file?.id, seen.progress.stage], [undefined, "file0", "done"], JSON.stringify(seen.error));
  assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
});

check("an abort during the report that the service refuses is an abort: one report reaches it", async ({ page }) => {
  files.script({ report: held });
  const response = await abortMidReport(page);
  assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
  response.writeHead(422, { "content-type": "application/json" }).end("{}");
  const seen = await page.evaluate(() => scene.aborted.then(() => scene.seen));
  assert.deepEqual([seen.error?.name, seen.progress.stage], ["AbortError", "aborted"], JSON.stringify(seen.error));
  assert.equal(files.of("report").length, 1);
});

check("an abort while the file is processed ends the wait, and tells the service nothing", async ({ page }) => {
  files.script({
    report: (_, __, { file }) => Object.assign(file.record, { status: "processing" }),
  });
  const seen = await page.evaluate(async (size) => {
    const client = lab.client();
    const upload = client.files.upload(new Blob([lab.bytes(1, size)]), { blockSize: 2_000, wait: { interval: 50 } });
    const seen = lab.watch(upload);
    await new Promise((resolve) => upload.on("progress", ({ stage }) => stage === "processing" && resolve()));
    await upload.abort();
    await client.files.get("file0");
    return seen;
  }, size);
  assert.deepEqual([seen.error?.name, seen.progress.stage], ["AbortError", "aborted"], JSON.stringify(seen.error));
  assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
});
