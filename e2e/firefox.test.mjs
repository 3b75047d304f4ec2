// The package in Firefox: another engine's fetch, streams, XMLHttpRequest, workers and WebAssembly.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { after, before, test } from "node:test";
import puppeteer from "puppeteer-core";
import { bytes } from "./pages/bytes.js";
import { elsewhere } from "./support/bed.mjs";
import { Service, top } from "./support/service.mjs";

let service, browser, page;

before(async () => {
  service = await Service.start("-web", join(top, "e2e", "pages"), "-pace", "2ms");
  browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: execFileSync("sh", ["-c", "command -v firefox-esr"], { encoding: "utf8" }).trim(),
    headless: true,
  });
  page = await browser.newPage();
  await page.goto(service.origin);
  await page.waitForFunction(() => "lab" in globalThis);
}, { timeout: 120_000 });

after(async () => {
  await browser?.close();
  await service?.close();
});

test("a turn with tools comes whole, event by event", async () => {
  // As text: WebDriver BiDi gives an object that two lists hold only once.
  const seen = JSON.parse(await page.evaluate(async () =>
    JSON.stringify(await lab.follow((await lab.chat()).send("What is 17 × 23, and what time is it in Tokyo?")))));
  assert.equal(seen.status, "completed");
  assert.match(seen.text, /\*\*391\*\*/);
  assert.deepEqual(seen.toolCalls.map(({ name, status }) => `${name} ${status}`), ["calculator finished", "clock finished"]);
  assert.deepEqual(seen.taken, seen.heard);
  assert.equal(seen.heard.at(-1).type, "turn_complete");
});

test("abort stops the turn at the service", async () => {
  const chat = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("count to 100000");
    await new Promise((resolve) => turn.on("update", () => turn.text && resolve()));
    await turn.abort();
    return [turn.chatId, (await turn.done()).status];
  });
  assert.equal(chat[1], "cancelled");
  assert.equal((await service.over(chat[0])).status, "cancelled");
});

test("a cut stream is interrupted, and goes on where the service replays it", async () => {
  const [interrupted, replayed] = await page.evaluate(async () => {
    const ends = [];
    for (const resume of ["never", "replay"]) {
      const turn = (await lab.chat({ maxRetries: 2 })).send("count to 50", lab.fault("cut_events=20&times=1", { resume }));
      await turn.done().catch(() => {});
      ends.push({ status: turn.status, text: turn.text });
    }
    return ends;
  });
  const whole = Array.from({ length: 50 }, (_, i) => i + 1).join(" ");
  assert.equal(interrupted.status, "interrupted");
  assert.ok(whole.startsWith(interrupted.text));
  assert.deepEqual(replayed, { status: "completed", text: whole });
});

// The one goes by fetch, the other by XMLHttpRequest.
for (const [where, address] of [["at the page's own origin", ({ origin }) => origin], ["at another origin", elsewhere]]) {
  test(`an upload to a storage ${where} arrives, and one that is aborted is told of`, async (t) => {
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto(address(service));
    await page.waitForFunction(() => "lab" in globalThis);
    const size = 20 << 20;
    const seen = JSON.parse(await page.evaluate(async (size) => {
      const { fileId, protocol, file, error, progress, reports } = await lab.upload(new Blob([lab.bytes(9, size)]), { blockSize: 3 << 20 });
      const upload = lab.client().files.upload(new Blob([lab.bytes(9, size)]), lab.fault("on=block&bytes_per_s=10000", { blockSize: 3 << 20 }));
      await new Promise((resolve) => upload.on("progress", () => upload.fileId && resolve()));
      await upload.abort();
      const aborted = await lab.refusal(() => upload.done());
      return JSON.stringify({ fileId, protocol, file, error, progress, reports, aborted: [upload.fileId, aborted.name], open: lab.open() });
    }, size));
    const sum = createHash("sha256").update(bytes(9, size)).digest("hex");
    assert.deepEqual([seen.error, seen.file?.checksum, seen.file?.status, seen.progress.loadedBytes], [undefined, sum, "ready", size]);
    assert.deepEqual([(await service.file(seen.fileId)).status, (await service.storage(seen.fileId)).filter(({ operation, status }) => operation === "block" && status === 201).length], ["ready", 7]);
    const loaded = seen.reports.map(({ loadedBytes }) => loadedBytes);
    assert.deepEqual(loaded, loaded.toSorted((a, b) => a - b));
    assert.deepEqual([seen.aborted[1], seen.open], ["AbortError", 0]);
    assert.equal((await service.file(seen.aborted[0])).status, "upload_failed");
  });
}
