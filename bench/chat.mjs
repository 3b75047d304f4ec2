// A chat of React while its answer comes at 1,000 events a second: what the page's thread does for it, how often it renders,
// and the frames that it misses. The same words at the same pace for each, in the events of its own protocol.

import { join } from "node:path";
import { build } from "esbuild";
import { top } from "../scripts/gowasm.mjs";
import { dist } from "./builds.mjs";
import { median, most, quantile, ratio } from "./figures.mjs";
import { serve, types } from "./serve.mjs";

const rounds = Number(process.env.ROUNDS ?? 9);
const events = 3_000;
/** Of an answer ahead of the one that counts. */
const warming = 500;
/** Milliseconds between two frames. */
const period = 1_000 / 60;

/** The script of each page, and what its address says. */
const contenders = {
  "turnwire/react": "react",
  "ai-sdk, turnwire/ai-sdk": "ai-sdk-turnwire",
  "ai-sdk, turnwire/ai-sdk, throttle: 50": "ai-sdk-turnwire?50",
  "ai-sdk, DefaultChatTransport": "ai-sdk-default",
  "ai-sdk, DefaultChatTransport, throttle: 50": "ai-sdk-default?50",
};
const names = Object.keys(contenders);

const words = ["the ", "answer ", "is ", "streamed ", "as ", "it ", "is ", "generated, ", "größer ", "日本 "];
const word = (i) => words[i % words.length];
const lengthOf = (count) => Array.from({ length: count }, (_, i) => word(i).length).reduce((a, b) => a + b);

/** By the path of each protocol's message: what comes before the words, each word, and the end. */
const protocols = {
  "/v1/chats/c/messages": {
    before: [],
    word: (chunk) => ({ type: "text_delta", data: { chunk } }),
    after: [{ type: "turn_complete", data: {} }],
  },
  "/ai/chat": {
    before: [{ type: "start" }, { type: "start-step" }, { type: "text-start", id: "t" }],
    word: (delta) => ({ type: "text-delta", id: "t", delta }),
    after: [{ type: "text-end", id: "t" }, { type: "finish-step" }, { type: "finish" }],
  },
};

async function script(name) {
  const from = (kit) => join(top, "node_modules", kit);
  const { outputFiles: [file] } = await build({
    entryPoints: [join(import.meta.dirname, "src/chat", `${name}.tsx`)],
    bundle: true, minify: true, format: "esm", platform: "browser", target: "es2022", jsx: "automatic", write: false, logLevel: "warning",
    // One React, whoever asks for it: the package is developed with the oldest that it takes.
    alias: { react: from("react"), "react-dom": from("react-dom") },
    define: { "process.env.NODE_ENV": '"production"' },
    external: ["*/turnwire.go.mjs"],
  });
  return file.contents;
}

/** Serves the pages, and answers each message with so many words as `served.events` says, 1,000 a second, each a write of its own. */
async function servePages() {
  const files = { "/turnwire.wasm": [types.wasm, dist("turnwire.wasm")] };
  for (const name of new Set(Object.values(contenders).map((page) => page.split("?")[0]))) {
    files[`/${name}`] = ["text/html", `<!doctype html><meta charset=utf-8><title>${name}</title><link rel=icon href=data:,><main></main><script type=module src=/${name}.js></script>`];
    files[`/${name}.js`] = [types.js, await script(name)];
  }
  const served = { events: 0 };
  return Object.assign(served, await serve(({ url, method }, response) => {
    const protocol = method === "POST" && protocols[url];
    if (protocol) return stream(response, protocol, served.events);
    const file = files[url.split("?")[0]];
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": file[0] }).end(file[1]);
  }));
}

function stream(response, { before, word: made, after }, count) {
  const write = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1", "cache-control": "no-store" });
  before.forEach(write);
  const began = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    for (; sent < count && performance.now() - began >= sent; sent++) write(made(word(sent)));
    if (sent < count) return;
    clearInterval(timer);
    after.forEach(write);
    response.end();
  }, 1);
  response.once("close", () => clearInterval(timer));
}

/** One answer on a page of its own, the second one there. */
async function measure(browser, served, name) {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    page.on("pageerror", (error) => { console.error(name, error); process.exitCode = 1; });
    await page.goto(`${served.origin}/${contenders[name]}`);
    await page.waitForFunction(() => globalThis.ask);
    const ask = (count) => {
      served.events = count;
      return page.evaluate((length) => ask(length), lengthOf(count));
    };
    await ask(warming);
    const cdp = await page.createCDPSession();
    // The thread's own time: by the clock it is also as long as others take the core.
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    const spent = async () => Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value * 1_000]));
    const before = await spent();
    const { renders, again, frames } = await ask(events);
    const after = await spent();
    const gaps = frames.slice(1).map((time, i) => time - frames[i]);
    return {
      thread: after.TaskDuration - before.TaskDuration,
      scripts: after.ScriptDuration - before.ScriptDuration,
      renders, again,
      frames: frames.length,
      missed: gaps.reduce((missed, gap) => missed + Math.round(gap / period) - 1, 0),
      longest: most(gaps),
    };
  } finally {
    await context.close();
  }
}

export async function chats(browser) {
  const served = await servePages();
  try {
    const figures = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < names.length; i++) {
        // None follows one other more often than it goes before it.
        const lap = Math.floor(round / names.length) % 2 ? names.toReversed() : names;
        const name = lap[(i + round) % names.length];
        figures[name].push(await measure(browser, served, name));
      }
    }
    const of = (name, figure) => figures[name].map((round) => round[figure]);
    const base = "ai-sdk, DefaultChatTransport";
    console.log(`\nChat in React, ${events.toLocaleString("en")} events at 1,000 a second, ${rounds} rounds: ms of the page's thread (median; quartiles), of it in scripts, to ${base} (median; quartiles)`);
    for (const name of names) {
      const thread = of(name, "thread");
      const at = (q) => quantile(thread, q).toFixed(0);
      console.log(`  ${name.padEnd(44)} ${at(0.5).padStart(5)} (${at(0.25)}–${at(0.75)}), scripts ${median(of(name, "scripts")).toFixed(0).padStart(5)}   ${ratio(thread, of(base, "thread"))}`);
    }
    console.log("  renders, of them in a frame that had one; frames, missed, the longest gap in ms (medians)");
    for (const name of names) {
      const figure = (which, digits = 0) => median(of(name, which)).toFixed(digits).padStart(5);
      console.log(`  ${name.padEnd(44)} ${figure("renders")} ${figure("again")}   ${figure("frames")} ${figure("missed")} ${figure("longest", 1)}`);
    }
  } finally {
    await served.close();
  }
}
