// The module's own memory, in the page and in the worker: what many turns, a long one and a large upload make of it, and how
// long they hold the page up in one call. A collector's pause would be seen in both.

import { join } from "node:path";
import { builds, dist, watchModule } from "./builds.mjs";
import { bound, most, quantile } from "./figures.mjs";
import { fill, folderWith, MiB } from "./file.mjs";
import { isolate, serve, types } from "./serve.mjs";

const turns = 10_000;
const samples = 10;
const size = 1024 * MiB;
/** Bytes of a long turn's text. */
const length = 20_000_000;
/** What a module may take after the first fifth, where it has found its size. */
const growth = MiB;

/**
 * Serves the package, and is the service and a store that keeps nothing. `reported` is what the service was told of the last file.
 */
async function servePackage() {
  const served = {};
  const page = `<!doctype html><title>memory</title><link rel=icon href=data:,><input type=file><script>calls = []; (${watchModule})()</script>`;
  const files = { "/": ["text/html", page], "/turnwire.worker.mjs": [types.mjs, `(${watchModule})();\n${dist("turnwire.worker.mjs")}`] };
  for (const name of ["turnwire.mjs", ...Object.values(builds).flat()]) files[`/${name}`] = [types[name.split(".").at(-1)], dist(name)];
  const json = (response, value) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  return Object.assign(served, await serve(async (request, response) => {
    const { method, url } = request;
    isolate(response);
    let body = "";
    for await (const chunk of request) if (!url.startsWith("/store")) body += chunk;
    if (files[url]) response.writeHead(200, { "content-type": files[url][0] }).end(files[url][1]);
    else if (url.endsWith("/upload-url")) json(response, { file_id: "f", upload_url: `${served.origin}/store?sig=s`, protocol: "azure-block" });
    else if (method === "PUT") response.writeHead(201).end();
    else if (method === "PATCH") json(response, { file_id: "f", ...(served.reported = JSON.parse(body)) });
    else response.writeHead(404).end();
  }));
}

/** In the page: a client whose messages are answered there, with reasoning, a tool call and text in chunks of any length. */
async function prepare(wasmURL) {
  const { AgentClient, init } = await import("/turnwire.mjs");
  await init({ wasmURL });
  const events = [
    ...Array.from({ length: 30 }, (_, i) => ({ type: "reasoning_delta", data: { chunk: `thought ${i} ` } })),
    { type: "tool_call_started", data: { id: "t", name: "search" } },
    ...Array.from({ length: 8 }, () => ({ type: "tool_call_delta", data: { id: "t", delta: "wörter " } })),
    { type: "tool_call", data: { id: "t", name: "search", arguments: { query: "größer" } } },
    { type: "tool_result", data: { id: "t", result: { found: Array.from({ length: 20 }, (_, i) => ({ title: `page ${i}` })) } } },
    ...Array.from({ length: 200 }, (_, i) => ({ type: "text_delta", data: { chunk: `word ${i} ` } })),
    { type: "turn_complete", data: {} },
  ];
  const encode = (events) => new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  const bytes = encode(events);
  const body = () => {
    let at = 0, length = 1;
    return new ReadableStream({
      pull(controller) {
        controller.enqueue(bytes.slice(at, (at += length = (length * 7) % 1009)));
        if (at >= bytes.length) controller.close();
      },
    });
  };
  const answering = (body) => new AgentClient({ baseURL: "/", fetch: async () => new Response(body(), { headers: { "content-type": "text/event-stream" } }) });
  const chat = answering(body).chats.open("c");
  globalThis.runTurns = async (count) => {
    for (let i = 0; i < count; i++) {
      const turn = chat.send("hi");
      let seen = 0;
      for await (const _ of turn) seen++;
      if (seen !== events.length) throw new Error(`a turn had ${seen} events, not ${events.length}`);
    }
    return moduleBytes();
  };
  globalThis.runLongTurn = async (length) => {
    const part = encode(Array.from({ length: 16 }, () => ({ type: "text_delta", data: { chunk: "word ".repeat(200) } })));
    const end = encode([{ type: "turn_complete", data: {} }]);
    let left = length / 16_000;
    const body = () => new ReadableStream({
      pull(controller) {
        controller.enqueue((left > 0 ? part : end).slice());
        if (left-- === 0) controller.close();
      },
    });
    const turn = answering(body).chats.open("c").send("hi");
    for await (const _ of turn);
    const { text } = await turn.done();
    if (text.length !== length) throw new Error(`a turn had ${text.length} bytes of text, not ${length}`);
    return moduleBytes();
  };
  const uploading = new AgentClient({ baseURL: "/", apiKey: "key", workspaceId: "w" });
  globalThis.upload = () => uploading.files.upload(document.querySelector("input").files[0], { blockSize: 8 << 20 });
}

