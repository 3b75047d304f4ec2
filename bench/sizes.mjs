// What a page has to load: its script with the client in it, and the module.

import { brotliSize } from "../scripts/build-info.mjs";
import { builds, dist } from "./builds.mjs";
import { pageOf } from "./pages.mjs";

const ours = Object.keys(builds);
const pages = {
  "send a message": [...ours, "openai", "ai"],
  "upload a file": [...ours, "tus-js-client", "@azure/storage-blob"],
  "do both": [...ours, "openai + tus-js-client", "openai + @azure/storage-blob", "ai + @azure/storage-blob"],
};

export async function sizes() {
  const worker = brotliSize(dist("turnwire.worker.mjs"));
  for (const [what, clients] of Object.entries(pages)) {
    console.log(`\nA page to ${what}: bytes by brotli, to turnwire's`);
    let first;
    for (const client of clients) {
      const files = Object.fromEntries(Object.entries(await pageOf(client)).map(([name, data]) => [name, brotliSize(data)]));
      // The first upload starts it.
      if (builds[client] && clients !== pages["send a message"]) files["turnwire.worker.mjs"] = worker;
      const size = Object.values(files).reduce((a, b) => a + b);
      first ??= size;
      const listed = Object.entries(files).map(([name, size]) => `${name} ${size.toLocaleString("en")}`).join(", ");
      console.log(`  ${client.padEnd(30)} ${size.toLocaleString("en").padStart(9)} ${(size / first).toFixed(2).padStart(6)}   ${listed}`);
    }
  }
}
