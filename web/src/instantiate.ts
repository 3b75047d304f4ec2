import newGo from "wasm-exec";

declare const __TURNWIRE_STAMP__: string;

/** Tells what is built together from other builds: the module carries the same. */
export const stamp: string = __TURNWIRE_STAMP__;

/** What the module exports beside Go's own; see stream.go and hash.go of jsbridge. */
export interface Exports extends WebAssembly.Exports {
  mem: WebAssembly.Memory;
  memory(): number;
  feed(turn: number, bytes: number, now: number): number;
  flush(turn: number): void;
  hold(turn: number, on: number): void;
  tools(turn: number): number;
  release(turn: number): void;
  hashBegin(bytes: number): number;
  hashWrite(bytes: number): void;
  hashEnd(last: number): void;
}

/** Makes a program of the module; its runtime sees the host and little else of the global object. */
export async function instantiate(module: WebAssembly.Module, host: object) {
  const Go = newGo({ Object, Array, Uint8Array, Error, Date, crypto, performance, TextEncoder, TextDecoder, turnwire: host });
  const go = new Go();
  const program = await WebAssembly.instantiate(module, go.importObject);
  return { go, program, exports: program.exports as Exports };
}

/** Bytes that the module takes at once, and where it says what it left: chunkSize and shared of jsbridge/stream.go. */
export const chunkSize = 64 << 10;
export const out = 0, size = 1, count = 2, state = 3, marks = 5;
