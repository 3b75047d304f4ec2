import { setDefault } from "./loader.ts";

// Known only while the script runs.
const script = typeof document === "undefined" ? null : document.currentScript;
const base = script instanceof HTMLScriptElement && script.src ? script.src : location.href;
setDefault(
  () => new URL("./turnwire.wasm", base),
  () => new Worker(new URL("./turnwire.worker.mjs", base), { type: "module" }),
);

export * from "./public.ts";
