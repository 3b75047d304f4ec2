// A wait for a file lasts as long as its caller said: what may pass is waited out, what can't pass ends it, and the options of
// an upload's wait are those of its polls.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { testbed } from "./support/bed.mjs";
import { answer, Files, first, held, lost } from "./support/files.mjs";

const files = new Files();
before(() => files.start());
after(() => files.close());
const check = testbed({ at: files.page });

const away = answer(503, { error: { message: "not now" } });
const processing = (_, __, { file }) => Object.assign(file.record, { status: "processing" });
const ready = (_, __, { file }) => Object.assign(file.record, { status: "ready" });

/** Polls that fail in these ways come before the one that says ready. */
const polls = (...ways) => (request, response, step) => (ways[step.n] ?? ready)(request, response, step);

/** Two ways to wait for the same file, each with a wait's options. What hangs is ended by the test. */
const ways = {
  "files.wait": (page, wait) => page.evaluate(async (wait) => {
    const client = lab.client();
    const { id } = await client.files.upload(new Blob(["data"])).done();
    const { error, value } = await lab.settled(client.files.wait(id, { interval: 50, signal: AbortSignal.timeout(20_000), ...wait }));
    return { file: value, error: error && lab.told(error) };
  }, wait),
  "upload({ wait })": (page, wait) => page.evaluate((wait) =>
    lab.upload(new Blob(["data"]), { signal: AbortSignal.timeout(20_000), wait: { interval: 50, ...wait } }), wait),
};

const troubles = {
  "one slow poll": { read: polls(held), wait: { timeout: 800 } },
  "slow polls": { read: polls(held, held, held), wait: { timeout: 800 } },
  "a connection that breaks": { read: polls(lost, lost) },
  "a while of 503": { read: polls(...Array(6).fill(away)) },
  "429 and a while of silence": { read: polls(answer(429, {}), answer(408, {}), answer(425, {}), answer(500, {}), answer(502, {}), answer(504, {})) },
  "an answer that says when to come again": { read: polls(answer(503, {}, { "retry-after": "1" })) },
  "a bit of everything": { read: polls(processing, lost, processing, away, held, processing), wait: { timeout: 800 } },
};
for (const [how, run] of Object.entries(ways)) {
  for (const [what, { read, wait }] of Object.entries(troubles)) {
    check(`${how} waits ${what} out`, async ({ page }) => {
      files.script({ read, report: processing });
      const { error, file } = await run(page, wait);
      assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
      assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
    });
  }

  for (const [what, read] of Object.entries({ "answered 503": away, "not answered": held, "broken off": lost })) {
    check(`${how} ends after waitTimeout where every poll is ${what}`, async ({ page }) => {
      files.script({ read, report: processing });
      const { error } = await run(page, { waitTimeout: 1_500, timeout: 500 });
      assert.deepEqual([error?.name, error?.code, error?.retryable], ["TimeoutError", "wait_timeout", true], JSON.stringify(error));
      assert.ok(files.of("read").length > 1, "it was asked again");
      assert.deepEqual(files.counts("failure"), { failure: 0 });
    });
  }

  for (const status of [400, 403, 404, 410]) {
    check(`${how} ends at once where a poll is answered ${status}`, async ({ page }) => {
      files.script({ read: answer(status, {}), report: processing });
      const { error } = await run(page);
      assert.equal(error?.status, status, JSON.stringify(error));
      assert.equal(files.of("read").length, 1);
    });
  }
}

check("the wait of an upload ends with its own signal, and the service is told nothing", async ({ page }) => {
  files.script({ report: processing });
  await page.evaluate(() => {
    const scene = (globalThis.scene = { cancel: new AbortController() });
    scene.client = lab.client();
    scene.upload = scene.client.files.upload(new Blob(["data"]), { wait: { interval: 50, signal: scene.cancel.signal }, signal: AbortSignal.timeout(20_000) });
    scene.seen = lab.watch(scene.upload);
  });
  await files.once("read");
  const seen = await page.evaluate(async () => {
    scene.cancel.abort(new RangeError("waited enough"));
    const seen = await scene.seen;
    // Whatever the end told the service has left ahead of this.
    await scene.client.files.get("file0");
    return seen;
  });
  assert.deepEqual([seen.error?.name, seen.error?.message, seen.file], ["RangeError", "waited enough", undefined], JSON.stringify(seen.error));
  assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
});

check("the headers of an upload's wait go with its polls", async ({ page }) => {
  files.script({ read: polls(processing, processing), report: processing });
  const { error } = await page.evaluate(() =>
    lab.upload(new Blob(["data"]), { headers: { "x-step": "upload" }, wait: { interval: 50, headers: { "x-step": "wait" } }, signal: AbortSignal.timeout(20_000) }));
  assert.equal(error, undefined, JSON.stringify(error));
  const sent = (step) => files.of(step).map(({ headers }) => headers["x-step"]);
  assert.deepEqual([sent("register"), sent("report"), sent("read")], [["upload"], ["upload"], ["wait", "wait", "wait"]]);
});

check("the timeout of an upload's wait is that of its polls alone", async ({ page }) => {
  files.script({ read: polls(held), report: (request, response, step) => void setTimeout(() => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(processing(request, response, step)));
  }, 1_500) });
  const { error, file } = await page.evaluate(() => lab.upload(new Blob(["data"]), { wait: { interval: 50, timeout: 700 }, signal: AbortSignal.timeout(20_000) }));
  assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
  assert.deepEqual(files.counts("report", "read"), { report: 1, read: 2 });
});

check("the maxRetries of an upload's wait are those of its polls", async ({ page }) => {
  files.script({ read: polls(away, away), report: processing });
  // Left to the intervals, the second poll would come in ten minutes.
  const wait = { interval: 600_000, maxInterval: 600_000, maxRetries: 2 };
  const { error, file } = await page.evaluate((wait) => lab.upload(new Blob(["data"]), { maxRetries: 0, wait, signal: AbortSignal.timeout(20_000) }), wait);
  assert.deepEqual([error, file?.status], [undefined, "ready"], JSON.stringify(error));
  assert.equal(files.of("read").length, 3);
});
