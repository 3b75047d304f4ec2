// What a request of an act asks for, and the seed of its answer. Runs in Node and in the page.

import { random } from "../support/seed.mjs";
import { chance } from "./values.mjs";

/** The kind of a request by its method and its path below the act's address. */
export function kindOf(method, path) {
  if (path.startsWith("/store/")) return "store";
  if (/^\/v1\/workspaces\/[^/]+\/chats$/.test(path)) return "chats";
  if (/\/upload-url$/.test(path)) return "upload-url";
  if (/^\/v1\/files\//.test(path)) return method === "PATCH" ? "report" : "file";
  return /^\/v1\/chats\/[^/]+\/(messages|abort)$/.exec(path)?.[1] ?? "odd";
}

/** The randomness of the nth answer of a kind: acts side by side, and requests of one, do not take it from each other. */
export function randomOf(seed, kind, n) {
  let mixed = seed ^ Math.imul(n + 1, 0x9e3779b1);
  for (const c of kind) mixed = Math.imul(mixed ^ c.charCodeAt(0), 0x01000193);
  return random(mixed);
}

/** The upload-url record of an act, whose store is at `store`. */
export function ticketOf({ seed, protocol, size, sign }, store) {
  const r = randomOf(seed, "ticket", 0);
  const quote = JSON.stringify;
  const record = [["file_id", '"file-1"']];
  const named = (name) => chance(r, 0.6) && record.push(["protocol", quote(name)]);
  const address = (path, query) => quote(`${store}/${path}?${query}sig=${sign}`);
  switch (protocol) {
    case "azure-block": named(protocol); record.push(["upload_url", address("azure", "sv=1&sp=rcw&")]); break;
    case "s3-multipart": {
      named(protocol);
      const parts = Array.from({ length: 1 + r.below(3) }, (_, i) => `{"part_number":${i + 1},"url":${address(`s3/${i + 1}`, "")}}`);
      record.push(["upload_url", '""'], ["parts", `[${parts}]`], ["complete_url", address("s3/complete", "")], ["block_size", String(Math.max(size, 1))]);
      break;
    }
    case "gcs-resumable": record.push(["protocol", quote(protocol)], ["method", '"POST"'], ["upload_url", address("gcs", "")]); break;
    case "tus":
      record.push(["protocol", '"tus"'], ["upload_url", address("tus", "")]);
      if (chance(r, 0.4)) record.push(["extensions", '["creation","concatenation"]']);
      break;
    case "put": record.push(["upload_url", address("put", "")], ["headers", '{"x-plain":"yes"}']);
  }
  if (chance(r, 0.3)) record.push(["expires_at", quote(new Date(4e12).toISOString())]);
  return record;
}
