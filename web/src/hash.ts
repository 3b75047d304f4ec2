import { chunkSize, type Exports, out, size } from "./instantiate.ts";

/** A range of bytes to be added to a SHA-256 (FIPS 180-4). */
export interface HashJob {
  data: Blob | Uint8Array<ArrayBuffer>;
  /** What the range before left, "" for the first one. */
  state: string;
  /** Give the sum instead of a state. */
  last: boolean;
}

/** Bytes read at once: while these are hashed the next are read. */
const readSize = 4 << 20;

/**
 * Adds a range and gives the new state, or the sum, in lower-case hexadecimal. Rejects where the bytes can't be read.
 * Nothing else may be hashed by the same module meanwhile; breathe is called every chunk, where the page has to live.
 */
export async function hashRange(exports: Exports, { data, state, last }: HashJob, breathe?: () => Promise<void> | undefined): Promise<string> {
  const io = exports.memory();
  // A view is made for each use: the memory is a new buffer whenever it has grown.
  const put = (bytes: Uint8Array): number => (new Uint8Array(exports.mem.buffer, io).set(bytes), bytes.length);
  const { buffer } = exports.mem;
  if (!exports.hashBegin(state ? put(fromHex(state)) : 0)) throw new Error(`no state of a sum in ${buffer.byteLength} bytes`);
  const length = data instanceof Uint8Array ? data.length : data.size;
  const read = (at: number): Promise<Uint8Array> =>
    data instanceof Uint8Array
      ? Promise.resolve(data.subarray(at, at + readSize))
      : data.slice(at, at + readSize).arrayBuffer().then((bytes) => new Uint8Array(bytes));
  let next = read(0);
  for (let at = 0; at < length; at += readSize) {
    const bytes = await next;
    if (at + readSize < length) {
      next = read(at + readSize);
      // It is awaited in the next round; until then a failure is nobody's.
      next.catch(() => {});
    }
    for (let i = 0; i < bytes.length; i += chunkSize) {
      exports.hashWrite(put(bytes.subarray(i, i + chunkSize)));
      if (breathe) await breathe();
    }
    // Collected only when as much again has been read, the memory would grow with the file.
    if (data instanceof Blob) (bytes.buffer as { transfer?(length: number): void }).transfer?.(0);
  }
  exports.hashEnd(last ? 1 : 0);
  const words = new Uint32Array(exports.mem.buffer, io + chunkSize);
  return toHex(new Uint8Array(exports.mem.buffer, words[out], words[size]));
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

const fromHex = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