/** What the module's memory was along an upload, in the page and in the worker. */
async function upload(page, path) {
  await (await page.$("input")).uploadFile(path);
  const running = page.evaluate(() => (globalThis.uploaded = upload().done()).then(() => undefined));
  let ended = false;
  const end = running.finally(() => (ended = true));
  const memory = { page: [], worker: [] };
  while (!ended) {
    memory.page.push(await page.evaluate(() => moduleBytes()));
    const [worker] = page.workers();
    const bytes = await worker?.evaluate(() => globalThis.moduleBytes?.());
    if (bytes) memory.worker.push(bytes);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await end;
  return memory;
}

const inMiB = (bytes) => (bytes / MiB).toFixed(2);

function report(what, along) {
  const early = along[Math.ceil(along.length / 5) - 1];
  const shown = Array.from({ length: 5 }, (_, i) => inMiB(along[Math.round((i * (along.length - 1)) / 4)]));
  console.log(`  ${what.padEnd(44)} ${shown.join(" ")}${bound(most(along) - early <= growth, "at most 1 more after the first fifth")}`);
}

export async function memory(browser) {
  const source = folderWith(size + (1 << 28), "another part of the bench");
  const served = await servePackage();
  try {
    const path = join(source.path, "file");
    const sha256 = await fill(path, size);
    console.log(`\nMemory of the module, in MiB at five moments: ${turns.toLocaleString("en")} turns of 242 events, then ${size / MiB} MiB uploaded`);
    for (const [name, [module]] of Object.entries(builds)) {
      const context = await browser.createBrowserContext();
      try {
        const page = await context.newPage();
        await page.goto(`${served.origin}/`);
        await page.evaluate(prepare, `/${module}`);
        await page.evaluate(() => void (calls.length = 0));
        const along = [];
        for (let i = 0; i < samples; i++) along.push(await page.evaluate((count) => runTurns(count), turns / samples));
        report(`${name}: turns`, along);
        const calls = await page.evaluate(() => globalThis.calls.splice(0));
        const late = quantile(calls, 0.99);
        console.log(`  ${`${name}: ${calls.length.toLocaleString("en")} calls`.padEnd(44)} 99 % ${late.toFixed(3)} ms${bound(late <= 5, "at most 5")}, most ${most(calls).toFixed(1)} ms, ${calls.filter((ms) => ms > 5).length} over 5 ms`);
        const { page: inPage, worker } = await upload(page, path);
        if (served.reported?.checksum !== sha256) throw new Error(`${name} reported ${JSON.stringify(served.reported)} of other bytes`);
        report(`${name}: upload, in the page`, inPage);
        report(`${name}: upload, in the worker`, worker);
        await page.evaluate(() => void (calls.length = 0));
        const after = await page.evaluate((length) => runLongTurn(length), length);
        const longest = most(await page.evaluate(() => calls));
        console.log(`  ${`${name}: a turn of ${length / 1e6} MB of text`.padEnd(44)} ${inMiB(after)} MiB after it, the longest call ${longest.toFixed(1)} ms${name === "turnwire" ? bound(longest <= 40, "at most 40") : ""}`);
      } finally {
        await context.close();
      }
      delete served.reported;
    }
  } finally {
    await served.close();
    source.remove();
  }
}
