// Only the standard module needs Go's runtime script, so it is a file of its own.
export { default } from "wasm-exec";
