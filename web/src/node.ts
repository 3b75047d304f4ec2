// The package where there is no page: Node, and Deno and Bun, which take the same file.

import { setDefault } from "./loader.ts";

setDefault(
  () => new URL("./turnwire.wasm", import.meta.url),
  // Node has no such workers: the sums are worked out where the client runs.
  () => new Worker(new URL("./turnwire.worker.mjs", import.meta.url), { type: "module" }),
);

export * from "./public.ts";
