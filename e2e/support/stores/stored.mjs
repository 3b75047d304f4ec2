import { createHash } from "node:crypto";

/** What a stream of bytes is: its size, and its SHA-256 in hex. */
export async function stored(stream) {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
}

/** The same of an answer of fetch. */
export async function answered(response) {
  if (!response.ok) throw new Error(`${response.url.split("?")[0]} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
  return stored(response.body);
}
