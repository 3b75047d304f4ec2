// What a page gets wrong about an upload, and data that is not what it was: the error says which field or what happened,
// and no file is left half registered.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { bytes } from "./pages/bytes.js";
import { elsewhere, testbed } from "./support/bed.mjs";
import { temporaryFolder } from "./support/server.mjs";

const check = testbed({ at: elsewhere });

/** Of an upload in blocks of 1 MiB one after the other: the first is stored at once, the second takes half a second. */
const midway = { blockSize: 1 << 20, concurrency: 1, headers: { "X-Fault": "on=block&after=1&times=1&bytes_per_s=2000000" } };

const times = ["null", "NaN", "Infinity", "-1", "a string", "an object", "true"];
const counts = ["null", "NaN", "Infinity", "-1", "1.5", "a string", "an object", "true"];
const strings = ["null", "a number", "an empty string", "an array", "an object", "true", "a function"];
const functions = ["null", "a number", "a string", "an object", "true"];
const headers = ["null", "a number", "a string", "true", "a Set", "an array of strings", "a Map of numbers"];

/** Which wrong values each option must refuse; refusals() makes them. */
const request = { signal: ["null", "a number", "a string", "an object", "true"], timeout: times, maxRetries: counts, headers };
const uploadOptions = {
  ...request,
  workspaceId: strings, name: strings, contentType: strings, purpose: strings, resumeKey: strings,
  size: counts, blockSize: [...counts, "0"], concurrency: [...counts, "0"], blockTries: [...counts, "0"],
  blockTimeout: times,
  checksum: ["null", "a number", "an empty string", "a string", "an array", "an object"],
  checksumEncoding: ["null", "a number", "an empty string", "a string", "true"],
  wait: ["null", "a number", "an empty string", "a string", "an array"],
  onProgress: functions, mapUploadTicket: functions,
};
const waitOptions = { ...request, interval: [...times, "0"], maxInterval: [...times, "0"], waitTimeout: times, onStatus: functions };
const data = { data: ["undefined", "null", "a number", "a string", "an empty string", "an array", "an object", "true", "a function", "a promise", "a response"] };
const fileId = { fileId: ["undefined", "null", "a number", "an empty string", "an array", "."] };

const tables = {
  upload: ["an upload's", uploadOptions],
  "upload({ wait })": ["an upload's wait", waitOptions],
  data: ["an upload's data", data],
  wait: ["a wait's", waitOptions],
  "wait for": ["a file to wait for", fileId],
  get: ["a file to read", fileId],
};

for (const [call, [what, table]] of Object.entries(tables)) {
  check(`${what}: a value of a wrong type is refused by its name, and nothing is sent`, async ({ page, service }) => {
    const before = await service.requests();
    const refused = await page.evaluate(async (call, table) => {
      // Made here: not all of them would pass as JSON.
      const wrong = {
        undefined, null: null, "a number": 42, 0: 0, NaN, Infinity, "-1": -1, "1.5": 1.5, "an empty string": "", "a string": "text", ".": ".",
        "an array": [], "an object": {}, true: true, "a function": () => {}, "a promise": Promise.resolve(new Blob()), "a response": new Response("x"),
        "a Set": new Set(), "an array of strings": ["ab"], "a Map of numbers": new Map([["a", 1]]),
      };
      const { files } = lab.client();
      const run = {
        upload: (field, value) => files.upload(new Blob(["data"]), { [field]: value }),
        "upload({ wait })": (field, value) => files.upload(new Blob(["data"]), { wait: { [field]: value } }),
        data: (_, value) => files.upload(value),
        wait: (field, value) => files.wait("file_any", { [field]: value }),
        "wait for": (_, value) => files.wait(value),
        get: (_, value) => files.get(value),
      }[call];
      const out = [];
      for (const [field, names] of Object.entries(table)) {
        for (const name of names) {
          const error = await lab.refusal(() => run(field, wrong[name]));
          out.push({ what: `${field}: ${name}`, field, name: error?.name, code: error?.code, message: error?.message });
        }
      }
      return out;
    }, call, table);
    for (const { what, field, name, code, message } of refused) {
      assert.deepEqual([what, name, code], [what, "InvalidArgumentError", "invalid_argument"]);
      assert.ok(message.startsWith(`${field} must be `), `${what}: ${message}`);
    }
    assert.deepEqual(await service.requests(), before);
  });
}

