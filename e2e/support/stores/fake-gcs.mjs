// Google Cloud Storage by fake-gcs-server. It shows pages one header of an answer, Location: the offset in the Range of
// a 308, which real buckets can be told to show, is not to be had through it.

import { Server } from "../server.mjs";
import { tool } from "../tools.mjs";
import { answered } from "./stored.mjs";

const bucket = "uploads";

export async function fakeGCS() {
  const server = await Server.start("fake-gcs-server", (folder, port) => ({
    command: tool("fake-gcs-server"),
    args: ["-scheme", "http", "-host", "127.0.0.1", "-port", String(port), "-filesystem-root", folder, "-cors-headers", "content-type,content-range,x-goog-resumable", "-log-level", "error"],
  }));
  const api = `${server.origin}/storage/v1/b`;
  await server.setUp(async () => {
    const created = await fetch(api, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: bucket }) });
    if (!created.ok) throw new Error(`fake-gcs-server refused the bucket with ${created.status}: ${await created.text()}`);
  });
  return {
    name: "gcs",
    origin: server.origin,
    flags: ["-storage", `gcs=${server.origin}/${bucket}`],
    env: {},
    list: async () => ((await (await fetch(`${api}/${bucket}/o`)).json()).items ?? []).map(({ name }) => name),
    read: async (key) => answered(await fetch(`${api}/${bucket}/o/${encodeURIComponent(key)}?alt=media`)),
    stop: () => server.stop(),
  };
}
