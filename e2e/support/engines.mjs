// Which suites run in which engine, and what of them is left out where: `make e2e` runs all suites in Chromium,
// `make engines` these ones in the others.

import { basename } from "node:path";

export const engines = { chromium: "Chromium", firefox: "Firefox", webkit: "WebKitGTK" };

/** The engine of this run. */
export const engine = process.env.TURNWIRE_ENGINE ?? "chromium";
if (!(engine in engines)) throw new Error(`TURNWIRE_ENGINE must be one of ${Object.keys(engines).join(", ")}, not ${JSON.stringify(engine)}`);

/** The suites whose outcome depends on the engine. */
export const suites = ["turn", "ends", "cancel", "replay", "page-life", "upload-worker", "upload-resume", "upload-progress", "upload-faults", "demo"];

/** What of them an engine does not run: tests by their names, and why. */
export const leftOut = [
];

const suite = basename(process.argv[1] ?? "", ".test.mjs");

/** Why a test is not run in this engine; undefined where it is. */
export const reasonFor = (name) => leftOut.find((entry) => entry.suite === suite && entry.in.includes(engine) && entry.tests.test(name))?.reason;
