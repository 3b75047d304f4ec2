import type { Head } from "./contract.ts";

/** What the module needs of an answer, and its body, read once and here: a fetch of the page's own may give anything. */
export function answerOf(response: Response): { head: Head; body: ReadableStream<Uint8Array> | null } {
  const { status, type, headers } = response ?? {};
  const get = (name: string): string => {
    const value = headers.get(name);
    return typeof value === "string" ? value : "";
  };
  if (!Number.isInteger(status) || status < 0 || status > 999 || typeof headers?.get !== "function") throw new TypeError("option fetch must resolve with a Response");
  // Such a one has nothing that can be read.
  if (status < 100) throw new TypeError(`the answer is of type ${type || "none"}, and says nothing`);
  return {
    head: { status, contentType: get("content-type"), requestId: get("x-request-id") || get("request-id"), retryAfter: get("retry-after") },
    body: response.body,
  };
}
