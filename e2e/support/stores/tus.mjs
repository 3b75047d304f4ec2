// tus by its reference server for Node, in this process.

import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { FileStore } from "@tus/file-store";
import { Server as TusServer } from "@tus/server";
import { temporaryFolder } from "../server.mjs";
import { stored } from "./stored.mjs";

export async function tus() {
  const folder = temporaryFolder("tus");
  const files = new TusServer({ path: "/files", datastore: new FileStore({ directory: folder.path }) });
  const server = createServer((request, response) => files.handle(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    name: "tus",
    origin,
    flags: ["-storage", `tus=${origin}/files`],
    env: {},
    // Beside each file lies a .json with what the server knows of it.
    list: async () => (await readdir(folder.path)).filter((name) => !name.endsWith(".json")),
    read: (key) => stored(createReadStream(join(folder.path, key))),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      folder.remove();
    },
  };
}
