// What the files of web/dist were made from, so that anyone can make them again and compare.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { goVersion, moduleInfo, top, wasmExec } from "./gowasm.mjs";

const require = createRequire(import.meta.url);

export const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** integrity is what a page writes into integrity="…", see https://www.w3.org/TR/sri-2/. */
const integrity = (data) => `sha384-${createHash("sha384").update(data).digest("base64")}`;

/** brotliSize is the size that a server which compresses ahead of time sends. */
export function brotliSize(data) {
  return brotliCompressSync(data, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length },
  }).length;
}

/** writeBuildInfo describes every file of dist in dist/build-info.json; small is the record of the small module. */
export function writeBuildInfo(dist, { sources, tinygo, go, llvm, binaryen }) {
  const files = {};
  for (const name of readdirSync(dist).sort()) {
    const data = readFileSync(join(dist, name));
    files[name] = { sha256: sha256(data), integrity: integrity(data), bytes: data.length, brotli: brotliSize(data) };
  }
  const info = {
    package: JSON.parse(readFileSync(join(top, "web", "package.json"), "utf8")).version,
    ...checkout(),
    stamp: stamp(),
    go: goVersion(),
    esbuild: require("esbuild/package.json").version,
    terser: require("terser/package.json").version,
    typescript: require("typescript/package.json").version,
    small: { sources, tinygo, go, llvm, binaryen },
    modules: moduleInfo(readFileSync(join(dist, "turnwire.go.wasm"))),
    // The page needs the runtime script of the Go that compiled the standard module. Some Go distributions change theirs.
    wasmExec: { sha256: sha256(wasmExec()) },
    files,
  };
  writeFileSync(join(dist, "build-info.json"), JSON.stringify(info, null, 2) + "\n");
}

/** stamp tells the contract between the module and the scripts, which both carry it, from another. */
function stamp() {
  return readFileSync(join(top, "web", "src", "contract.ts"), "utf8").match(/^export const stamp = "(.+)";$/m)[1];
}

/** checkout tells the commit, and whether the tree differed from it. Neither is known outside a checkout. */
function checkout() {
  const git = (...args) => execFileSync("git", ["--no-optional-locks", ...args], { cwd: top, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return { commit: git("rev-parse", "HEAD"), dirty: git("status", "--porcelain") !== "" };
  } catch {
    return { commit: null, dirty: null };
  }
}
