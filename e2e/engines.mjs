// The suites of support/engines.mjs in the engines beside Chromium, and at the end what ran where, and what did not, and why.

import { basename, join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { engines, leftOut, suites } from "./support/engines.mjs";

const files = suites.map((suite) => join(import.meta.dirname, `${suite}.test.mjs`));
const skipped = new Set();
const table = Object.fromEntries(suites.map((suite) => [suite, {}]));

for (const engine of Object.keys(engines).filter((engine) => engine !== "chromium")) {
  process.env.TURNWIRE_ENGINE = engine;
  console.log(`\n== ${engines[engine]}`);
  const stream = run({ files, concurrency: 1 });
  const count = (ran) => ({ name, file, skip, details }) => {
    if (details?.type === "suite" || !file) return;
    const suite = basename(file, ".test.mjs");
    if (!(suite in table) || name === file) return;
    const cell = (table[suite][engine] ??= { ran: 0, failed: 0, out: 0 });
    if (skip) {
      cell.out++;
      for (const entry of leftOut) if (entry.suite === suite && entry.in.includes(engine) && entry.tests.test(name)) skipped.add(entry);
    } else cell[ran]++;
  };
  stream.on("test:pass", count("ran")).on("test:fail", count("failed"));
  await new Promise((resolve, reject) => stream.compose(new spec()).on("end", resolve).on("error", reject).pipe(process.stdout, { end: false }));
}

const others = Object.keys(engines).filter((engine) => engine !== "chromium");
const row = (...cells) => console.log(cells.map((cell, i) => String(cell).padEnd(i === 0 ? 18 : 22)).join("").trimEnd());
console.log("");
row("suite", `${engines.chromium} (make e2e)`, ...others.map((engine) => engines[engine]));
let failures = 0;
for (const suite of suites) {
  const cells = others.map((engine) => table[suite][engine] ?? { ran: 0, failed: 1, out: 0 });
  for (const { failed } of cells) failures += failed;
  const { ran, failed, out } = cells[0];
  row(suite, `all ${ran + failed + out}`, ...cells.map(({ ran, failed, out }) => [`${ran} ran`, out && `${out} left out`, failed && `${failed} FAILED`].filter(Boolean).join(", ")));
}
console.log("every other suite   in Chromium alone\n\nleft out:");
for (const { suite, tests, in: where, reason } of leftOut) console.log(`  ${suite} ${tests} in ${where.map((engine) => engines[engine]).join(" and ")}: ${reason}`);

const stale = leftOut.filter((entry) => !skipped.has(entry));
for (const { suite, tests } of stale) console.error(`there is no test ${tests} in ${suite} to leave out`);
process.exit(failures > 0 || stale.length > 0 ? 1 : 0);
