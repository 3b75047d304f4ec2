// `node bench/run.mjs [sizes] [start] [plane] [turn] [latency] [upload] [memory]`, all by default: what is compared runs in
// one Chromium, in rotated order; the ratio is the median of the rounds' ratios. ROUNDS=n changes their number,
// UPLOAD_MIB=256 uploads one size only.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { bundle, defines, wasmExecPlugin } from "../web/build.mjs";
import { bound, everyBoundMet, median, most, quantile } from "./figures.mjs";
import { memory } from "./memory.mjs";
import { sizes } from "./sizes.mjs";
import { starts } from "./start.mjs";
import { uploads } from "./upload.mjs";

const top = join(import.meta.dirname, "..");
const rounds = Number(process.env.ROUNDS ?? 15);

function table(title, { events, times }, base, least) {
  console.log(`\n${title}: ${events.toLocaleString("en")} events, ${rounds} rounds, Mevents/s (median), ratio to ${base} (median; quartiles)`);
  for (const [chunking, sides] of Object.entries(times)) {
    console.log(`  ${chunking}`);
    for (const [name, list] of Object.entries(sides)) {
      const ratios = list.map((t, i) => sides[base][i] / t);
      const at = (q) => quantile(ratios, q).toFixed(2);
      const asked = name === "turnwire" ? least[chunking.split(" ")[0]] : undefined;
      const met = asked === undefined ? "" : bound(median(ratios) >= asked, `at least ${asked}`);
      console.log(`    ${name.padEnd(20)} ${(events / median(list) / 1000).toFixed(2).padStart(6)}   ${at(0.5)} (${at(0.25)}–${at(0.75)})${met}`);
    }
  }
}

const work = join(top, ".cache");
mkdirSync(work, { recursive: true });
const profile = mkdtempSync(join(work, "bench-"));
await bundle({
  entryPoints: [join(top, "bench/src/page.ts")], outfile: join(profile, "page.js"), format: "esm",
  plugins: [wasmExecPlugin], define: defines("bench"),
});
const files = {
  "/": ["text/html", "<!doctype html><title>bench</title><script type=module src=/page.js></script>"],
  "/page.js": ["text/javascript", readFileSync(join(profile, "page.js"))],
  "/turnwire.wasm": ["application/wasm", readFileSync(join(top, "web/dist/turnwire.wasm"))],
};
const server = createServer((request, response) => {
  const file = files[request.url];
  if (!file) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": file[0] }).end(file[1]);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const chromium = execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: join(profile, "profile"),
  protocolTimeout: 0,
  // Recorded traffic would be a part of the page's memory.
  networkEnabled: false,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const open = async () => {
  const page = await browser.newPage();
  page.on("pageerror", (error) => { console.error(error); process.exitCode = 1; });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction("globalThis.benchLatency");
  return page;
};
const parts = {
  sizes,
  start: () => starts(browser),
  async plane() {
    const page = await open();
    table("Data plane", await page.evaluate((n) => benchDataPlane(n), rounds), "eventsource-parser", { one: 0.9, 16: 1, random: 1 });
    await page.close();
  },
  async turn() {
    const page = await open();
    table("Whole turn", await page.evaluate((n) => benchTurn(n), rounds), "openai", { one: 1.3, 16: 3, random: 3 });
    await page.close();
  },
  async latency() {
    const page = await open();
    const waits = await page.evaluate(() => benchLatency(5));
    const at = (q) => quantile(waits, q).toFixed(2);
    console.log(`\nLatency at 1,000 events a second, chunk enqueued to handler, ${waits.length} events: median ${at(0.5)} ms, 99 % ${at(0.99)} ms, most ${at(1)} ms${bound(most(waits) <= 10, "at most 10")}`);
    await page.close();
  },
  upload: () => uploads(browser, profile),
  memory: () => memory(browser),
};
try {
  console.log(`${await browser.version()}, Node ${process.version}, ${["openai", "ai", "eventsource-parser", "@azure/storage-blob", "tus-js-client"].map((name) => `${name} ${version(name)}`).join(", ")}`);
  for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)) await parts[name]();
} finally {
  await browser.close();
  server.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
console.log(everyBoundMet() ? "\nevery bound met" : "\nsome bound was MISSED");
process.exitCode ||= everyBoundMet() ? 0 : 1;

function version(name) {
  return JSON.parse(readFileSync(join(top, "node_modules", name, "package.json"), "utf8")).version;
}
