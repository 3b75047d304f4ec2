// The client inside of workers: a dedicated one, a shared one, and a service worker, which has no XMLHttpRequest and makes no
// worker of its own.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { Host, packaged } from "./support/host.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

const worker = `
import { AgentClient } from "/pkg/turnwire.mjs";

async function use(baseURL) {
  const client = new AgentClient({ baseURL, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
  const chat = await client.chats.create();
  const { text, status } = await chat.send("count to 3").done();
  const long = chat.send("count to 100000");
  await new Promise((resolve) => long.on("text_delta", resolve));
  await long.abort();
  const upload = client.files.upload(new Blob([new Uint8Array(5 << 20).fill(7)]), { name: "a", blockSize: 1 << 20, resumeKey: "a" });
  const { id } = await upload.done();
  return { chat: chat.id, text, status, stopped: (await long.done()).status, id, stage: upload.progress.stage, has: [typeof XMLHttpRequest, typeof Worker] };
}

const answer = (port, baseURL) => use(baseURL).then((seen) => port.postMessage(seen), (error) => port.postMessage({ error: String(error) }));
globalThis.onmessage = ({ data, source }) => answer(source ?? globalThis, data);
globalThis.onconnect = ({ ports: [port] }) => (port.onmessage = ({ data }) => answer(port, data));
`;

/** In the page, by the kind of worker: says it where the service is, and gives what it says. */
const kinds = {
  "a dedicated worker": async (baseURL) => {
    const worker = new Worker("/worker.mjs", { type: "module" });
    const said = new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
    worker.postMessage(baseURL);
    return said;
  },
  "a shared worker": async (baseURL) => {
    const { port } = new SharedWorker("/worker.mjs", { type: "module" });
    const said = new Promise((resolve) => (port.onmessage = ({ data }) => resolve(data)));
    port.postMessage(baseURL);
    return said;
  },
  "a service worker": async (baseURL) => {
    await navigator.serviceWorker.register("/worker.mjs", { type: "module" });
    const { active } = await navigator.serviceWorker.ready;
    const said = new Promise((resolve) => (navigator.serviceWorker.onmessage = ({ data }) => resolve(data)));
    active.postMessage(baseURL);
    return said;
  },
};

for (const [name, run] of Object.entries(kinds)) {
  check(`in ${name} a turn, a stop and an upload`, async ({ browser, service }) => {
    const host = await Host.start({ ...packaged(), "/": { headers: { "content-type": "text/html" }, body: "<!doctype html><title>workers</title>" }, "/worker.mjs": { body: worker } });
    try {
      const page = await browser.open(`${host.origin}/`);
      const { chat, id, has, ...seen } = await page.evaluate(run, service.origin);
      assert.deepEqual(seen, { text: "1 2 3", status: "completed", stopped: "cancelled", stage: "done" });
      assert.deepEqual(has, name === "a service worker" ? ["undefined", "undefined"] : ["function", name === "a dedicated worker" ? "function" : has[1]]);
      assert.equal((await service.over(chat)).status, "cancelled");
      assert.match((await service.file(id)).checksum, /^[0-9a-f]{64}$/);
      await page.browserContext().close();
    } finally {
      await host.close();
    }
  });
}
