// Builds what a page loads: `node web/build.mjs [package] [demo]`, both by default.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { build, transform } from "esbuild";
import { minify } from "terser";
import { writeBuildInfo } from "../scripts/build-info.mjs";
import { buildWasm, goVersion, top, wasmExec } from "../scripts/gowasm.mjs";
import { writeLicences } from "../scripts/licences.mjs";
import { run } from "../scripts/run.mjs";
import { placeSmall } from "../scripts/smallwasm.mjs";

const web = join(top, "web");
const dist = join(web, "dist");

/**
 * The module "wasm-exec": Go's runtime script as a function of the global object that it and Go shall see. The script
 * hangs Go, fs, process and path on globalThis, and calls fs by its bare name, so both names are the function's own.
 */
export const wasmExecPlugin = {
  name: "wasm-exec",
  setup(build) {
    build.onResolve({ filter: /^wasm-exec$/ }, () => ({ path: "wasm_exec.js", namespace: "go" }));
    build.onLoad({ filter: /.*/, namespace: "go" }, () => {
      const script = wasmExec();
      const header = script.match(/^(\/\/.*\n)+/);
      if (!header) throw new Error("wasm_exec.js: no licence header to keep");
      const legal = header[0].replace(/^\/\/ ?/gm, "").trim();
      return {
        contents: `/*! Go's wasm_exec.js:\n${legal} */\n` +
          `export default (globalThis) => {\nlet fs;\n${script}\nfs = globalThis.fs;\nreturn globalThis.Go;\n};`,
        loader: "js",
      };
    });
  },
};

/** The demo, and the pages of tests, take the package as a user's page does: from the files that are shipped, not from their sources. */
export const packageAsServed = {
  name: "package-as-served",
  setup(build) {
    build.onResolve({ filter: /^turnwire$/ }, () => ({ path: "/turnwire/turnwire.mjs", external: true }));
    build.onResolve({ filter: /^turnwire\/element$/ }, () => ({ path: "/turnwire/element.mjs", external: true }));
  },
};

/** The element has the package from beside itself, wherever that is served, and its style sheet as a text. */
const beside = {
  name: "beside",
  setup(build) {
    build.onResolve({ filter: /^turnwire$/ }, () => ({ path: "./turnwire.mjs", external: true }));
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true, target: "es2022" });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

export async function bundle(options) {
  const result = await build({
    absWorkingDir: web,
    bundle: true,
    minify: true,
    target: "es2022",
    charset: "utf8",
    legalComments: "inline",
    sourcemap: "linked",
    metafile: true,
    logLevel: "warning",
    ...options,
  });
  // A warning of the bundler is a page that breaks later, such as import.meta in a script tag.
  if (result.warnings.length > 0) throw new Error("esbuild warned; see above");
  return result;
}

/** What a page downloads is minified once more: terser names by scope, and compresses a twentieth better than esbuild alone. */
async function bundleSmall({ preamble, ...options }) {
  const result = await bundle({ ...options, write: false });
  const { outfile, write } = options;
  if (!write) return result;
  const [{ text: map }, { text: script }] = result.outputFiles;
  const name = basename(outfile);
  const small = await minify({ [name]: script }, {
    ecma: 2022,
    module: options.format === "esm",
    compress: { passes: 2, hoist_funs: true },
    format: { comments: /^!/, preamble },
    sourceMap: { content: map, filename: name, url: `${name}.map` },
  });
  writeFileSync(outfile, small.code);
  // Where npm put a package is no part of what is built.
  const { sources, ...rest } = JSON.parse(small.map);
  writeFileSync(`${outfile}.map`, JSON.stringify({ ...rest, sources: sources.map((path) => path.replace(/^.*\/(?=node_modules\/)/, "")) }));
  return result;
}

/** What the sources take as given: who bundles them has to say it. */
export const defines = (version) => ({ __TURNWIRE_VERSION__: JSON.stringify(version) });

/** The doors to UI kits: web/src/doors/NAME.ts as the package's subpath NAME, and what of its kit a page brings itself. */
const doors = { react: ["react"], "ai-sdk": [], "ag-ui": ["@ag-ui/client", "rxjs"], element: [] };

