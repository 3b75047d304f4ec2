// What web/dist holds of the module: one build, or two.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "../scripts/gowasm.mjs";

export const dist = (name) => readFileSync(join(top, "web/dist", name));

const has = (name) => existsSync(join(top, "web/dist", name));

/** Go's own build where there is another, which is the package's then. */
export const go = has("turnwire.go.wasm") && ["turnwire.go.wasm", "turnwire.go.mjs"].filter(has);

/** By name, what a page loads besides its script until the module runs: the module first. */
export const builds = { turnwire: ["turnwire.wasm"], ...(go && { "turnwire, Go's build": go }) };