check("an option that there is not is refused by its name, with the one that is near, and nothing is sent", async ({ page, service }) => {
  const before = await service.requests();
  const told = await page.evaluate(async () => {
    const { files } = lab.client();
    const blob = new Blob(["data"]);
    const calls = {
      "upload: blocksize": () => files.upload(blob, { blocksize: 1 }),
      "upload: conccurency": () => files.upload(blob, { conccurency: 1 }),
      "upload: filename": () => files.upload(blob, { filename: "a.txt" }),
      "upload({ wait }): maxIntervall": () => files.upload(blob, { wait: { maxIntervall: 1 } }),
      "upload({ wait }): resumeKey": () => files.upload(blob, { wait: { resumeKey: "a" } }),
      "wait: waitTimeOut": () => files.wait("file_any", { waitTimeOut: 1 }),
      "get: interval": () => files.get("file_any", { interval: 1 }),
      "taken: undefined": () => void files.upload(blob, { filename: undefined, signal: AbortSignal.abort(), wait: { filename: undefined } }),
    };
    const told = {};
    for (const [what, call] of Object.entries(calls)) told[what] = (await lab.refusal(call)) ?? "taken";
    return told;
  });
  const request = "signal, timeout, maxRetries, headers";
  const hints = {
    "upload: blocksize": "did you mean blockSize?",
    "upload: conccurency": "did you mean concurrency?",
    "upload: filename": `there are ${request}, workspaceId, name, contentType, purpose, size, blockSize, concurrency, blockTries, blockTimeout, dataTimeout, reportTimeout, ` +
      "checksum, checksumEncoding, wait, onProgress, mapUploadTicket, resumeKey",
    "upload({ wait }): maxIntervall": "did you mean maxInterval?",
    "upload({ wait }): resumeKey": `there are ${request}, interval, maxInterval, waitTimeout, onStatus`,
    "wait: waitTimeOut": "did you mean waitTimeout?",
    "get: interval": `there are ${request}`,
  };
  const refused = Object.entries(hints).map(([what, hint]) =>
    [what, `InvalidArgumentError invalid_argument: ${what.split(": ")[1]} must be left out, for there is no such option: ${hint}`]);
  assert.deepEqual(
    Object.fromEntries(Object.entries(told).map(([what, error]) => [what, error.message ? `${error.name} ${error.code}: ${error.message}` : error])),
    { ...Object.fromEntries(refused), "taken: undefined": "taken" },
  );
  assert.deepEqual(await service.requests(), before);
});

