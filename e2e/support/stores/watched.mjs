// What pages ask of a store, written down by a relay between them and it. What the service asks goes past it.

import { createServer, request as ask } from "node:http";
import { pipeline } from "node:stream";
import { behind } from "../stores.mjs";

/**
 * The same store with `requests`: { method, path, query, headers, size, status } of each, preflights too, oldest first.
 * size counts the body's bytes that came so far; status is missing until the answer begins.
 */
export async function watched(store) {
  const requests = [];
  const { hostname, port } = new URL(store.origin);
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    const { pathname, searchParams } = new URL(incoming.url, store.origin);
    const record = { method, path: pathname, query: Object.fromEntries(searchParams), headers, size: 0 };
    requests.push(record);
    // The Host stays the one that the page sent: a store may have it in its signature, or put it into a Location.
    // Each has a connection of its own: one kept may be closed by the store just when it is used again.
    const onward = ask({ hostname, port, agent: false, method, path: incoming.url, headers: incoming.rawHeaders });
    onward.on("response", (answer) => {
      record.status = answer.statusCode;
      outgoing.writeHead(answer.statusCode, answer.rawHeaders);
      pipeline(answer, outgoing, () => {});
    });
    // A break on one side is one on the other.
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.on("data", (chunk) => (record.size += chunk.length));
    pipeline(incoming, onward, () => {});
  });
  // Node's five seconds between two requests are over soon on a busy machine.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...behind(store, `http://127.0.0.1:${server.address().port}`),
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await store.stop();
    },
  };
}
