// Uploads of a file beside other clients: the same bytes from the same file input, to the same kind of store.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { taskTimes } from "../e2e/support/tasks.mjs";
import { bundle } from "../web/build.mjs";
import { watchModule } from "./builds.mjs";
import { bound, median, most } from "./figures.mjs";
import { fill, folderWith, MiB } from "./file.mjs";
import { openLane, ways } from "./upload-lane.mjs";
import { peakDuring, processOf } from "./upload-memory.mjs";

const blockSize = 8 * MiB;
const concurrency = 4;
/** Blocks under way, and what a page and its worker need besides. */
const memory = concurrency * blockSize + 32 * MiB;
const rounds = Number(process.env.ROUNDS ?? 3);
const sizes = (process.env.UPLOAD_MIB ?? "256,1024").split(",").map((n) => Number(n) * MiB);
// None of the others computes a checksum: what it costs is told beside.
const ours = "turnwire", plain = "turnwire, no checksum";
const own = [ours, plain];
const contenders = [...own, "@azure/storage-blob", "tus-js-client", "one PUT"];

/** Waits until the browser has nothing to do, for a minute at most: with a window it loads pages of its own, for seconds. */
async function settled(browser) {
  const client = await browser.target().createCDPSession();
  const worked = async () => (await client.send("SystemInfo.getProcessInfo")).processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  for (let i = 0, last = await worked(), idle = false; !idle && i < 120; i++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = await worked();
    idle = now - last < 0.025;
    last = now;
  }
  await client.detach();
}

/** One upload in a process of its own: { took, longTasks, peak, module }, or where it is traced, which takes time of its own, { longest }. */
async function measure(browser, lane, contender, path, traced = false) {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    // The service lets its pages reach the storage that it knows, and no other.
    await page.setBypassCSP(true);
    await page.evaluateOnNewDocument(watchModule);
    await page.goto(`${lane.service.origin}/`);
    await page.waitForFunction("globalThis.benchUpload");
    await (await page.$("input")).uploadFile(path);
    const id = await processOf(page);
    const cdp = await page.createCDPSession();
    await cdp.send("HeapProfiler.collectGarbage");
    await settled(browser);
    const way = { signed: lane.blobs.signed(`by ${contender}`), files: `${lane.files.origin}/files`, blockSize, concurrency };
    const prepare = () => page.evaluate((name, way) => prepareUpload(name, way), contender, way);
    const run = () => page.evaluate(() => benchUpload());
    if (traced) {
      await prepare();
      return { longest: most(await taskTimes(page, run)) };
    }
    const figures = await peakDuring(id, () => prepare().then(run));
    return { ...figures, module: await page.evaluate(() => globalThis.moduleBytes?.()) };
  } finally {
    await context.close();
  }
}

/** Fails where what the lane's stores took last is not the file. */
async function checkStored(lane, known, contender, file) {
  for (const store of [lane.blobs, lane.files]) {
    for (const key of await store.list()) {
      if (known.has(key)) continue;
      known.add(key);
      const { size, sha256 } = await store.read(key);
      if (sha256 === file.sha256) return;
      throw new Error(`${contender} stored ${size} other bytes`);
    }
  }
  throw new Error(`${contender} stored nothing`);
}

/** Every contender's figures, a list of rounds each, and ours traced. The order rotates, so that none always follows the same other. */
async function race(browser, web, way, file, contenders) {
  const figures = Object.fromEntries(contenders.map((name) => [name, []])), traced = {};
  for (let round = 0; round < rounds; round++) {
    const lane = await openLane(ways[way], web);
    try {
      const known = new Set((await Promise.all([lane.blobs.list(), lane.files.list()])).flat());
      for (let i = 0; i < contenders.length; i++) {
        const name = contenders[(i + round) % contenders.length];
        figures[name].push(await measure(browser, lane, name, file.path));
        await checkStored(lane, known, name, file);
      }
      for (const name of round === 0 ? own : []) {
        traced[name] = await measure(browser, lane, name, file.path, true);
        await checkStored(lane, known, name, file);
      }
    } finally {
      await lane.close();
    }
  }
  return { figures, traced };
}

function report(way, size, { figures, traced }) {
  console.log(`\nUpload of ${size / MiB} MiB ${way}, ${rounds} rounds: MB/s (median); ${ours} to others (median; least–most); peak memory above the start; tasks over 50 ms by the clock; the longest of the page's thread's own time`);
  const times = (name) => figures[name].map(({ took }) => took);
  for (const [name, list] of Object.entries(figures)) {
    let line = `  ${name.padEnd(22)} ${(size / 1000 / median(times(name))).toFixed(1).padStart(6)}`;
    const ratios = times(name).map((took, i) => took / times(ours)[i]);
    const middle = median(ratios);
    const cost = 1 / middle - 1;
    if (name === plain) line += `   the checksum costs ${(100 * cost).toFixed(1)} %${ways[way] ? bound(cost <= 0.05, "at most 5") : ""}`;
    else if (name !== ours) line += `   ${middle.toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${most(ratios).toFixed(2)})${bound(middle >= 1, "at least 1")}`;
    const peak = most(list.map((one) => one.peak)), long = list.flatMap(({ longTasks }) => longTasks);
    line += `   ${(peak / MiB).toFixed(0)} MiB${own.includes(name) ? bound(peak <= memory, `at most ${memory / MiB}`) : ""}`;
    line += `   ${long.length}${long.length > 0 ? `, up to ${most(long).toFixed(0)} ms` : ""}`;
    if (own.includes(name)) {
      const { longest } = traced[name];
      line += `   ${longest.toFixed(0)} ms${bound(longest <= 50, "at most 50")}   module ${(most(list.map(({ module }) => module)) / MiB).toFixed(0)} MiB`;
    }
    console.log(line);
  }
}

/** The memory that an upload takes may not grow with the file. */
function compareMemory(way, figures) {
  const sizes = Object.keys(figures).map(Number);
  for (const name of sizes.length > 1 ? own : []) {
    const peaks = sizes.map((size) => median(figures[size][name].map(({ peak }) => peak)));
    const growth = most(peaks) - peaks[0];
    console.log(`  ${name} ${way}: ${sizes.map((size, i) => `${(peaks[i] / MiB).toFixed(0)} MiB for ${size / MiB}`).join(", ")}${bound(growth <= blockSize, "no block more")}`);
  }
}

/** What each contender of a round stores of a file, the file and what else there is. */
const needed = (size) => size * (1 + contenders.length + own.length) + (1 << 30);

/** Runs all. folder is where the page is built. */
export async function uploads(browser, folder) {
  const web = join(folder, "upload");
  mkdirSync(web);
  writeFileSync(join(web, "index.html"), "<!doctype html><title>bench</title><link rel=icon href=data:,><input type=file><script type=module src=/upload.js></script>");
  await bundle({ entryPoints: [join(import.meta.dirname, "src/upload.ts")], outfile: join(web, "upload.js"), format: "esm", external: ["/turnwire/turnwire.mjs"] });
  const source = folderWith(needed(most(sizes)), "UPLOAD_MIB=256");
  try {
    const figures = {};
    for (const size of sizes) {
      const path = join(source.path, `${size / MiB} MiB`);
      const file = { path, sha256: await fill(path, size) };
      for (const way of Object.keys(ways)) {
        const raced = await race(browser, web, way, file, contenders);
        report(way, size, raced);
        (figures[way] ??= {})[size] = raced.figures;
      }
      rmSync(path);
    }
    for (const [way, bySize] of Object.entries(figures)) compareMemory(way, bySize);
  } finally {
    source.remove();
  }
}
