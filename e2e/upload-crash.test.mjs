// A crash of the module while files are uploaded, at every place where JavaScript calls it: all that waits rejects, no
// request to the storage goes on, the next instance tells the service, and what has a resumeKey is gone on with.

import assert from "node:assert/strict";
import { elsewhere, testbed } from "./support/bed.mjs";
import { hooked, testModule } from "./support/test-module.mjs";

const moduleOptions = testModule();
const check = testbed({ at: elsewhere, before: hooked });

/** Two uploads with blocks under way, one of them with a resumeKey, a wait and a read, in the page as `scene`. */
async function setScene(page, options) {
  await page.evaluate(async (options) => {
    await lab.Turnwire.init(options);
    const client = lab.client();
    const data = new Blob([lab.bytes(1, 4 << 20)]);
    const { id } = await client.files.upload(new Blob(["done before"])).done();
    // A browser keeps six connections to a host, and the service is at the same.
    const slow = { blockSize: 1 << 20, concurrency: 2, headers: { "X-Fault": "on=block&times=2&bytes_per_s=10000" } };
    const uploads = [client.files.upload(data, slow), client.files.upload(data, { ...slow, resumeKey: "kept" })];
    await Promise.all(uploads.map((upload) => new Promise((resolve) => upload.on("progress", ({ loadedBytes }) => loadedBytes > 0 && resolve()))));
    const cancel = new AbortController();
    // Under the fault the file is never ready.
    let wait;
    await new Promise((resolve) => {
      wait = client.files.wait(id, lab.fault("on=file&file_status=embedding", { interval: 60_000, maxInterval: 60_000, signal: cancel.signal, onStatus: resolve }));
    });
    const read = client.files.get(id, lab.fault("on=file&delay_ms=600000"));
    globalThis.scene = { client, data, id, uploads, cancel, pending: [wait, read] };
    scene.more = (promise) => void scene.pending.push(promise);
    scene.upload = (options, data = new Blob([lab.bytes(2, 3 << 20)])) => scene.more(client.files.upload(data, { blockSize: 1 << 20, concurrency: 1, ...options }).done());
  }, options);
}

/** What the page does to bring the module to a point. */
const points = {
  startUpload: () => scene.upload(),
  pauseUpload: () => scene.uploads[0].pause(),
  resumeUpload: () => scene.uploads[0].resume(),
  abortUpload: () => scene.uploads[0].abort(),
  storeProgress: () => scene.upload(),
  storeAnswered: () => scene.upload(),
  storeFailed: () => scene.upload({ headers: { "X-Fault": "on=block&refuse=1" } }),
  hashed: () => scene.upload(),
  dataFailed: () => scene.upload({ size: 10 }, new ReadableStream({ pull: (controller) => controller.error(new Error("torn")) })),
  ticketMapped: () => scene.upload({ mapUploadTicket: (raw) => ({ fileId: raw.file_id, url: raw.upload_url }) }),
  uploadRecord: () => scene.upload({ resumeKey: "another" }),
  getFile: () => scene.more(scene.client.files.get(scene.id)),
  waitFile: () => scene.more(scene.client.files.wait(scene.id)),
  cancelCall: () => scene.cancel.abort(),
  wentOffline: () => dispatchEvent(new Event("offline")),
  wentOnline: () => dispatchEvent(new Event("online")),
};

async function crash(page, service, point, act, { how = "", options = {} } = {}) {
  await setScene(page, { ...moduleOptions(), ...options });
  await page.evaluate(`globalThis.act = ${act}`);
  const seen = await page.evaluate(async (crash) => {
    const { client, data, uploads, pending } = scene;
    performance.turnwireCrash = crash;
    act();
    const errors = await Promise.all([...uploads.map((upload) => upload.done()), ...pending].map((promise) => lab.refusal(() => promise)));
    const seen = {
      asked: performance.turnwireCrash,
      errors: errors.map((error) => [error?.name, error?.code]),
      stages: uploads.map((upload) => upload.progress.stage),
      open: lab.open(),
      ids: uploads.map((upload) => upload.fileId),
      late: await lab.refusal(() => uploads[0].abort()),
    };
    // The same client goes on.
    const next = client.files.upload(data, { blockSize: 1 << 20 });
    const again = client.files.upload(data, { blockSize: 1 << 20, resumeKey: "kept" });
    seen.next = await lab.settled(next.done());
    seen.again = await lab.settled(again.done());
    return seen;
  }, how ? `${point}:${how}` : point);

  assert.equal(seen.asked, "", "the module reached the point");
  for (const [i, error] of seen.errors.entries()) assert.deepEqual([i, ...error], [i, "RuntimeCrashError", "runtime_crashed"]);
  assert.deepEqual([seen.stages, seen.open, seen.late], [["failed", "failed"], 0, undefined]);
  const [given, kept] = seen.ids;
  assert.match((await service.fileOnce(given, "upload_failed")).error, /module stopped working/);
  assert.deepEqual([seen.next.value?.status, seen.again.value?.status, seen.again.value?.id], ["ready", "ready", kept], JSON.stringify([seen.next.error, seen.again.error]));
}

for (const [point, act] of Object.entries(points)) {
  check(`a panic in ${point}`, ({ page, service }) => crash(page, service, point, act));
}

for (const point of ["startUpload", "storeAnswered"]) {
  check(`out of memory in ${point}`, ({ page, service }) => crash(page, service, point, points[point], { how: "memory" }));
}

// Where there is no worker the page's own instance computes the sums.
for (const [point, how] of [["hashBegin", ""], ["hashEnd", ""], ["hashEnd", "memory"]]) {
  const act = () => scene.upload({}, new Blob([lab.bytes(3, 20 << 20)]));
  check(`${how ? "out of memory" : "a panic"} in ${point}`, ({ page, service }) => crash(page, service, point, act, { how, options: { workerURL: false } }));
}