check("values that look right but can't be are refused", async ({ page, service }) => {
  const before = await service.requests();
  const told = await page.evaluate(async () => {
    const { files } = lab.client();
    const blob = new Blob(["data"]);
    const detached = new ArrayBuffer(8);
    const view = new Uint8Array(detached);
    structuredClone(detached, { transfer: [detached] });
    const locked = new ReadableStream();
    locked.getReader();
    const busy = files.upload(blob, lab.fault("delay_ms=60000", { resumeKey: "taken" }));
    const calls = {
      "size of another data": () => files.upload(blob, { size: 5 }),
      "size missing of a stream": () => files.upload(lab.stream(new Uint8Array(4))),
      "data of a stream that is locked": () => files.upload(locked, { size: 4 }),
      "data of a buffer that is detached": () => files.upload(detached),
      "data of a view that is detached": () => files.upload(view),
      "checksum of a stream ahead of it": () => files.upload(lab.stream(new Uint8Array(4)), { size: 4, checksum: "before" }),
      "checksum of 63 digits": () => files.upload(blob, { checksum: "0".repeat(63) }),
      "checksum of other digits": () => files.upload(blob, { checksum: "g".repeat(64) }),
      "contentType of more than ASCII": () => files.upload(blob, { contentType: "text/plain; name=größe" }),
      "workspaceId missing": () => lab.client({ workspaceId: undefined }).files.upload(blob),
      "workspaceId .": () => files.upload(blob, { workspaceId: "." }),
      "workspaceId ..": () => files.upload(blob, { workspaceId: ".." }),
      "options a string": () => files.upload(blob, "now"),
      "listener missing": () => busy.on("progress"),
      "resumeKey of other data under way": () => files.upload(new Blob(["other"]), { resumeKey: "taken" }),
    };
    const told = {};
    for (const [what, call] of Object.entries(calls)) told[what] = await lab.refusal(call);
    await busy.abort();
    return told;
  });
  for (const [what, error] of Object.entries(told)) {
    assert.deepEqual([what, error?.name, error?.code, error?.retryable], [what, "InvalidArgumentError", "invalid_argument", false]);
    assert.match(error.message, new RegExp(`^${what.split(" ")[0]} must be `), what);
  }
  const after = await service.requests();
  assert.ok(after.uploadURLs - before.uploadURLs <= 1, "the busy upload alone may have asked");
});

check("a wait's milliseconds: a fraction is none of none, and the largest number is one", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const record = (status) => async () => new Response(JSON.stringify({ file_id: "file_any", status }));
    const states = ["processing", "ready"];
    const most = await lab.client({ fetch: () => record(states.shift())() }).files.wait("file_any", { interval: 0.5, maxInterval: Number.MAX_VALUE, waitTimeout: Number.MAX_VALUE });
    const fraction = await lab.refusal(() => lab.client({ fetch: record("processing") }).files.wait("file_any", { interval: 0.1, waitTimeout: 0.9 }));
    return { most: most.status, fraction };
  });
  assert.equal(seen.most, "ready");
  assert.deepEqual([seen.fraction?.name, /\b1 ms\b/.test(seen.fraction?.message)], ["TimeoutError", true], JSON.stringify(seen.fraction));
});

/** Every file that the service registered for an upload is one of which it was told. */
async function toldOf(service, seen, what) {
  for (const { answer } of seen.asked.filter(({ path }) => path.endsWith("/upload-url"))) {
    const id = answer?.file_id ?? answer?.id ?? answer?.file?.file_id ?? answer?.file?.id;
    if (id) assert.deepEqual([what, (await service.file(id)).status], [what, "upload_failed"]);
  }
}

const unreadable = (seen, what) => assert.deepEqual(
  [what, seen.error?.name, seen.error?.code, seen.error?.retryable, seen.progress.stage, seen.error?.fileId], [what, "UploadError", "data_unreadable", false, "failed", seen.fileId],
  JSON.stringify(seen.error),
);

check("a stream that is not what was said of it", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const pieces = (...pieces) => new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece instanceof Error) controller.error(piece);
        else if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    }, { highWaterMark: 0 });
    const bytes = (n) => lab.bytes(1, n);
    const streams = {
      "is shorter": [pieces(bytes(3000)), /ended after 3000 of the 4000 bytes/],
      "is empty": [pieces(), /ended after 0 of the 4000 bytes/],
      "is longer": [pieces(bytes(3000), bytes(1001)), /more than the 4000 bytes/],
      "is not empty": [pieces(bytes(1)), /more than the 0 bytes/, 0],
      "gives strings": [pieces(bytes(1000), "text"), /no Uint8Array/],
      "gives null": [pieces(null), /no Uint8Array/],
      "gives other views": [pieces(new Uint16Array(2000)), /no Uint8Array/],
      "fails at once": [pieces(new Error("torn by the page")), /torn by the page/],
      "fails midway": [pieces(bytes(2500), new Error("torn by the page")), /torn by the page/],
    };
    const seen = {};
    for (const [what, [stream, message, size = 4000]] of Object.entries(streams)) {
      seen[what] = { ...(await lab.upload(stream, { size, blockSize: 1000 })), says: message.source };
    }
    return seen;
  });
  for (const [what, one] of Object.entries(seen)) {
    unreadable(one, what);
    assert.match(one.error.message, new RegExp(one.says), what);
    await toldOf(service, one, what);
  }
});

