// Data that comes slowly is not the store's fault: blockTimeout counts what is on the wire, dataTimeout the source's silence.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { bytes } from "./pages/bytes.js";
import { testbed } from "./support/bed.mjs";
import { Files, first, held } from "./support/files.mjs";

const files = new Files();
before(() => files.start());
after(() => files.close());
const check = testbed({ at: files.page });

const size = 3_000, block = 1_000;

/**
 * Uploads a stream that gives pieces of so many bytes and rests before some of them: rests[i] milliseconds before piece i, -1
 * for ever. Says too what the source was asked for in the end, and what was logged.
 */
const upload = (page, { piece, rests }, options) => page.evaluate(async ({ size, piece, rests, options }) => {
  const data = lab.bytes(1, size), logs = [];
  let at = 0, index = 0, cancelled = false;
  const stream = new ReadableStream({
    async pull(controller) {
      const rest = rests[index++];
      if (rest) await new Promise((resolve) => rest > 0 && setTimeout(resolve, rest));
      if (at < size) controller.enqueue(data.slice(at, (at += piece)));
      else controller.close();
    },
    cancel: () => void (cancelled = true),
  }, { highWaterMark: 0 });
  const seen = await lab.upload(stream, { size, signal: AbortSignal.timeout(20_000), ...options }, { onLog: ({ message }) => logs.push(message) });
  return { ...seen, cancelled, logs };
}, { size, piece, rests, options: { blockSize: block, ...options } });

function judge({ error, file, logs }) {
  assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
  assert.ok(files.registered[0].stored.equals(bytes(1, size)));
  assert.equal(files.of("block").length, Math.ceil(size / block), "no block was sent twice");
  assert.equal(logs.includes("trying a block again"), false);
  assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
}

for (const [when, rests] of Object.entries({ "its first byte": [2_500], "a block in the middle": [0, 2_500], "its last byte": [0, 0, 2_500] })) {
  check(`a stream that gives ${when} only after blockTimeout does not fail as a slow store`, async ({ page }) => {
    files.script();
    judge(await upload(page, { piece: block, rests }, { blockTimeout: 1_000 }));
  });
}

check("a stream that trickles is not silent, however long a block takes", async ({ page }) => {
  files.script();
  // Five rests a block: longer together than either limit, and each shorter than the source's.
  judge(await upload(page, { piece: 200, rests: Array.from({ length: 15 }, (_, i) => (i < 10 ? 400 : 0)) }, { blockTimeout: 1_500, dataTimeout: 1_500 }));
});

check("no limit is set to the source by dataTimeout: 0", async ({ page }) => {
  files.script();
  judge(await upload(page, { piece: block, rests: [0, 2_500] }, { blockTimeout: 1_000, dataTimeout: 0 }));
});

const silences = { "no byte at all": [-1], "nothing after its first block": [0, -1], "nothing in the middle of a block": [0, 0, 0, -1] };
for (const [when, rests] of Object.entries(silences)) {
  check(`a stream that gives ${when} for dataTimeout fails by its own name, and the service is told`, async ({ page }) => {
    files.script();
    const seen = await upload(page, { piece: rests.length === 4 ? 400 : block, rests }, { dataTimeout: 1_500, blockTimeout: 1_000 });
    const { error, progress, fileId, cancelled, logs } = seen;
    assert.deepEqual([error?.name, error?.code, error?.stage, progress.stage], ["UploadError", "data_timeout", "uploading", "failed"], JSON.stringify(error));
    assert.equal(error.fileId, fileId);
    assert.match(error.message, /dataTimeout/);
    assert.equal(logs.includes("trying a block again"), false, "nothing was wrong with the store");
    assert.equal(cancelled, true, "the source is let go");
    const { record } = files.registered[0];
    assert.deepEqual([record.status, files.counts("report", "failure")], ["upload_failed", { report: 0, failure: 1 }]);
    assert.match(record.error, /dataTimeout/);
  });
}

check("a Blob that can't be read on fails by the source's name too", async ({ page }) => {
  files.script();
  const { error } = await page.evaluate(() => {
    // Such as a file of a drive that has gone to sleep: the browser neither reads it nor says so.
    const silent = new Blob([lab.bytes(1, 3_000)]);
    const { slice } = silent;
    silent.slice = (...range) => Object.assign(slice.apply(silent, range), { arrayBuffer: () => new Promise(() => {}), stream: () => new ReadableStream() });
    return lab.upload(silent, { blockSize: 1_000, dataTimeout: 800, signal: AbortSignal.timeout(20_000) });
  });
  assert.deepEqual([error?.name, error?.code], ["UploadError", "data_timeout"], JSON.stringify(error));
  assert.equal(files.registered[0].record.status, "upload_failed");
});

check("a store that takes a block and does not answer is still the store's fault, while the source rests", async ({ page }) => {
  files.script({ block: first(held) });
  const { error, logs } = await upload(page, { piece: block, rests: [0, 3_000] }, { blockTimeout: 1_000, dataTimeout: 20_000 });
  assert.equal(error, undefined, JSON.stringify(error));
  assert.ok(logs.includes("trying a block again"));
  assert.equal(files.of("block").length, Math.ceil(size / block) + 1);
});

check("a source's silence is not counted while the upload waits for the store", async ({ page }) => {
  // With one block at a time, nobody asks the stream for more until the first is stored.
  files.script({ block: first((request, response, { usual }) => void setTimeout(usual, 2_500)) });
  judge(await upload(page, { piece: block, rests: [] }, { dataTimeout: 1_000, concurrency: 1 }));
});
