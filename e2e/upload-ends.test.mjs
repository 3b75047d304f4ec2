// Every way to stop an upload, at every moment: what its owner is told, that the service is told once, and that nothing
// is sent afterwards.

import assert from "node:assert/strict";
import { elsewhere, testbed } from "./support/bed.mjs";

const check = testbed({ at: elsewhere });

/**
 * A moment is reached under a fault that keeps the upload there: `asked` is what the service was asked last, `stored`
 * the storage, `stage` what is reported. The service gets so many reports in the end.
 */
const moments = [
  { name: "while the address is asked for", fault: "on=upload-url&delay_ms=300", asked: "POST", reports: 1 },
  { name: "while blocks are under way", fault: "on=block&bytes_per_s=100000", stored: "block", reports: 1 },
  { name: "while a single block is under way", fault: "on=blob&bytes_per_s=100000", stored: "blob", options: { blockSize: 8 << 20 }, reports: 1 },
  { name: "while a block waits to be sent again", fault: "on=block&status=503&retry_after=50", log: "trying a block again", reports: 1 },
  { name: "while the block list is stored", fault: "on=blocklist&delay_ms=600000", stored: "blocklist", reports: 1 },
  { name: "while it is paused", fault: "on=block&bytes_per_s=100000", stored: "block", paused: true, reports: 1 },
  // The report is finished, and here the service never answers it: another must not cross it.
  { name: "while it is reported", fault: "on=report&delay_ms=600000&times=1", asked: "PATCH", options: { timeout: 2_000 }, reports: 1, status: "uploading" },
  { name: "while it is processed", fault: "on=report&processing_ms=2000", options: { purpose: "rag", wait: true }, stage: "processing", reports: 1, status: "processing" },
];

/** What a page does to end an upload, and how done() tells it: by an AbortError, or the signal's own reason. */
const acts = {
  "abort()": { act: () => scene.upload.abort(), name: "AbortError" },
  "abort() twice": { act: () => Promise.all([scene.upload.abort(), scene.upload.abort()]), name: "AbortError" },
  "the signal": { act: () => scene.cancel.abort(new RangeError("enough of it")), name: "RangeError" },
  "close()": { act: () => scene.client.close(), name: "AbortError" },
};

/** Begins an upload, in the page as `scene`, and waits until it is where the moment wants it; gives the file's id where it is known. */
async function reach(page, service, { fault, options, asked, stored, stage, log, paused }, own) {
  const fileId = await page.evaluate(async (fault, options, asked, stage, log) => {
    const scene = (globalThis.scene = { asked: [], logs: [], cancel: new AbortController() });
    const fetch = lab.asking(scene.asked);
    let reached;
    const there = new Promise((resolve) => (reached = resolve));
    scene.client = lab.client({
      fetch: (url, init) => (init.method === asked && reached(), fetch(url, init)),
      onLog: ({ message }) => message === log && reached(),
    });
    scene.upload = scene.client.files.upload(new Blob([lab.bytes(1, 4 << 20)]), lab.fault(fault, { signal: scene.cancel.signal, blockSize: 1 << 20, ...options }));
    scene.seen = lab.watch(scene.upload);
    scene.upload.on("progress", (progress) => (stage ? progress.stage === stage : !asked && !log && scene.upload.fileId) && reached());
    await there;
    return scene.upload.fileId;
  }, fault, { ...options, ...own }, asked, stage, log);
  if (stored) await service.storageOnce(fileId, (requests) => requests.some(({ operation, bytes }) => operation === stored && (bytes > 0 || stored === "blocklist")));
  if (paused) {
    await page.evaluate(() => new Promise((resolve) => {
      scene.upload.on("progress", ({ stage }) => stage === "paused" && resolve());
      scene.upload.pause();
    }));
  }
  return fileId;
}

for (const moment of moments) {
  check(`an upload is stopped ${moment.name}`, async ({ page, service }) => {
    for (const [how, { act, name }] of Object.entries(acts)) {
      const before = await service.requests();
      await reach(page, service, moment);
      await page.evaluate(`globalThis.act = ${act}`);
      const { error, progress, fileId, end, open } = await page.evaluate(async () => {
        await act();
        return { ...(await scene.seen), open: lab.open() };
      });
      assert.deepEqual([how, error.name, progress.stage, end], [how, name, "aborted", true]);
      if (name === "RangeError") assert.equal(error.message, "enough of it");
      // The storage itself still reads what lies in its buffers.
      assert.equal(open, 0, "every request to the storage is over");
      const stored = await service.storage(fileId);
      const record = await service.file(fileId);
      assert.equal(record.status, moment.status ?? "upload_failed", how);
      if (!moment.status) assert.match(record.error, /abort/);
      // What is asked for now would come after whatever the upload still sent.
      await page.evaluate((id) => lab.client().files.get(id), fileId);
      const after = await service.requests();
      assert.deepEqual([how, after.uploadURLs - before.uploadURLs, after.reports - before.reports], [how, 1, moment.reports]);
      assert.equal((await service.storage(fileId)).length, stored.length, how);
    }
  });
}

