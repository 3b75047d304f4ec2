// The types tell the truth about the built package: what they declare as values is what it exports.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { top } from "./support/service.mjs";

const dist = join(top, "web", "dist");

test("index.d.ts declares the values that the package exports", async () => {
  const types = readFileSync(join(dist, "index.d.ts"), "utf8");
  const declared = [...types.matchAll(/^export (?:declare )?(?:class|function|const) (\w+)/gm)].map(([, name]) => name);
  const exported = Object.keys(await import(join(dist, "turnwire.mjs")));
  assert.deepEqual(declared.sort(), exported.sort());
});

test("every class of error has the base that index.d.ts gives it", async () => {
  const types = readFileSync(join(dist, "index.d.ts"), "utf8");
  const turnwire = await import(join(dist, "turnwire.mjs"));
  const classes = [...types.matchAll(/^export class (\w+) extends (\w+)/gm)];
  assert.ok(classes.length >= 13);
  for (const [, name, base] of classes) {
    assert.equal(Object.getPrototypeOf(turnwire[name]), turnwire[base] ?? globalThis[base], name);
    assert.equal(turnwire[name].prototype.name, name);
  }
});
