// The package as it is served. The service gives the address and hears of the end within the measured time.

// @ts-expect-error: no declaration stands beside a served file
import { AgentClient } from "/turnwire/turnwire.mjs";
import type { Contender } from "./upload.ts";

export function turnwire(checksum: boolean): Contender {
  return async (file, { blockSize, concurrency }) => {
    const client = new AgentClient({ baseURL: location.origin, apiKey: "dev-key", workspaceId: "demo" });
    await client.ready();
    return () => client.files.upload(file, { blockSize, concurrency, checksum }).done();
  };
}
