// No code in README and docs that nothing has tried: a block says in its fence's first line which file it is quoted from, such
// as ```js examples/rollup/rollup.config.js, or is a newcomer's command, or else it compiles, or is of commands that there are.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocks, pages } from "./support/docs.mjs";
import { names } from "./support/examples.mjs";
import { top } from "./support/service.mjs";

const compiled = ["js", "jsx", "ts", "tsx"];
const tried = [...compiled, "html", "sh"];
const code = pages.flatMap(blocks).filter(({ language }) => tried.includes(language));

for (const { at, from, code: quoted } of code.filter(({ from }) => from && from !== "newcomer")) {
  test(`${at} is quoted from ${from}`, () => {
    assert.ok(existsSync(join(top, from)), `there is no ${from}`);
    assert.ok(`\n${readFileSync(join(top, from), "utf8")}`.includes(`\n${quoted}`), `${from} does not have these lines:\n${quoted}`);
  });
}

test("the newcomer's commands are in README, where e2e/newcomer.mjs follows them", () => {
  const others = code.filter(({ at, language, from }) => from === "newcomer" && (language !== "sh" || !at.startsWith("README.md:")));
  assert.deepEqual(others.map(({ at }) => at), []);
});

for (const { at, code: commands } of code.filter(({ language, from }) => language === "sh" && !from)) {
  test(`the commands of ${at} are ones that there are`, () => {
    const { status, stderr } = spawnSync("bash", ["-n", "-c", commands], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    for (const [, words] of commands.matchAll(/(?:^|&& |; |\bMODEL_KEY=\S+ )make ([^#&;\n]+)/gm)) {
      const { status, stderr } = spawnSync("make", ["-n", ...words.trim().split(/\s+/)], { cwd: top, encoding: "utf8" });
      assert.equal(status, 0, `make ${words}: ${stderr}`);
    }
    for (const [, name, words] of commands.matchAll(/(?:^|\.\/|\.\/cmd\/)(turnwire-\w+) ([^\n]+)/gm)) {
      const flags = spawnSync("go", ["run", `./cmd/${name}`, "-help"], { cwd: top, encoding: "utf8" }).stderr;
      for (const [, flag] of words.replace(/"\$\([^)]*\)"|#.*/g, "").matchAll(/(?:^| )-([a-z-]+)/g)) assert.match(flags, new RegExp(`^  -${flag}\\b`, "m"), `${name} has no flag -${flag}`);
    }
  });
}

test("html is quoted", () => {
  assert.deepEqual(code.filter(({ language, from }) => language === "html" && !from).map(({ at }) => at), []);
});

test("what is not quoted compiles", () => {
  // Below the top, where a compiler finds the package and the kits.
  const folder = join(top, ".cache", "code-blocks");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = code.filter(({ language, from }) => !from && compiled.includes(language)).map(({ at, language, code }) => {
    const file = join(folder, `${at.replace(/\W/g, "-")}.${language}`);
    // A module has names of its own, and may await.
    writeFileSync(file, /^(import|export) /m.test(code) ? code : `${code}export {};\n`);
    return file;
  });
  assert.ok(files.length > 0);
  const flags = ["--noEmit", "--ignoreConfig", "--allowJs", "--checkJs", "--strict", "--noImplicitAny", "false", "--skipLibCheck", "--target", "es2022",
    "--lib", "es2022,dom,dom.iterable,dom.asynciterable", "--types", "", "--module", "esnext", "--moduleResolution", "bundler", "--jsx", "react-jsx"];
  const { status, stdout, stderr, error } = spawnSync(join(top, "node_modules", ".bin", "tsc"), [...flags, join(top, "e2e", "docs", "page.d.ts"), ...files], { encoding: "utf8", cwd: folder });
  assert.equal(status, 0, error?.message ?? stdout + stderr);
});

test("docs/start.md tells each bundler's command as its package.json does", () => {
  const rows = [...readFileSync(join(top, "docs", "start.md"), "utf8").matchAll(/^\| \[.*\]\(\.\.\/examples\/(.+?)\/package\.json\) \| `(.*)` \|$/gm)];
  assert.ok(rows.length >= 5);
  for (const [, name, command] of rows) {
    assert.equal(command, JSON.parse(readFileSync(join(top, "examples", name, "package.json"), "utf8")).scripts.build, name);
  }
});

test("every example is spoken of in docs/start.md, and takes this version of the package", () => {
  const start = readFileSync(join(top, "docs", "start.md"), "utf8");
  const { version } = JSON.parse(readFileSync(join(top, "web", "package.json"), "utf8"));
  for (const name of names) {
    assert.ok(start.includes(`examples/${name}`), `docs/start.md does not name examples/${name}`);
    assert.equal(JSON.parse(readFileSync(join(top, "examples", name, "package.json"), "utf8")).dependencies.turnwire, version, name);
  }
});

test("the bundlers' examples are one app", () => {
  const [app, ...others] = readdirSync(join(top, "examples"), { recursive: true }).filter((path) => /^[^/]+\/main\.js$/.test(path))
    .map((path) => readFileSync(join(top, "examples", path), "utf8"));
  assert.ok(others.length >= 4);
  for (const other of others) assert.equal(other, app);
});
