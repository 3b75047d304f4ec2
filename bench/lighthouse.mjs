// The demo page as Lighthouse judges its speed: a slow phone, simulated, from files that are served compressed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import lighthouse from "lighthouse";
import { dist } from "./builds.mjs";
import { bound, median } from "./figures.mjs";
import { serve, types } from "./serve.mjs";

const demo = join(import.meta.dirname, "..", "web", "demo", "dist");
const kinds = { ...types, html: "text/html", css: "text/css", svg: "image/svg+xml" };

/** What the page asks for before its first message. */
function files() {
  const own = ["index.html", "main.js", "style.css", "favicon.svg"].map((name) => [`/${name}`, readFileSync(join(demo, name))]);
  const packaged = ["turnwire.mjs", "element.mjs", "turnwire.wasm"].map((name) => [`/turnwire/${name}`, dist(name)]);
  const all = Object.fromEntries([...own, ...packaged].map(([path, body]) => [path, { type: kinds[path.split(".").at(-1)], body: brotliCompressSync(body) }]));
  return { ...all, "/": all["/index.html"] };
}

export async function speed(browser, runs = 3) {
  const served = files();
  const { origin, close } = await serve((request, response) => {
    const file = served[request.url.split("?")[0]];
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": file.type, "content-encoding": "br", "cache-control": "max-age=600" }).end(file.body);
  });
  const results = [];
  try {
    for (let run = 0; run < runs; run++) {
      const page = await browser.newPage();
      results.push((await lighthouse(`${origin}/`, { onlyCategories: ["performance"], output: "json", logLevel: "error" }, undefined, page)).lhr);
      await page.close();
    }
  } finally {
    await close();
  }
  const score = median(results.map(({ categories }) => categories.performance.score));
  console.log(`\nLighthouse ${results[0].lighthouseVersion}, the demo page, ${runs} runs: performance ${score}${bound(score >= 0.95, "at least 0.95")} (median)`);
  for (const [id, words] of Object.entries({ "first-contentful-paint": "first paint", "largest-contentful-paint": "largest paint", "total-blocking-time": "blocked", "cumulative-layout-shift": "shift" })) {
    console.log(`  ${words.padEnd(14)} ${results.map(({ audits }) => audits[id].displayValue).join(", ")}`);
  }
}