check("a buffer that is taken away, or given another size", async ({ page, service }) => {
  const seen = await page.evaluate(async (midway) => {
    const seen = {};
    const spoil = {
      "is detached": [new ArrayBuffer(4 << 20), (buffer) => structuredClone(buffer, { transfer: [buffer] })],
      "shrinks": [new ArrayBuffer(4 << 20, { maxByteLength: 8 << 20 }), (buffer) => buffer.resize(1000)],
      "grows": [new ArrayBuffer(4 << 20, { maxByteLength: 8 << 20 }), (buffer) => buffer.resize(5 << 20)],
    };
    for (const [what, [buffer, act]] of Object.entries(spoil)) {
      const asked = [];
      const client = lab.client({ fetch: lab.asking(asked) });
      const upload = client.files.upload(buffer, midway);
      const watched = lab.watch(upload);
      await new Promise((resolve) => upload.on("progress", ({ blocksDone }) => blocksDone > 0 && resolve()));
      act(buffer);
      seen[what] = { ...(await watched), asked };
    }
    return seen;
  }, midway);
  for (const [what, one] of Object.entries(seen)) {
    unreadable(one, what);
    await toldOf(service, one, what);
  }
});

let folder;
before(() => (folder = temporaryFolder("bad-input")));
after(() => folder?.remove());

/** What happens to a file on the disk: before its upload, or while it is paused after its first block. */
const spoiled = {
  "is written anew": (path) => writeFileSync(path, bytes(2, 4 << 20)),
  "is cut": (path) => writeFileSync(path, "short"),
  "is removed": (path) => rmSync(path),
};
for (const [what, spoil] of Object.entries(spoiled)) {
  for (const at of [elsewhere, undefined]) {
    check(`a file that ${what} on the disk, ${at ? "with the storage elsewhere" : "at the page's own origin"}`, async ({ page, service }) => {
      const path = join(folder.path, `${what}.bin`);
      for (const when of ["before", "midway"]) {
        writeFileSync(path, bytes(1, 4 << 20));
        await page.evaluate(() => document.body.replaceChildren(Object.assign(document.createElement("input"), { type: "file" })));
        await (await page.$("input")).uploadFile(path);
        // Chromium may look at a chosen file when the page first does.
        assert.equal(await page.$eval("input", ({ files }) => files[0].size), 4 << 20);
        if (when === "before") spoil(path);
        await page.evaluate(async (options, midway) => {
          const scene = (globalThis.scene = { asked: [] });
          scene.upload = lab.client({ fetch: lab.asking(scene.asked) }).files.upload(document.querySelector("input").files[0], options);
          scene.seen = lab.watch(scene.upload);
          if (!midway) return;
          await new Promise((resolve) => scene.upload.on("progress", ({ blocksDone }) => blocksDone > 0 && resolve()));
          scene.upload.pause();
        }, midway, when === "midway");
        if (when === "midway") spoil(path);
        const seen = await page.evaluate(async () => {
          scene.upload.resume();
          return { ...(await scene.seen), asked: scene.asked };
        });
        unreadable(seen, when);
        assert.match(seen.error.message, /changed or removed/);
        await toldOf(service, seen, when);
      }
    }, at ? { at } : { at: ({ origin }) => `${origin}/` });
  }
}
