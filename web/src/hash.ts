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
const readSize = 1 << 20;

/**
 * Adds a range and gives the new state, or the sum, in lower-case hexadecimal. Rejects where the bytes can't be read.
 * Nothing else may be hashed by the same module meanwhile; breathe is called every chunk, where the page has to live.
 */
export async function hashRange(exports: Exports, { data, state, last }: HashJob, breathe?: () => Promise<void> | undefined): Promise<string> {
  const io = exports.memory();
  let view = new Uint8Array();
  const put = (bytes: Uint8Array): number => {
    // The memory is a new buffer whenever it has grown.
    if (view.buffer !== exports.mem.buffer) view = new Uint8Array(exports.mem.buffer, io, chunkSize);
    view.set(bytes);
    return bytes.length;
  };
  if (!exports.hashBegin(state ? put(fromHex(state)) : 0)) throw new Error("the saved state of the checksum is none");
  const { read, done } = data instanceof Uint8Array ? once(data) : chunks(data);
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
  exports.hashEnd(last ? 1 : 0);
  const words = new Uint32Array(exports.mem.buffer, io + chunkSize);
  return toHex(new Uint8Array(exports.mem.buffer, words[out], words[size]));
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

/**
 * Two buffers at most, for all Blobs: those of each read or of each range are collected only when much more has been
 * read, so that memory would grow with the file.
 */
const free: ArrayBuffer[] = [];

/** Chromium collects a Blob's stream while it reads into a buffer that it was given, and the read never ends, unless something holds its reader. */
const reading = new Set<unknown>();

function chunks(data: Blob): Chunks {
  let left = data.size;
  const take = ({ value }: { value?: Uint8Array | undefined }): Uint8Array | undefined => {
    left -= value?.length ?? 0;
    if (!value?.length && left > 0) throw new Error(`${left} bytes fewer than there were`);
    return value?.length ? value : undefined;
  };
  const stream = data.stream();
  try {
    const reader = stream.getReader({ mode: "byob" });
    const done = ({ buffer }: Uint8Array): void => void free.push(buffer as ArrayBuffer);
    return {
      async read() {
        reading.add(reader);
        // Else a read ends with what there is, about a tenth, and the rounds cost as much as the reading.
        const min = Math.min(readSize, left) || 1;
        const result = await reader.read(new Uint8Array(free.pop() ?? new ArrayBuffer(readSize)), { min }).finally(() => reading.delete(reader));
        // The end has nothing in its buffer, and gives it back all the same.
        if (result.value?.length === 0) done(result.value);
        return take(result);
      },
      done,
    };
  } catch {
    // Not every browser's Blob reads into a buffer that it is given.
    const reader = stream.getReader();
    return { read: async () => take(await reader.read()), done: () => {} };
  }
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

const fromHex = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
