// The examples as who copies them has them: installed by npm, with the packed package in place of the registry's.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../scripts/run.mjs";
import { top } from "./service.mjs";

const source = join(top, "examples");

/** The examples' names: those of their folders. */
export const names = readdirSync(source).filter((name) => existsSync(join(source, name, "package.json"))).sort();

/** Packs the package into a folder and gives the tarball's path. */
export function pack(into) {
  const name = run("npm", ["pack", "--silent", "--pack-destination", into], { cwd: join(top, "web") }).trim();
  return join(into, name);
}

/**
 * Installs all examples and gives their folder. They share what they need of others, one lock file and what is installed
 * already; the package lies in each one's own node_modules, so that a build finds it where its reader's does.
 */
export function install() {
  const folder = join(top, ".cache", "examples");
  mkdirSync(folder, { recursive: true });
  const tarball = pack(folder);
  for (const name of names) {
    rmSync(join(folder, name), { recursive: true, force: true });
    cpSync(join(source, name), join(folder, name), { recursive: true, filter: (path) => !/[/\\](node_modules|dist|\.next|\.parcel-cache)$/.test(path) });
  }
  installOthers(folder, tarball);
  for (const name of names) {
    const own = join(folder, name, "node_modules", "turnwire");
    mkdirSync(own, { recursive: true });
    run("tar", ["-xzf", tarball, "--strip-components=1", "-C", own]);
  }
  return folder;
}

function installOthers(folder, tarball) {
  const lock = JSON.parse(readFileSync(join(source, "package-lock.json"), "utf8"));
  // Another one with every build.
  delete lock.packages["node_modules/turnwire"].integrity;
  const files = { ".npmrc": readFileSync(join(source, ".npmrc"), "utf8"), "package.json": readFileSync(join(source, "package.json"), "utf8"), "package-lock.json": JSON.stringify(lock) };
  const wanted = createHash("sha256").update(JSON.stringify([files, names.map((name) => readFileSync(join(source, name, "package.json"), "utf8")), process.version])).digest("hex");
  const stamp = join(folder, "node_modules", ".installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  cpSync(tarball, join(folder, "turnwire.tgz"));
  run("npm", ["ci", "--loglevel=error"], { cwd: folder });
  rmSync(join(folder, "node_modules", "turnwire"), { recursive: true });
  writeFileSync(stamp, wanted);
}
