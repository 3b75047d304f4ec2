// The small module, which TinyGo compiles from the same sources. web/small keeps it in the tree, with a record of what it
// was made from, so that only who changes those sources needs TinyGo: `node scripts/smallwasm.mjs record` makes it anew,
// `node scripts/smallwasm.mjs check` fails where it is not what its sources give.

import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { sha256 } from "./build-info.mjs";
import { go, top } from "./gowasm.mjs";
import { run } from "./run.mjs";
import { patch, pinned, toolchain } from "./tinygo.mjs";

const kept = join(top, "web", "small");
const keptModule = join(kept, "turnwire.wasm");
const keptRecord = join(kept, "record.json");

export const targetFile = join(top, "scripts", "small-target.json");
const target = JSON.parse(readFileSync(targetFile, "utf8"));

/** By speed and size: z takes 4 % off the module and 10 % off the parsing of long chunks, 2 adds 21 % and 13 %. */
export const compile = ["-opt=z", "-panic=print"];
const optimise = ["-O4", ...["bulk-memory", "mutable-globals", "nontrapping-float-to-int", "sign-ext"].map((feature) => `--enable-${feature}`)];
const shipped = { compile: ["-no-debug"], optimise: ["--strip-debug", "--strip-producers", "--strip-target-features"] };

/** What the runtime panics with where it compares what interfaces hold, for which it brings reflection along: 4 KB (brotli). */
const comparing = "comparing un-comparable type";
const comparingFault =
  "The small module compares interfaces (== or != of two, or a map with such keys), by a reflection that it does without: compare what they hold, by its type.";

/** The tags by which TinyGo chooses files (compileopts/config.go), for plain Go to choose the same. */
const tags = [...target["build-tags"], "tinygo", "purego", "osusergo", "math_big_pure_go", `gc.${target.gc}`, `scheduler.${target.scheduler}`, "serial.none", "tinygo.unicore"];

/** smallEnv is the environment in which plain Go lists what TinyGo compiles. */
export const smallEnv = {
  ...process.env,
  GOOS: target.goos,
  GOARCH: target.goarch,
  CGO_ENABLED: "1",
  GOFLAGS: `-buildvcs=false -tags=${tags.join(",")}`,
  GOWORK: "off",
};
delete smallEnv.GOEXPERIMENT;

/** buildSmall writes the module to out, as buildWasm does the standard one; from is a folder with the sources. */
export function buildSmall(out, { keepSymbols = false, tags = "", from = top } = {}) {
  const { command, wasmOpt, env } = toolchain();
  const folder = mkdtempSync(join(tmpdir(), "turnwire-small-"));
  try {
    const linked = join(folder, "linked.wasm");
    run(command, ["build", `-target=${targetFile}`, ...compile, ...(keepSymbols ? [] : shipped.compile), "-tags", tags, "-o", linked, "."], { cwd: from, env });
    if (readFileSync(linked).includes(comparing)) throw new Error(comparingFault);
    run(wasmOpt, [...optimise, ...(keepSymbols ? ["-g"] : shipped.optimise), linked, "-o", out]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * sources tells what the module is made from: the files of this module that TinyGo compiles, and a hash of them and of all
 * else that decides about the bytes. Go's version in go.mod does, for the language follows it.
 */
function sources() {
  const line = `{{with .Module}}{{if .Main}}{{$.Dir}}{{range $.GoFiles}}\t{{.}}{{end}}{{range $.EmbedFiles}}\t{{.}}{{end}}{{else}}!{{.Path}} {{.Version}}{{end}}{{end}}`;
  const listed = go(["list", "-deps", "-f", line, "."], { env: smallEnv }).split("\n").filter(Boolean);
  const files = listed
    .filter((line) => !line.startsWith("!"))
    .flatMap((line) => {
      const [dir, ...names] = line.split("\t");
      return names.map((name) => relative(top, join(dir, name)));
    })
    .sort();
  const from = {
    pinned,
    patch,
    target,
    compile,
    optimise,
    shipped,
    go: go(["list", "-m", "-f", "{{.GoVersion}}"], { env: smallEnv }).trim(),
    modules: [...new Set(listed.filter((line) => line.startsWith("!")))].sort(),
    files: files.map((file) => [file, sha256(readFileSync(join(top, file)))]),
  };
  return { files, hash: sha256(JSON.stringify(from)) };
}

/** freshRecord returns the record of the kept module if the sources are still those it was made from. */
function freshRecord(hash) {
  if (!existsSync(keptRecord) || !existsSync(keptModule)) return null;
  const record = JSON.parse(readFileSync(keptRecord, "utf8"));
  return record.sources === hash && record.sha256 === sha256(readFileSync(keptModule)) ? record : null;
}

/** recordSmall builds the module and keeps it in web/small, with its record and TinyGo's licence, whose runtime it carries. */
function recordSmall(hash = sources().hash) {
  const { root, versions } = toolchain();
  mkdirSync(kept, { recursive: true });
  buildSmall(keptModule);
  copyFileSync(join(root, "LICENSE"), join(kept, "LICENSE"));
  const module = readFileSync(keptModule);
  const record = { sources: hash, sha256: sha256(module), bytes: module.length, ...versions };
  writeFileSync(keptRecord, JSON.stringify(record, null, 2) + "\n");
  return record;
}

/** placeSmall copies the kept module to out, made anew where its sources are no longer those it was made from. */
export function placeSmall(out) {
  const { hash } = sources();
  let record = freshRecord(hash);
  if (!record) {
    console.log("web/small holds no module of these sources; making it anew. Commit it with them.");
    record = recordSmall(hash);
  }
  copyFileSync(keptModule, out);
  return record;
}

/**
 * check builds from a copy that holds the hashed sources and nothing else, in a folder of another name: what the hash has
 * missed is missing there, and a path of the machine makes another module.
 */
function check() {
  const { files, hash } = sources();
  const record = freshRecord(hash);
  const advice = "Run make small, and commit web/small.";
  if (!record) return `web/small/turnwire.wasm was made from other sources than the tree's. ${advice}`;
  const folder = mkdtempSync(join(tmpdir(), "turnwire-small-again-"));
  try {
    for (const file of ["go.mod", "go.sum", ...files]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(top, file), join(folder, file));
    }
    const again = join(folder, "again.wasm");
    buildSmall(again, { from: folder });
    if (!readFileSync(again).equals(readFileSync(keptModule))) {
      const { llvm } = toolchain().versions; // the system's, not pinned as the rest is
      return `web/small/turnwire.wasm is not what its sources give. ${record.llvm === llvm ? advice : `It was made with ${record.llvm}; here is ${llvm}.`}`;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.filename === process.argv[1]) {
  if (process.argv[2] === "record") {
    recordSmall();
  } else {
    const fault = check();
    if (fault) {
      console.error(fault);
      process.exitCode = 1;
    }
  }
}
