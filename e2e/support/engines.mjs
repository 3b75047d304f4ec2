// Which suites run in which engine, and what of them is left out where: `make e2e` runs all suites in Chromium,
// `make engines` these ones in the others.

import { basename } from "node:path";

export const engines = { chromium: "Chromium", firefox: "Firefox", webkit: "WebKitGTK" };

/** The engine of this run. */
export const engine = process.env.TURNWIRE_ENGINE ?? "chromium";
if (!(engine in engines)) throw new Error(`TURNWIRE_ENGINE must be one of ${Object.keys(engines).join(", ")}, not ${JSON.stringify(engine)}`);

/** The suites whose outcome depends on the engine. */
export const suites = ["turn", "ends", "cancel", "replay", "page-life", "upload-worker", "upload-resume", "upload-progress", "upload-faults", "demo"];

const others = ["firefox", "webkit"];
const noScriptAhead = "WebDriver runs nothing ahead of a page's scripts";

/** What of them an engine does not run: tests by their names, and why. */
export const leftOut = [
  { suite: "page-life", tests: /^a tab in the back/, in: others, reason: "no driver puts its page in the back" },
  { suite: "cancel", tests: /^closing the tab/, in: ["firefox"], reason: "closed by its driver, a tab does not always send what it was told to at pagehide" },
  { suite: "page-life", tests: /^a page is kept|^a turn under way when/, in: ["firefox"], reason: "its driver does not return from going back to a kept page" },
  { suite: "upload-worker", tests: /garbage is collected/, in: others, reason: "no driver asks for a collection" },
  { suite: "upload-resume", tests: /^a page whose database/, in: ["webkit"], reason: noScriptAhead },
  { suite: "upload-resume", tests: /^(Azurite|versitygw|@tus\/server)$/, in: others, reason: "what a store is asked for is the same in every engine" },
  { suite: "upload-progress", tests: /^how often/, in: others, reason: "no driver slows its network" },
  { suite: "demo", tests: /^reasoning and tool cards/, in: others, reason: "without a GPU they draw too few frames for every state to be seen" },
  { suite: "demo", tests: /^temporary and model|^an interrupted answer/, in: ["webkit"], reason: noScriptAhead },
];

const suite = basename(process.argv[1] ?? "", ".test.mjs");

/** Why a test is not run in this engine; undefined where it is. */
export const reasonFor = (name) => leftOut.find((entry) => entry.suite === suite && entry.in.includes(engine) && entry.tests.test(name))?.reason;
