// The service's own storage as a store like those of stores.mjs: what it has is read from its folder.

import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./server.mjs";
import { stored } from "./stores/stored.mjs";

export function ownStore() {
  const folder = temporaryFolder("data");
  const objects = join(folder.path, "storage");
  return {
    name: "own",
    flags: ["-data", folder.path],
    env: {},
    /** A key is a file's id. */
    list: async () => readdirSync(objects, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name),
    async read(key) {
      const { blocks } = JSON.parse(readFileSync(join(objects, key, "manifest.json"), "utf8"));
      return stored(concat(blocks.map(({ file }) => join(objects, key, file))));
    },
    stop: async () => folder.remove(),
  };
}

async function* concat(paths) {
  for (const path of paths) yield* createReadStream(path);
}
