// The package that is tested: web/dist, or with TURNWIRE_BUILD=go the same with the standard module as turnwire.wasm, which
// a page takes as it takes the small one.

import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { top } from "../../scripts/gowasm.mjs";

/** "small" or "go". */
export const build = process.env.TURNWIRE_BUILD ?? "small";
if (build !== "small" && build !== "go") throw new Error(`TURNWIRE_BUILD must be "small" or "go", not ${JSON.stringify(build)}`);

/** The folder of the package's files. */
export const folder = build === "go" ? withGo() : join(top, "web", "dist");

function withGo() {
  const cache = join(top, ".cache", "e2e");
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "go-build-"));
  cpSync(join(top, "web", "dist"), made, { recursive: true });
  cpSync(join(made, "turnwire.go.wasm"), join(made, "turnwire.wasm"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}