/** Types that are written by hand: what this door is made of would show in those of its source. */
const written = { element: "element/types.d.ts" };

/**
 * bundlePackage bundles the package in each of its forms, their worker, Go's runtime script and the doors, with one metafile
 * each.
 */
export async function bundlePackage({ write = true } = {}) {
  const { version } = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));
  const common = {
    write,
    define: defines(`${version}+${goVersion()}`),
  };
  // Minified, import() keeps no comment, and bundlers would look for what is imported when the page runs.
  const esm = { ...common, format: "esm", preamble: "const turnwireImport=u=>import(/* webpackIgnore: true *//* @vite-ignore */u);" };
  return {
    "turnwire.mjs": await bundleSmall({ ...esm, entryPoints: ["src/index.ts"], outfile: join(dist, "turnwire.mjs") }),
    "turnwire.js": await bundleSmall({ ...common, entryPoints: ["src/script.ts"], outfile: join(dist, "turnwire.js"), format: "iife", globalName: "Turnwire", inject: ["src/import.ts"] }),
    "turnwire.node.mjs": await bundleSmall({ ...esm, entryPoints: ["src/node.ts"], outfile: join(dist, "turnwire.node.mjs"), platform: "node", inject: ["src/node-globals.ts"] }),
    "turnwire.worker.mjs": await bundleSmall({ ...esm, entryPoints: ["src/worker.ts"], outfile: join(dist, "turnwire.worker.mjs") }),
    "turnwire.go.mjs": await bundleSmall({ ...common, entryPoints: ["src/go-runtime.ts"], outfile: join(dist, "turnwire.go.mjs"), format: "esm", plugins: [wasmExecPlugin] }),
    ...await bundleDoors(common),
  };
}

async function bundleDoors(common) {
  const bundles = {};
  for (const [name, external] of Object.entries(doors)) {
    bundles[`${name}.mjs`] = await bundleSmall({ ...common, entryPoints: [`src/doors/${name}.ts`], outfile: join(dist, `${name}.mjs`), format: "esm", external, plugins: [beside] });
  }
  return bundles;
}

/** The doors' types are those of their sources; what they are made of is nobody else's. */
function writeDoorTypes() {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-types-"));
  try {
    // Found as its package is: a copy of the tree may have its packages above it.
    const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
    run(process.execPath, [tsc, "-p", join(web, "tsconfig.doors.json"), "--outDir", folder], { cwd: web });
    for (const name of Object.keys(doors)) {
      const types = name in written ? join(web, "src", "doors", written[name]) : join(folder, `${name}.d.ts`);
      cpSync(types, join(dist, `${name}.d.ts`));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function buildPackage() {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const small = placeSmall(join(dist, "turnwire.wasm"));
  buildWasm(join(dist, "turnwire.go.wasm"));
  await bundlePackage();
  // Bundlers of the pages that use the package find the other files by these very forms, and by no others.
  const script = readFileSync(join(dist, "turnwire.mjs"), "utf8").replace(/\s/g, "");
  for (const literal of ['newURL("./turnwire.wasm",import.meta.url)', 'newWorker(newURL("./turnwire.worker.mjs",import.meta.url),{type:"module"})']) {
    if (!script.includes(literal)) throw new Error(`turnwire.mjs has lost the literal ${literal}`);
  }
  cpSync(join(web, "src", "index.d.ts"), join(dist, "index.d.ts"));
  writeDoorTypes();
  writeLicences(dist);
  writeBuildInfo(dist, small);
}

async function buildDemo() {
  const demo = join(web, "demo");
  const out = join(demo, "dist");
  rmSync(out, { recursive: true, force: true });
  for (const name of readdirSync(demo)) {
    if (name !== "dist" && name !== "src") cpSync(join(demo, name), join(out, name), { recursive: true });
  }
  await bundle({ entryPoints: ["demo/src/main.ts"], outfile: join(out, "main.js"), format: "esm", plugins: [packageAsServed] });
}

if (import.meta.filename === process.argv[1]) {
  const parts = { package: buildPackage, demo: buildDemo };
  const asked = process.argv.slice(2);
  for (const name of asked.length > 0 ? asked : Object.keys(parts)) await parts[name]();
}
