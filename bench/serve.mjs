// The server of a bench's pages.

import { createServer } from "node:http";

export const types = { js: "text/javascript", mjs: "text/javascript", wasm: "application/wasm" };

/** Ahead of an answer: the clock of a page that is isolated is fine enough for one call of the module. */
export function isolate(response) {
  response.setHeader("cross-origin-opener-policy", "same-origin");
  response.setHeader("cross-origin-embedder-policy", "require-corp");
}

/** Serves on loopback by `answer`, which Node calls for each request. */
export async function serve(answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
  };
}
