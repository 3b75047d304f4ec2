// Compiles the programs of e2e/types against the package as a user has it. Those in compiles/ must, and those in kits/, of
// kits whose own types are not checked, for they need other packages' types; those in fails/
// must not: every line that ends in `// error TS1234` has to give that error, and no other line may give one.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { top } from "./gowasm.mjs";

const folder = join(top, "e2e", "types");

function programs(name) {
  const dir = join(folder, name);
  if (!existsSync(dir)) return [];
  return readdirSync(dir).filter((file) => file.endsWith(".ts")).sort().map((file) => `${name}/${file}`);
}

/** compile returns "file:line TScode" for each error, and the compiler's own words. */
function compile(files, ...flags) {
  const strict = ["--noEmit", "--ignoreConfig", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--lib", "es2022,dom,dom.iterable,dom.asynciterable", "--types", ""];
  const { stdout, stderr, error } = spawnSync(join(top, "node_modules", ".bin", "tsc"), [...strict, ...flags, ...files], { cwd: folder, encoding: "utf8" });
  if (error) throw error;
  const output = stdout + stderr;
  const found = [...output.matchAll(/^(?:(.+?)\((\d+),\d+\): )?error (TS\d+)/gm)].map(([, file, line, code]) => `${file}:${line} ${code}`);
  return { found, output };
}

let failed = false;
const complain = (message) => {
  console.error(message);
  failed = true;
};

// The two ways in which a user's compiler finds a package's types: as bundlers do, and as Node does.
const resolutions = [["--module", "esnext", "--moduleResolution", "bundler"], ["--module", "nodenext", "--moduleResolution", "nodenext"]];
for (const [name, ...more] of [["compiles"], ["kits", "--skipLibCheck"]]) {
  const mustCompile = programs(name);
  for (const flags of mustCompile.length > 0 ? resolutions : []) {
    const { found, output } = compile(mustCompile, ...flags, ...more);
    if (found.length > 0) complain(`With ${flags.join(" ")}:\n${output}`);
  }
}

const mustFail = programs("fails");
if (mustFail.length > 0) {
  const { found, output } = compile(mustFail, ...resolutions[0]);
  const expected = [];
  for (const file of mustFail) {
    const lines = readFileSync(join(folder, file), "utf8").split("\n");
    const marked = lines.flatMap((line, i) => (/\/\/ error (TS\d+)$/.exec(line) ? [`${file}:${i + 1} ${RegExp.$1}`] : []));
    if (marked.length === 0) complain(`${file} marks no line with the error that it must give`);
    expected.push(...marked);
  }
  const missing = expected.filter((error) => !found.includes(error));
  const extra = found.filter((error) => !expected.includes(error));
  if (missing.length > 0) complain(`Should not compile, and does:\n  ${missing.join("\n  ")}`);
  if (extra.length > 0) complain(`Errors that nothing marks:\n  ${extra.join("\n  ")}\n${output}`);
}
process.exitCode = failed ? 1 : 0;
