// What an upload says of its progress over a slow network: never less than before, the whole at the end, ten to sixty times a
// second while bytes move, and a time left that comes true.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { elsewhere, testbed } from "./support/bed.mjs";
import { engine } from "./support/engines.mjs";

const MiB = 1 << 20;
const size = 8 * MiB, rate = 3 * MiB;

/** Makes the page's network take so many bytes a second in all; only Chromium's can be. */
async function slow(page) {
  if (engine !== "chromium") return;
  const cdp = await page.createCDPSession();
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: rate });
}

/** Uploads, and notes when what was reported, and when the page's own requests told that bytes had moved. */
const upload = (page, { kind = "Blob", pauseAt, ...options }) => page.evaluate(async (size, kind, pauseAt, options) => {
  const moves = [];
  const { send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.send = function (body) {
    this.upload.addEventListener("progress", () => moves.push(performance.now()));
    return send.call(this, body);
  };
  const reports = [], odd = [];
  const upload = lab.client().files.upload(lab.kinds[kind](lab.bytes(1, size)), {
    size, ...options,
    onProgress: (progress) => {
      reports.push({ at: performance.now(), ...progress });
      if (!Object.isFrozen(progress) || upload.progress !== progress) odd.push(progress);
    },
  });
  let heard = 0;
  upload.on("progress", () => heard++);
  if (pauseAt) {
    const pause = ({ loadedBytes }) => {
      if (loadedBytes < pauseAt) return;
      upload.off("progress", pause);
      upload.on("progress", ({ stage }) => stage === "paused" && upload.resume());
      upload.pause();
    };
    upload.on("progress", pause);
  }
  const { id, status, size: stored } = await upload.done();
  return { reports, moves, odd, heard, id, status, stored };
}, size, kind, pauseAt, options);

/** What holds of every upload; gives its reports while it sent. */
function judge({ reports, odd, heard, status, stored }, blocks) {
  assert.deepEqual([status, stored, odd, heard], ["ready", size, [], reports.length]);
  for (const name of ["loadedBytes", "blocksDone", "blocksTotal"]) {
    const values = reports.map((report) => report[name]);
    assert.deepEqual(values, values.toSorted((a, b) => a - b), name);
  }
  for (const { stage, loadedBytes, totalBytes, blocksDone, blocksTotal, bytesPerSecond, secondsLeft } of reports) {
    assert.ok(loadedBytes <= totalBytes && blocksDone <= blocksTotal && blocksDone * (size / blocks) <= loadedBytes, `${blocksDone} blocks, ${loadedBytes} bytes`);
    assert.equal(totalBytes, size);
    if (stage !== "uploading") assert.equal(bytesPerSecond, 0, stage);
    if (bytesPerSecond === 0) assert.equal(secondsLeft, undefined);
    else assert.ok(Math.abs(secondsLeft - (totalBytes - loadedBytes) / bytesPerSecond) < 1e-6, `${secondsLeft} s`);
  }
  const last = reports.at(-1);
  assert.deepEqual([last.stage, last.loadedBytes, last.blocksDone, last.blocksTotal], ["done", size, blocks, blocks]);
  return reports.filter(({ stage }) => stage === "uploading");
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

describe("over requests that tell their bytes", () => {
  const check = testbed({ at: elsewhere });

  for (const [name, options, blocks] of [
    ["blocks side by side", { blockSize: MiB }, 8],
    ["a single block", { blockSize: size }, 1],
    ["one PUT", { headers: { "X-Fault": "ticket=put" } }, 1],
    ["a stream", { blockSize: MiB, kind: "ReadableStream" }, 8],
  ]) {
    check(`how often, and how true: ${name}`, async ({ page, t }) => {
      await slow(page);
      const seen = await upload(page, options);
      const sending = judge(seen, blocks);
      const { moves } = seen;
      // Where the page itself stood still, or the network, nothing could be said.
      const moving = moves.slice(1).reduce((sum, at, i) => sum + Math.min(at - moves[i], 100), 0) / 1000;
      const meanwhile = sending.filter(({ at }) => at >= moves[0] && at <= moves.at(-1));
      const span = (moves.at(-1) - moves[0]) / 1000;
      t.diagnostic(`${meanwhile.length} reports in ${span.toFixed(2)} s, ${moving.toFixed(2)} of them with bytes`);
      assert.ok(moving > 1, `bytes moved for ${moving} s`);
      assert.ok(meanwhile.length >= 10 * moving, `${meanwhile.length} reports while bytes moved for ${moving} s`);
      assert.ok(meanwhile.length <= 60 * span + 1, `${meanwhile.length} reports in ${span} s`);

      const known = sending.filter(({ loadedBytes, secondsLeft }) => loadedBytes < 0.8 * size && secondsLeft !== undefined);
      const end = sending.at(-1).at;
      const off = median(known.map(({ at, secondsLeft }) => Math.abs(at + secondsLeft * 1000 - end) / 1000));
      assert.ok(off < span / 2, `the end was foretold ${off} s off, over ${span} s`);
    });
  }

  for (const [name, fault] of Object.entries({
    "cut midway": "on=block&times=3&cut_bytes=300000",
    "whose answer is lost": "on=block&times=3&lost_answer=1",
  })) {
    check(`a block ${name} is sent again and counts once`, async ({ page, service }) => {
      await slow(page);
      const seen = await upload(page, { blockSize: MiB, headers: { "X-Fault": fault } });
      judge(seen, 8);
      const blocks = (await service.storage(seen.id)).filter(({ operation, method }) => operation === "block" && method === "PUT");
      assert.equal(blocks.length, 8 + 3);
    });
  }

  check("a pause takes nothing back", async ({ page }) => {
    await slow(page);
    const seen = await upload(page, { blockSize: MiB, pauseAt: size / 2 });
    judge(seen, 8);
    const stages = seen.reports.map(({ stage }) => stage).filter((stage, i, all) => stage !== all[i - 1]);
    assert.deepEqual(stages, ["preparing", "uploading", "paused", "uploading", "reporting", "done"]);
  });
});

describe("over requests that tell none", () => {
  const check = testbed({ flags: ["-storage-public", "page"] });
  check("each block counts once it is stored", async ({ page }) => {
    await slow(page);
    const seen = await upload(page, { blockSize: MiB, concurrency: 1 });
    judge(seen, 8);
    const told = [...new Set(seen.reports.map(({ loadedBytes }) => loadedBytes))];
    // Blocks that come faster than reports may are told of together.
    const steps = Array.from({ length: 9 }, (_, i) => i * MiB);
    if (engine === "chromium") assert.deepEqual(told, steps);
    else assert.deepEqual(told.filter((loaded) => !steps.includes(loaded)), []);
  });
});
