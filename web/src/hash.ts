import { chunkSize } from "./contract.ts";
import { left, type Program } from "./program.ts";
import type { Part } from "./source.ts";

/** A range of bytes to be added to a SHA-256 (FIPS 180-4). */
export interface HashJob {
  data: Part | Uint8Array<ArrayBuffer>;
  /** What the range before left, "" for the first one. */
  state: string;
  /** Give the sum instead of a state. */
  last: boolean;
}

/**
 * The sum of a range that is all there is to it, by WebCrypto, which is several times as fast as WebAssembly. undefined of
 * other ranges, of more bytes than most, and on pages that are not served securely: there is no WebCrypto.
 */
export function hashWhole({ data, state, last }: HashJob, most: number): Promise<string> | undefined {
  const size = data instanceof Uint8Array ? data.length : data.to - data.from;
  return state === "" && last && size <= most && crypto.subtle ? digestOf(data) : undefined;
}

async function digestOf(data: HashJob["data"]): Promise<string> {
  const bytes = data instanceof Uint8Array ? data : await data.blob.slice(data.from, data.to).arrayBuffer();
  await unchanged(data);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Rejects where a file has changed while it was open: that is seen by nobody but who opens it again. */
export async function unchanged(data: HashJob["data"]): Promise<void> {
  if (!(data instanceof Uint8Array)) await data.blob.slice(0, 1).arrayBuffer();
}

/** Bytes of a Blob that are read at once. */
export const readSize = 1 << 20;

/**
 * Adds a range, whose bytes come in chunks, and gives the new state, or the sum, in lower-case hexadecimal. Nothing else may
 * be hashed by the same module meanwhile; breathe is called every chunkSize bytes, where the page has to live.
 */
export async function hashChunks(program: Program, { state, last }: HashJob, chunks: AsyncIterable<Uint8Array>, breathe?: () => Promise<void> | undefined): Promise<string> {
  const { exports, memory, shared } = program;
  let view = new Uint8Array();
  const put = (bytes: Uint8Array): number => {
    // The memory is a new buffer whenever it has grown.
    if (view.buffer !== memory.buffer) view = new Uint8Array(memory.buffer, shared, chunkSize);
    view.set(bytes);
    return bytes.length;
  };
  if (!exports.hashBegin(state ? put(fromHex(state)) : 0)) throw new Error("the saved state of the checksum is none");
  for await (const bytes of chunks) {
    for (let i = 0; i < bytes.length; i += chunkSize) {
      exports.hashWrite(put(bytes.subarray(i, i + chunkSize)));
      if (breathe) await breathe();
    }
  }
  exports.hashEnd(last ? 1 : 0);
  return toHex(left(program));
}

/** The chunks of a range, each read as it is wanted. Rejects where the bytes can't be read. */
export async function* slices(data: HashJob["data"]): AsyncGenerator<Uint8Array> {
  if (data instanceof Uint8Array) yield data;
  else for (let { blob, from, to } = data; from < to; from += readSize) yield new Uint8Array(await blob.slice(from, Math.min(from + readSize, to)).arrayBuffer());
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

const fromHex = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
