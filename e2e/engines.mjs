// The suites of support/engines.mjs in the engines beside Chromium, and at the end what ran where, and what did not, and why.

import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { engines, leftOut, suites } from "./support/engines.mjs";

const skipped = new Set();
const table = Object.fromEntries(suites.map((suite) => [suite, {}]));

/** Runs a suite in the engine of this moment, and gives what its runner has to say. */
async function runSuite(suite, engine) {
  const cell = (table[suite][engine] = { ran: 0, failed: 0, out: 0 });
  const file = join(import.meta.dirname, `${suite}.test.mjs`);
  const stream = run({ files: [file] });
  const count = (outcome) => ({ name, skip, details }) => {
    if (details?.type === "suite" || (name === file && outcome === "ran")) return;
    if (skip) {
      cell.out++;
      for (const entry of leftOut) if (entry.suite === suite && entry.in.includes(engine) && entry.tests.test(name)) skipped.add(entry);
    } else cell[outcome]++;
  };
  stream.on("test:pass", count("ran")).on("test:fail", count("failed"));
  let said = "";
  for await (const text of stream.compose(new spec())) said += text;
  return said;
}

for (const engine of Object.keys(engines).filter((engine) => engine !== "chromium")) {
  process.env.TURNWIRE_ENGINE = engine;
  for (const suite of suites) console.log(`\n== ${suite} in ${engines[engine]}\n${await runSuite(suite, engine)}`);
}

const others = Object.keys(engines).filter((engine) => engine !== "chromium");
const row = (...cells) => console.log(cells.map((cell, i) => String(cell).padEnd(i === 0 ? 18 : 22)).join("").trimEnd());
console.log("");
row("suite", `${engines.chromium} (make e2e)`, ...others.map((engine) => engines[engine]));
let failures = 0;
for (const suite of suites) {
  const cells = others.map((engine) => table[suite][engine]);
  // A suite that did not begin has failed, too.
  for (const { ran, failed, out } of cells) failures += failed + (ran + out === 0 ? 1 : 0);
  const { ran, failed, out } = cells[0];
  row(suite, `all ${ran + failed + out}`, ...cells.map(({ ran, failed, out }) => [`${ran} ran`, out && `${out} left out`, failed && `${failed} FAILED`].filter(Boolean).join(", ")));
}
console.log("every other suite   in Chromium alone\n\nleft out:");
for (const { suite, tests, in: where, reason } of leftOut) console.log(`  ${suite} ${tests} in ${where.map((engine) => engines[engine]).join(" and ")}: ${reason}`);

const stale = leftOut.filter((entry) => !skipped.has(entry));
for (const { suite, tests } of stale) console.error(`there is no test ${tests} in ${suite} to leave out`);
process.exit(failures > 0 || stale.length > 0 ? 1 : 0);
