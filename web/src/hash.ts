import { cancelQuietly } from "./byte-reader.ts";
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

/** The most bytes that the worker has in memory as a whole for their sum, and twice: WebCrypto copies what it is given. */
export const wholeMost = 16 << 20;

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
async function unchanged(data: HashJob["data"]): Promise<void> {
  if (!(data instanceof Uint8Array)) await data.blob.slice(0, 1).arrayBuffer();
}

/** Bytes read at once: while these are hashed the next are read. */
const readSize = 1 << 20;

/**
 * Adds a range and gives the new state, or the sum, in lower-case hexadecimal. Rejects where the bytes can't be read.
 * Nothing else may be hashed by the same module meanwhile; breathe is called every chunk, where the page has to live.
 */
export async function hashRange(program: Program, { data, state, last }: HashJob, breathe?: () => Promise<void> | undefined): Promise<string> {
  const { exports, memory, shared } = program;
  let view = new Uint8Array();
  const put = (bytes: Uint8Array): number => {
    // The memory is a new buffer whenever it has grown.
    if (view.buffer !== memory.buffer) view = new Uint8Array(memory.buffer, shared, chunkSize);
    view.set(bytes);
    return bytes.length;
  };
  if (!exports.hashBegin(state ? put(fromHex(state)) : 0)) throw new Error("the saved state of the checksum is none");
  const { read, done } = data instanceof Uint8Array ? once(data) : chunks(data);
  try {
    for (let next = read(), bytes; (bytes = await next); ) {
      next = read();
      // It is awaited in the next round; until then a failure is nobody's.
      next.catch(() => {});
      for (let i = 0; i < bytes.length; i += chunkSize) {
        exports.hashWrite(put(bytes.subarray(i, i + chunkSize)));
        if (breathe) await breathe();
      }
      done(bytes);
    }
  } catch (error) {
    closeBlob();
    throw error;
  }
  if (last && !(data instanceof Uint8Array)) closeBlob();
  if (last) await unchanged(data);
  exports.hashEnd(last ? 1 : 0);
  return toHex(left(program));
}

interface Chunks {
  /** The next bytes, undefined after the last. One more may be asked for before those are done with. */
  read(): Promise<Uint8Array | undefined>;
  done(bytes: Uint8Array): void;
}

function once(bytes: Uint8Array): Chunks {
  const all = [bytes];
  return { read: async () => all.pop(), done: () => {} };
}

/** Two buffers at most, for all Blobs: those of each read would be collected only when much more has been read. */
const free: ArrayBuffer[] = [];

/**
 * The Blob that was read last, for the range after: to begin each range anew takes a quarter longer. Something has to
 * hold its reader, else Chromium collects it while it reads into a buffer that it was given.
 */
let opened: { id: number; at: number; reader: ReadableStreamBYOBReader } | undefined;

/** Lets go of the Blob that was read last. */
export function closeBlob(): void {
  cancelQuietly(opened?.reader);
  opened = undefined;
}

function chunks({ blob, id, from, to }: Part): Chunks {
  let left = to - from;
  const counted = (value: Uint8Array | undefined): Uint8Array => {
    if (!value?.length) throw new Error(`${left} bytes fewer than there were`);
    left -= value.length;
    return value;
  };
  if (opened?.id !== id || opened.at !== from) {
    closeBlob();
    try {
      opened = { id, at: from, reader: blob.slice(from).stream().getReader({ mode: "byob" }) };
    } catch {
      // Not every browser's Blob reads into a buffer that it is given.
      const reader = blob.slice(from, to).stream().getReader();
      return { read: async () => (left > 0 ? counted((await reader.read()).value) : undefined), done: () => {} };
    }
  }
  const mine = opened;
  return {
    async read() {
      if (left === 0) return undefined;
      const length = Math.min(readSize, left);
      // Without min a read ends with what there is, about a tenth, and the rounds cost as much as the reading.
      const { value } = await mine.reader.read(new Uint8Array(free.pop() ?? new ArrayBuffer(readSize), 0, length), { min: length });
      mine.at += value?.length ?? 0;
      return counted(value);
    },
    done: ({ buffer }) => void free.push(buffer as ArrayBuffer),
  };
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

const fromHex = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
