import { setDefault } from "./runtime.ts";

// Bundlers find the module by this literal form.
setDefault(() => new URL("./turnwire.wasm", import.meta.url));

export * from "./public.ts";
