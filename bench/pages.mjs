// The page of each client: what a person's browser loads to send a message, or to upload a file.

import { join } from "node:path";
import { build } from "esbuild";
import { builds, dist } from "./builds.mjs";

/** Parts of bench/src/pages, in the order in which they run. Those that upload come first: the message ends the start. */
const parts = {
  turnwire: ["turnwire"],
  "turnwire, Go's build": ["turnwire-go", "turnwire"],
  openai: ["openai"],
  ai: ["ai"],
  "@azure/storage-blob": ["azure"],
  "tus-js-client": ["tus"],
  "openai + @azure/storage-blob": ["azure", "openai"],
  "openai + tus-js-client": ["tus", "openai"],
  "ai + @azure/storage-blob": ["azure", "ai"],
};

/** The files of a client's page by name: its one script, and the module where it has one. */
export async function pageOf(client) {
  const { outputFiles: [script] } = await build({
    stdin: { contents: parts[client].map((part) => `import "./${part}.ts";`).join("\n"), resolveDir: join(import.meta.dirname, "src/pages") },
    bundle: true, minify: true, format: "esm", platform: "browser", target: "es2022", write: false, logLevel: "warning",
    // It lies beside the module, and only the page of that build loads it.
    external: ["*/turnwire.go.mjs"],
  });
  return { "app.js": script.contents, ...Object.fromEntries((builds[client] ?? []).map((name) => [name, dist(name)])) };
}
