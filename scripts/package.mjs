// Packs the npm package as it is published, and fails unless publint and attw find nothing to say about the tarball, and
// the same files give the same tarball elsewhere too.

import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { top } from "./gowasm.mjs";
import { run } from "./run.mjs";

/** What a page or its bundler loads by its address, and no program imports: it has no types. */
const files = ["turnwire.wasm", "turnwire.go.wasm", "turnwire.go.mjs", "turnwire.worker.mjs"];

/** pack packs the package of a folder and returns the tarball's path. */
function pack(folder, into) {
  mkdirSync(into);
  run("npm", ["pack", "--silent", "--pack-destination", into], { cwd: folder });
  return join(into, readdirSync(into)[0]);
}

/** copied copies what is packed, as another checkout may have it: of another hour, written in another order, under a umask of 002. */
function copied(copy) {
  mkdirSync(join(copy, "dist"), { recursive: true });
  const names = readdirSync(join(top, "web", "dist")).map((name) => join("dist", name));
  for (const name of ["package.json", ...names].reverse()) {
    cpSync(join(top, "web", name), join(copy, name));
    chmodSync(join(copy, name), 0o664);
    utimesSync(join(copy, name), 0, 0);
  }
  return copy;
}

const folder = mkdtempSync(join(tmpdir(), "turnwire-package-"));
const faults = [];
try {
  const tarball = pack(join(top, "web"), join(folder, "packed"));
  const bytes = readFileSync(tarball);
  const again = readFileSync(pack(copied(join(folder, "copy")), join(folder, "again")));
  if (!bytes.equals(again)) faults.push("npm pack gives another tarball from a copy of the same files");

  const { messages, pkg } = await publint({ pack: { tarball: Uint8Array.from(bytes).buffer } });
  for (const message of messages) faults.push(`publint: ${formatMessage(message, pkg, { color: false })}`);

  try {
    // There is no CommonJS form, and a page has no use for one. Node's require() takes this one too, from 20.19 and 22.12 on;
    // the profile leaves out who can't: Node before that, and its resolution of before there were "exports".
    run("attw", [tarball, "--profile", "esm-only", "--exclude-entrypoints", ...files, "--format", "ascii", "--no-color", "--no-emoji"],
      { env: { ...process.env, PATH: `${join(top, "node_modules", ".bin")}:${process.env.PATH}` } });
  } catch (error) {
    faults.push(error.message);
  }
} finally {
  rmSync(folder, { recursive: true });
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