check("an upload that is stopped before it sends anything sends nothing", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const reason = new RangeError("not now");
    const data = new Blob([lab.bytes(1, 20 << 20)]);
    const first = (upload) => new Promise((resolve) => upload.on("progress", resolve));
    const watched = {};
    const follow = async (name, upload, act = async () => {}) => {
      const seen = lab.watch(upload);
      await act(upload);
      watched[name] = await seen;
      watched[name].same = (await lab.settled(upload.done())).error === reason;
    };
    await follow("a signal that is aborted already", client.files.upload(data, { signal: AbortSignal.abort(reason) }));
    await follow("abort() before the module runs", client.files.upload(data), (upload) => upload.abort());
    await client.ready();
    await follow("abort() at once", client.files.upload(data), (upload) => upload.abort());
    await follow("abort() while the sum is computed first", client.files.upload(data, { checksum: "before" }), async (upload) => {
      await first(upload);
      await upload.abort();
    });
    await follow("abort() while the data is looked at", client.files.upload(data, { resumeKey: "a" }), (upload) => upload.abort());
    return watched;
  });
  for (const [name, { error, progress, same, fileId }] of Object.entries(seen)) {
    const signal = name.includes("signal");
    assert.deepEqual([name, error.name, progress.stage, same, fileId], [name, signal ? "RangeError" : "AbortError", "aborted", signal, undefined]);
  }
  assert.deepEqual(await service.requests(), before);
});

check("an upload that has ended is not changed by what comes later", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const cancel = new AbortController();
    const client = lab.client();
    const upload = client.files.upload(new Blob([lab.bytes(1, 3 << 20)]), { signal: cancel.signal, blockSize: 1 << 20 });
    const { id } = await upload.done();
    cancel.abort();
    await upload.abort();
    upload.pause();
    upload.resume();
    const { progress } = upload;
    client.close();
    return { id, progress, status: (await upload.done()).status, closed: await lab.refusal(() => client.files.upload(new Blob(["x"]))) };
  });
  assert.deepEqual([seen.progress.stage, seen.status, seen.closed.code], ["done", "ready", "client_closed"]);
  assert.equal((await service.file(seen.id)).status, "ready");
});

const blocks = moments.find(({ name }) => name === "while blocks are under way");

const leaving = {
  "is left for another": (page) => page.goto("about:blank"),
  "is loaded again": (page) => page.reload(),
  "is closed": (page) => page.close(),
};
for (const [name, leave] of Object.entries(leaving)) {
  check(`a page that ${name} tells the service of its upload`, async ({ page, service }) => {
    const fileId = await reach(page, service, blocks);
    await leave(page);
    const record = await service.fileOnce(fileId, "upload_failed");
    assert.match(record.error, /abort/);
  });

  check(`a page that ${name} leaves a file to the service that is stored already`, async ({ page, service }) => {
    const fileId = await reach(page, service, { fault: "on=report&delay_ms=500", asked: "PATCH" });
    await leave(page);
    await service.fileOnce(fileId, "ready");
  });
}

// A browser ends the requests of a page that is left, and its scripts hear of that still: no try is left that could be
// made again.
const kept = [
  { name: "has a resumeKey", own: { resumeKey: "k", blockTries: 1 }, client: {} },
  { name: 'is under pageHide: "disconnect"', own: { blockTries: 1 }, client: { pageHide: "disconnect" } },
];
for (const { name, own, client } of kept) {
  for (const at of [elsewhere, ({ origin }) => `${origin}/`]) {
    for (const moment of moments.filter(({ name }) => /blocks are|reported/.test(name))) {
      check(`a page ${at === elsewhere ? "elsewhere" : "of the service's own origin"} that is left ${moment.name} tells nothing of an upload that ${name}`, async ({ page, service }) => {
        await page.evaluate((client) => Object.assign(lab.settings, client), client);
        const before = await service.requests();
        const fileId = await reach(page, service, moment, own);
        await page.reload();
        await page.waitForFunction(() => "lab" in globalThis);
        const record = await page.evaluate((id) => lab.client().files.get(id), fileId);
        assert.equal(record.status, "uploading");
        // One may have been under way.
        assert.ok((await service.requests()).reports - before.reports <= (moment.asked === "PATCH" ? 1 : 0));
      }, { at });
    }
  }
}
