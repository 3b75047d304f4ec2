// `node bench/run.mjs [sizes] [start] [plane] [turn] [latency] [chat] [hash] [upload] [memory] [speed]`, all by default: what is compared
// runs in one Chromium, in rotated order; the ratio is the median of the rounds' ratios. Plane, turn, latency and hash (SHA-256
// of bytes in memory) run both builds of the module: the small one may not be slower. ROUNDS=n changes the number of rounds,
// UPLOAD_MIB=256 uploads one size only.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { bundle, defines } from "../web/build.mjs";
import { builds, dist } from "./builds.mjs";
import { chats } from "./chat.mjs";
import { bound, everyBoundMet, median, most, quantile, ratio } from "./figures.mjs";
import { speed } from "./lighthouse.mjs";
import { memory } from "./memory.mjs";
import { isolate, serve, types } from "./serve.mjs";
import { sizes } from "./sizes.mjs";
import { starts } from "./start.mjs";
import { uploads } from "./upload.mjs";

const top = join(import.meta.dirname, "..");
const rounds = Number(process.env.ROUNDS ?? 15);

const [small, standard] = Object.keys(builds);

/** Says how much faster the small build is than Go's own, where there is one. */
const toStandard = (times) => (standard ? `   to Go's build ${ratio(times[standard], times[small], 1)}` : "");

/** times are ms for so many units: a list of rounds of each side, by what they are given. */
function table(title, unit, { amount, times }, base, least = {}) {
  console.log(`\n${title}: ${amount.toLocaleString("en")} ${unit}, ${rounds} rounds, M${unit}/s (median), ratio to ${base} (median; quartiles)`);
  for (const [chunking, sides] of Object.entries(times)) {
    console.log(`  ${chunking}`);
    for (const [name, list] of Object.entries(sides)) {
      const ours = name === small;
      const ratios = ratio(sides[base], list, ours ? least[chunking.split(" ")[0]] : undefined) + (ours ? toStandard(sides) : "");
      console.log(`    ${name.padEnd(20)} ${(amount / median(list) / 1000).toFixed(2).padStart(6)}   ${ratios}`);
    }
  }
}

const work = join(top, ".cache");
mkdirSync(work, { recursive: true });
const profile = mkdtempSync(join(work, "bench-"));
const files = { "/": ["text/html", "<!doctype html><title>bench</title><link rel=icon href=data:,><script type=module src=/page.js></script>"] };
for (const name of ["page", "turnwire"]) {
  const outfile = join(profile, `${name}.js`);
  await bundle({ entryPoints: [join(top, `bench/src/${name}.ts`)], outfile, format: "esm", define: defines("bench"), inject: ["src/import.ts"] });
  files[`/${name}.js`] = [types.js, readFileSync(outfile)];
}
for (const name of Object.values(builds).flat()) files[`/${name}`] = [types[name.split(".").at(-1)], dist(name)];
const served = await serve((request, response) => {
  const file = files[request.url.split("?")[0]];
  isolate(response);
  if (!file) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": file[0] }).end(file[1]);
});
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
  await page.goto(`${served.origin}/`);
  await page.waitForFunction("globalThis.benchLatency");
  await page.evaluate((modules) => prepareBuilds(modules), Object.fromEntries(Object.entries(builds).map(([name, [module]]) => [name, module])));
  return page;
};
const parts = {
  sizes,
  start: () => starts(browser),
  async plane() {
    const page = await open();
    table("Data plane", "events", await page.evaluate((n) => benchDataPlane(n), rounds), "eventsource-parser", { one: 0.9, 16: 1, random: 1 });
    await page.close();
  },
  async turn() {
    const page = await open();
    table("Whole turn", "events", await page.evaluate((n) => benchTurn(n), rounds), "openai", { one: 1.3, 16: 3, random: 3 });
    await page.close();
  },
  async latency() {
    const page = await open();
    const events = Math.ceil(5_000 / rounds);
    const waits = await page.evaluate((...args) => benchLatency(...args), rounds, events);
    const medians = Object.fromEntries(Object.entries(waits).map(([name, list]) => [name, list.map(median)]));
    console.log(`\nLatency at 1,000 events a second, ${rounds} rounds of ${events.toLocaleString("en")} events: ms from a chunk's being enqueued to its handler`);
    for (const [name, list] of Object.entries(waits)) {
      const all = list.flat();
      const at = (q) => quantile(all, q).toFixed(3);
      const asked = name === small ? bound(most(all) <= 10, "at most 10") + toStandard(medians) : "";
      console.log(`  ${name.padEnd(20)} median ${at(0.5)}, 99 % ${at(0.99)}, most ${at(1)}${asked}`);
    }
    await page.close();
  },
  chat: () => chats(browser),
  async hash() {
    const page = await open();
    table("SHA-256", "B", await page.evaluate((n) => benchHash(n), rounds), "WebCrypto");
    await page.close();
  },
  upload: () => uploads(browser, profile),
  memory: () => memory(browser),
  speed: () => speed(browser),
};
try {
  console.log(`${await browser.version()}, Node ${process.version}, ${["openai", "ai", "@ai-sdk/react", "react", "eventsource-parser", "@azure/storage-blob", "tus-js-client"].map((name) => `${name} ${version(name)}`).join(", ")}`);
  for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)) await parts[name]();
} finally {
  await browser.close();
  await served.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
console.log(everyBoundMet() ? "\nevery bound met" : "\nsome bound was MISSED");
process.exitCode ||= everyBoundMet() ? 0 : 1;

function version(name) {
  return JSON.parse(readFileSync(join(top, "node_modules", name, "package.json"), "utf8")).version;
}
