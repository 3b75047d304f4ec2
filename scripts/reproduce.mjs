// Builds the package once more from a copy of the tree in another folder, and fails unless every file of web/dist
// comes out the same: what is published can then be checked by anyone who has the commit.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { go, goRoot, top } from "./gowasm.mjs";
import { run } from "./run.mjs";

/** rebuild builds the package in a folder of another name and depth, and returns its dist. */
function rebuild(folder) {
  const copy = join(folder, "elsewhere", "copy");
  const files = run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: top });
  for (const path of new Set(files.split("\0"))) {
    if (!path || !existsSync(join(top, path))) continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(top, path), join(copy, path));
  }
  // Above the copy, where Node finds it too: inside, git would count the link as a change to the tree.
  symlinkSync(join(top, "node_modules"), join(folder, "node_modules"));
  const gitDir = run("git", ["rev-parse", "--absolute-git-dir"], { cwd: top }).trim();
  run("node", ["web/build.mjs", "package"], { cwd: copy, env: { ...process.env, GIT_DIR: gitDir, GIT_WORK_TREE: copy } });
  return join(copy, "web", "dist");
}

const dist = join(top, "web", "dist");
const folder = mkdtempSync(join(tmpdir(), "turnwire-again-"));
const faults = [];
try {
  const again = rebuild(folder);
  const machine = [top, goRoot(), go(["env", "GOMODCACHE"]).trim(), join(homedir(), "/")];
  for (const name of new Set([...readdirSync(dist), ...readdirSync(again)])) {
    const [first, second] = [dist, again].map((dir) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name)) : null));
    if (!first || !second || !first.equals(second)) faults.push(`${name} differs between two builds of this tree`);
    for (const path of machine) {
      if (first?.includes(path)) faults.push(`${name} holds a path of this machine, ${path}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
