// From the click that opens a page to its first message's leaving: nothing is cached, and the page sends at once.

import { brotliCompressSync } from "node:zlib";
import { tasks } from "../e2e/support/tasks.mjs";
import { builds, go } from "./builds.mjs";
import { bound, median, most, ratio } from "./figures.mjs";
import { pageOf } from "./pages.mjs";
import { serve, types } from "./serve.mjs";

const rounds = Number(process.env.ROUNDS ?? 9);

const ours = "turnwire";
/** Client, and whether the fetch of its module begins with the page, as is recommended. */
const contenders = {
  [ours]: { client: ours, preload: true },
  "turnwire, no preload": { client: ours },
  ...(go && { "turnwire, Go's build": { client: "turnwire, Go's build", preload: true } }),
  openai: { client: "openai" },
  "openai + @azure/storage-blob": { client: "openai + @azure/storage-blob" },
  ai: { client: "ai" },
};
const names = Object.keys(contenders);

/** Bytes a second, ms, and how many times slower the page's thread is; least is what of others' times ours may take once. */
const conditions = {
  "on a phone: 150 ms, 1.6 Mbit/s, a CPU of a quarter": {
    network: { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 }, slower: 4,
    least: { openai: 1, "openai + @azure/storage-blob": 1.3 },
  },
  "on loopback": { least: { openai: 1 } },
};

/** What answers each client's message, by its path: two words, and the end. */
const answers = {
  "/v1/chats/c/messages": [{ type: "text_delta", data: { chunk: "Forty-two" } }, { type: "turn_complete", data: {} }],
  "/openai/v1/chat/completions": [{ choices: [{ delta: { content: "Forty-two" } }] }, "[DONE]"],
  "/ai/chat": [{ type: "start" }, { type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "Forty-two" }, { type: "text-end", id: "t" }, { type: "finish" }, "[DONE]"],
};

const preloads = {
  wasm: (name) => `<link rel=preload as=fetch type=application/wasm crossorigin href=${name}>`,
  mjs: (name) => `<link rel=modulepreload href=${name}>`,
};
const kind = (name) => name.split(".").at(-1);

/** Every contender's page below /N/, compressed ahead of time. */
async function pages() {
  const files = {};
  const put = (path, type, data) => (files[path] = { type, data: brotliCompressSync(data) });
  for (const [i, { client, preload }] of Object.values(contenders).entries()) {
    const hints = preload ? builds[client].map((name) => preloads[kind(name)](name)) : [];
    put(`/${i}/`, "text/html", Buffer.from(`<!doctype html><title>start</title><link rel=icon href=data:,>${hints.join("")}<script type=module src=app.js></script><input type=file><output></output>`));
    for (const [name, data] of Object.entries(await pageOf(client))) put(`/${i}/${name}`, types[kind(name)], data);
  }
  return files;
}

/** Serves them, and answers messages. `asked` is how often each path was asked for since it was emptied. */
async function servePages(files) {
  const served = { asked: {} };
  return Object.assign(served, await serve(({ url, method }, response) => {
    served.asked[url] = (served.asked[url] ?? 0) + 1;
    if (method === "POST" && answers[url]) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      return response.end(answers[url].map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join(""));
    }
    const file = files[url];
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": file.type, "content-encoding": "br", "content-length": file.data.length, "cache-control": "no-store" }).end(file.data);
  }));
}

/** Ahead of every script: marks where the scripts begin, and where the first message leaves. */
function markMessage() {
  const { fetch } = globalThis;
  performance.mark("scripts");
  globalThis.fetch = (...args) => {
    if (args[1]?.method?.toUpperCase() === "POST") performance.mark("message");
    return fetch(...args);
  };
}

/** One start in a context of its own: ms until the message left, or where it is traced those of the longest task on the way there. */
async function measure(browser, served, number, { network, slower = 1 }, traced = false) {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    page.on("pageerror", (error) => console.error(names[number], error));
    await page.evaluateOnNewDocument(markMessage);
    const cdp = await page.createCDPSession();
    if (network) {
      await cdp.send("Network.enable");
      await cdp.send("Network.emulateNetworkConditions", network);
    }
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: slower });
    served.asked = {};
    const start = async () => {
      await page.goto(`${served.origin}/${number}/`);
      await page.waitForFunction(() => document.querySelector("output").textContent === "Forty-two", { polling: "mutation" });
    };
    const trace = traced ? await tasks(page, start) : await start();
    const twice = Object.entries(served.asked).filter(([, times]) => times > 1);
    if (twice.length > 0) throw new Error(`${names[number]}: asked for more than once: ${twice}`);
    if (!trace) return await page.evaluate(() => performance.getEntriesByName("message")[0].startTime);
    const [scripts, message] = ["scripts", "message"].map((name) => trace.marks.findLast((mark) => mark.name === name).at);
    return most(trace.tasks.filter(({ at, until }) => until > scripts && at < message).map(({ ms }) => ms));
  } finally {
    await context.close();
  }
}

/** Every contender's rounds. The order rotates, so that none always follows the same other; a first round is for the browser. */
async function race(browser, served, condition, traced) {
  const figures = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const number = (i + round + names.length) % names.length;
      const figure = await measure(browser, served, number, condition, traced);
      if (round >= 0) figures[names[number]].push(figure);
    }
  }
  return figures;
}

export async function starts(browser) {
  const served = await servePages(await pages());
  try {
    for (const [where, condition] of Object.entries(conditions)) {
      const times = await race(browser, served, condition);
      console.log(`\nStart ${where}, ${rounds} rounds: ms until the message leaves (median); to ${ours}'s (median; quartiles)`);
      for (const [name, list] of Object.entries(times)) {
        console.log(`  ${name.padEnd(30)} ${median(list).toFixed(0).padStart(6)}   ${ratio(list, times[ours], condition.least[name])}`);
      }
    }
    console.log(`\nThe longest task of the page's thread from its first script to the message, ${rounds} rounds: ms of its own time (median; most)`);
    for (const [name, list] of Object.entries(await race(browser, served, {}, true))) {
      const asked = name === ours ? bound(median(list) <= 20, "at most 20") : "";
      console.log(`  ${name.padEnd(30)} ${median(list).toFixed(1).padStart(6)} (${most(list).toFixed(1)})${asked}`);
    }
  } finally {
    await served.close();
  }
}
