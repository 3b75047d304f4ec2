import newGo from "wasm-exec";
import type { Exports } from "./contract.ts";

/** What a program exports: the contract's functions, and its memory. */
export type ProgramExports = Exports & { readonly mem: WebAssembly.Memory };

/** Makes a program of the module; its runtime sees the host and little else of the global object. */
export async function instantiate(module: WebAssembly.Module, host: object) {
  const Go = newGo({ Object, Array, Uint8Array, Error, Date, crypto, performance, TextEncoder, TextDecoder, turnwire: host });
  const go = new Go();
  const program = await WebAssembly.instantiate(module, go.importObject);
  return { go, program, exports: program.exports as WebAssembly.Exports & ProgramExports };
}
