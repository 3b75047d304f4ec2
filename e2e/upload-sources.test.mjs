// Data that moves under the upload's hands, or comes from another frame: what is stored is what was given.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { bytes } from "./pages/bytes.js";
import { elsewhere, testbed } from "./support/bed.mjs";

const check = testbed({ at: elsewhere });

const size = 200_000;
const sum = createHash("sha256").update(bytes(1, size)).digest("hex");

check("a stream whose producer fills one buffer again and again", async ({ page, service }) => {
  for (const options of [{}, { blockSize: 50_000 }, { blockSize: 3_000, concurrency: 1 }]) {
    const seen = await page.evaluate((options, size) => {
      const data = lab.bytes(1, size);
      const buffer = new Uint8Array(7_001);
      let at = 0;
      // The Streams standard leaves a chunk to whoever reads it, but does not take the buffer from whoever made it.
      const stream = new ReadableStream({
        pull(controller) {
          if (at === data.length) return controller.close();
          const piece = data.subarray(at, (at += Math.min(buffer.length, data.length - at)));
          buffer.set(piece);
          controller.enqueue(buffer.subarray(0, piece.length));
        },
      }, { highWaterMark: 0 });
      return lab.upload(stream, { size, ...options });
    }, options, size);
    assert.equal(seen.error, undefined, JSON.stringify(seen.error));
    assert.deepEqual([seen.file.checksum, (await service.file(seen.fileId)).checksum], [sum, sum]);
  }
});

check("data of another frame", async ({ page, service }) => {
  const seen = await page.evaluate(async (size) => {
    const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    const bytes = lab.bytes(1, size);
    const view = new frame.Uint8Array(size);
    view.set(bytes);
    const data = {
      Uint8Array: view, ArrayBuffer: view.buffer, DataView: new frame.DataView(view.buffer),
      Blob: new frame.Blob([bytes]), File: new frame.File([bytes], "chosen.bin"),
      ReadableStream: new frame.ReadableStream({ start: (c) => (c.enqueue(view.slice()), c.close()) }),
      "ReadableStream of this one's": lab.stream(bytes),
    };
    const seen = {};
    for (const [what, one] of Object.entries(data)) seen[what] = await lab.upload(one, { size, blockSize: 50_000 });
    return seen;
  }, size);
  for (const [what, { error, fileId }] of Object.entries(seen)) {
    assert.equal(error, undefined, `${what}: ${JSON.stringify(error)}`);
    assert.deepEqual([what, (await service.file(fileId)).checksum], [what, sum]);
  }
});

check("an address and a module of another frame", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    const bytes = await (await fetch("/turnwire/turnwire.wasm")).arrayBuffer();
    const refused = await lab.refusal(() => lab.Turnwire.init({ wasmModule: new frame.Map() }));
    await lab.Turnwire.init({
      wasmModule: await frame.WebAssembly.compile(bytes),
      wasmURL: new frame.URL("/turnwire/turnwire.wasm", location.href), workerURL: new frame.URL("/turnwire/turnwire.worker.mjs", location.href),
    });
    const turn = await lab.follow((await lab.chat({ baseURL: new frame.URL(lab.settings.baseURL) })).send("count to 3"));
    return { refused: refused?.message, status: turn.status, text: turn.text };
  });
  assert.match(seen.refused, /^wasmModule must be a WebAssembly\.Module/);
  assert.deepEqual([seen.status, seen.text], ["completed", "1 2 3"]);
});

check("window.stop() fails a block, which is sent again", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    // So slow that nothing but the stop can end them; those sent after it are not slowed.
    const options = { ...lab.fault("on=block&times=2&bytes_per_s=1000"), blockSize: 1 << 20, concurrency: 2, blockTimeout: 0 };
    const asked = [];
    const upload = lab.client({ fetch: lab.asking(asked) }).files.upload(new Blob([lab.bytes(1, 3 << 20)]), options);
    const watched = lab.watch(upload);
    await new Promise((resolve) => upload.on("progress", ({ loadedBytes }) => loadedBytes > 0 && lab.open() >= 2 && resolve()));
    window.stop();
    return { ...(await watched), asked };
  });
  assert.equal(seen.error, undefined, JSON.stringify(seen.error));
  assert.equal(seen.file.status, "ready");
});
