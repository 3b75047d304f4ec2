// The two builds beside each other: both are told the same, from seeds, and every call of the page and every byte that they
// leave has to be the same. What one wrote, a record or the state of a sum, the other goes on with: it is the same text.
// TURNWIRE_SEED=… for another run, DIFFERENTIAL_SEED=… for one act alone.

import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { seedFor } from "../../../e2e/support/seed.mjs";
import { top } from "../../../scripts/gowasm.mjs";
import { buildSmall } from "../../../scripts/smallwasm.mjs";
import { shipped } from "./pair.mjs";
import { compare, one, repeat } from "./run.mjs";

/** The small module that can be made to collect at every call. */
const collecting = join(top, ".cache", `differential.${process.pid}.wasm`);

before(() => {
  mkdirSync(join(top, ".cache"), { recursive: true });
  buildSmall(collecting, { tags: "testbuild" });
});
after(() => rmSync(collecting, { force: true }));

test("as shipped", (t) => compare(t, { file: shipped }, seedFor(t), 1_000));
test("collecting at every call", (t) => compare(t, { file: collecting, always: true }, seedFor(t) + 1, 500));

test("memory does not grow", { skip: one }, async (t) => {
  // Text of the module that looks like an address keeps what lies there: how much that is, differs.
  for (const { live, memory } of await repeat(t, collecting, seedFor(t) + 2, 30, 3)) {
    assert.ok(live < 1 << 20, `${live} bytes are kept of what has ended`);
    assert.ok(memory <= 3 << 20, `the memory has ${memory} bytes`);
  }
});
