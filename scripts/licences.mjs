// The licences that the built files carry: the project's own, Go's, TinyGo's, and those of the modules linked in.

import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { go, goEnv, goRoot, top } from "./gowasm.mjs";
import { smallEnv } from "./smallwasm.mjs";

/** writeLicences writes LICENSE and THIRD-PARTY-LICENSES into dist. */
export function writeLicences(dist) {
  copyFileSync(join(top, "LICENSE"), join(dist, "LICENSE"));
  const parts = [
    { name: "Go's standard library and runtime script", dir: goRoot() },
    { name: "TinyGo's runtime", dir: join(top, "web", "small") },
    ...linkedModules(),
    ...bundledPackages(),
  ];
  writeFileSync(join(dist, "THIRD-PARTY-LICENSES"), parts.map(({ name, dir }) => `${name}\n\n${licence(name, dir)}\n`).join("\n\n"));
}

function linkedModules() {
  const format = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}";
  const lists = [goEnv, smallEnv].flatMap((env) => go(["list", "-deps", "-f", format, "."], { env }).split("\n"));
  return [...new Set(lists.filter(Boolean))].sort().map((line) => {
    const [name, dir] = line.split("\t");
    return { name, dir };
  });
}

/** What the element has in it. */
function bundledPackages() {
  const require = createRequire(join(top, "web", "package.json"));
  return ["marked"].map((name) => {
    const file = require.resolve(`${name}/package.json`);
    return { name: `${name} ${JSON.parse(readFileSync(file, "utf8")).version}`, dir: dirname(file) };
  });
}

function licence(name, dir) {
  const file = readdirSync(dir).find((entry) => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file; its files cannot be shipped`);
  return readFileSync(join(dir, file), "utf8").trim();
}
