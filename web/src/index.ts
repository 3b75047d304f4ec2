import { setDefault } from "./loader.ts";

// Bundlers find the module and the worker by these literal forms.
setDefault(
  () => new URL("./turnwire.wasm", import.meta.url),
  () => new Worker(new URL("./turnwire.worker.mjs", import.meta.url), { type: "module" }),
);

export * from "./public.ts";
