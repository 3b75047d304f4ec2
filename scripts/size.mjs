// Holds web/dist to the budgets of web/budgets.json: `node scripts/size.mjs`. Past one, it says what grew since the
// sizes of web/sizes.json were recorded, which `node scripts/size.mjs record` does.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundlePackage } from "../web/build.mjs";
import { buildWasm, go, goEnv, goVersion, top } from "./gowasm.mjs";
import { buildSmall, smallEnv } from "./smallwasm.mjs";
import { wasmSizes } from "./wasm-sizes.mjs";

const web = join(top, "web");
const budgetsFile = join(web, "budgets.json");
const recordFile = join(web, "sizes.json");
const readJSON = (path) => JSON.parse(readFileSync(path, "utf8"));

const modules = {
  "turnwire.wasm": { build: buildSmall, env: smallEnv },
  "turnwire.go.wasm": { build: buildWasm, env: goEnv },
};

/** breakdown says what the files are made of: bytes before compression, by Go package and by JavaScript source. */
async function breakdown(names = Object.keys(readJSON(budgetsFile))) {
  const packages = {};
  const parts = {};
  const folder = mkdtempSync(join(tmpdir(), "turnwire-size-"));
  try {
    for (const [name, { build, env }] of Object.entries(modules)) {
      if (!names.includes(name)) continue; // the small one takes TinyGo
      const named = join(folder, name);
      build(named, { keepSymbols: true });
      packages[name] = go(["list", "-deps", "."], { env }).trim().split("\n").sort();
      parts[name] = wasmSizes(readFileSync(named), packages[name]);
    }
    for (const [name, { metafile }] of Object.entries(await bundlePackage({ write: false }))) {
      const output = Object.entries(metafile.outputs).find(([path]) => path.endsWith(name))[1];
      parts[name] = Object.fromEntries(Object.entries(output.inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput]));
    }
    return { go: goVersion(), packages, parts };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function whatGrew(was, is) {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return names
    .map((name) => ({ name, by: (is[name] ?? 0) - (was[name] ?? 0), isNew: !(name in was) }))
    .filter(({ by }) => by > 0)
    .sort((a, b) => b.by - a.by)
    .slice(0, 15)
    .map(({ name, by, isNew }) => `  +${by} bytes  ${name}${isNew ? " (new)" : ""}`);
}

async function check() {
  const { files } = readJSON(join(web, "dist", "build-info.json"));
  const over = [];
  for (const [name, { brotli: limit }] of Object.entries(readJSON(budgetsFile))) {
    const { brotli } = files[name];
    console.log(`${name}: ${brotli} of ${limit} bytes, compressed`);
    if (brotli > limit) over.push(name);
  }
  if (over.length === 0) return;

  const was = readJSON(recordFile);
  const is = await breakdown(over);
  if (was.go !== is.go) console.error(`\nThe recorded sizes are of ${was.go}, these of ${is.go}.`);
  for (const name of over) {
    const lines = whatGrew(was.parts[name] ?? {}, is.parts[name]);
    console.error(`\n${name} is past its budget. What grew, uncompressed, since web/sizes.json was recorded:`);
    console.error(lines.length > 0 ? lines.join("\n") : "  nothing: it was past its budget then");
    const added = is.packages[name]?.filter((path) => !was.packages[name].includes(path)) ?? [];
    if (added.length > 0) console.error(`Packages linked in since:\n  ${added.join("\n  ")}`);
  }
  process.exitCode = 1;
}

if (process.argv[2] === "record") writeFileSync(recordFile, JSON.stringify(await breakdown(), null, 2) + "\n");
else await check();
