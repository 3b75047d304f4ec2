// The package as it is served. The service gives the address within the measured time. What it does with the report of
// the end, reading everything once more to check it, is outside: the others end when all is stored, too.

// @ts-expect-error: no declaration stands beside a served file
import { AgentClient } from "/turnwire/turnwire.mjs";
import type { Contender } from "./upload.ts";

export function turnwire(checksum: boolean): Contender {
  return async (file, { blockSize, concurrency }) => {
    const client = new AgentClient({ baseURL: location.origin, apiKey: "dev-key", workspaceId: "demo" });
    await client.ready();
    return async () => {
      const upload = client.files.upload(file, { blockSize, concurrency, checksum });
      const done = upload.done();
      const stored = new Promise<void>((resolve) => upload.on("progress", ({ stage }) => stage === "reporting" && resolve()));
      await Promise.race([stored, done]);
      return { done };
    };
  };
}
