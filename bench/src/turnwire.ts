// The package's sources with the module that this script's address names after "?". A page has this script once for each
// build: what the browser learns while it runs one build is not what it knows of the next.

import { init } from "../../web/src/loader.ts";

await init({ wasmURL: new URL(new URL(import.meta.url).search.slice(1), import.meta.url) });

export { plane } from "./turnwire-plane.ts";
export { turn } from "./turnwire-turn.ts";
export { latency } from "./turnwire-latency.ts";
export { hash } from "./turnwire-hash.ts";
