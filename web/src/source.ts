import type { UploadData } from "turnwire";
import { ByteReader, tagOf } from "./byte-reader.ts";

export type Bytes = Blob | Uint8Array<ArrayBuffer>;

/** A range of a Blob. Its id is that of all ranges of the same data, in a worker too, where each message brings another Blob. */
export interface Part {
  blob: Blob;
  id: number;
  from: number;
  to: number;
}

/** The data of an upload. A failure to read it is thrown as it comes, or says what is wrong with the data. */
export interface Source {
  /** Bytes from to to; to is at most the size. */
  read(from: number, to: number): Promise<Bytes>;
  /** The same bytes for one who reads range after range. */
  part(from: number, to: number): Promise<Part | Uint8Array<ArrayBuffer>>;
  /** No byte before is read again. */
  release?(before: number): void;
  close?(): void;
}

export const isBlob = (data: unknown): data is Blob => /^(Blob|File)$/.test(tagOf(data));

export const isStream = (data: unknown): data is ReadableStream<Uint8Array> =>
  typeof data === "object" && data !== null && typeof (data as ReadableStream).getReader === "function";

/** The bytes of a buffer or of a view's own window of it; throws where the buffer is detached, undefined where it is neither. */
export function bytesOf(data: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return /^(Shared)?ArrayBuffer$/.test(tagOf(data)) ? new Uint8Array(data as ArrayBuffer) : undefined;
}

/** moved is called when the data gave some bytes, of data that may keep one waiting: a stream. */
export function sourceOf(data: UploadData, size: number, moved?: () => void): Source {
  if (isBlob(data)) return blobSource(data);
  return isStream(data) ? streamSource(data, size, moved) : byteSource(bytesOf(data)!, size);
}

let lastId = 0;

function blobSource(blob: Blob): Source {
  const id = ++lastId;
  const part = async (from: number, to: number): Promise<Part> => {
    // A file that was removed looks like an empty one until it is read.
    if (blob.size === 0) await blob.arrayBuffer();
    return { blob, id, from, to };
  };
  // Without a type: a request would send it on.
  return { part, read: async (from, to) => (await part(from, to)).blob.slice(from, to) };
}

function byteSource(bytes: Uint8Array, size: number): Source {
  const read = async (from: number, to: number): Promise<Uint8Array<ArrayBuffer>> => {
    if (bytes.length !== size) throw new TypeError("the buffer was detached or resized");
    // Shared memory can't be sent, nor can a buffer that may change its size.
    const fixed = tagOf(bytes.buffer) === "ArrayBuffer" && !(bytes.buffer as { resizable?: boolean }).resizable;
    return (fixed ? bytes.subarray(from, to) : bytes.slice(from, to)) as Uint8Array<ArrayBuffer>;
  };
  return { read, part: read };
}

/** A stream can be read only once, in order. */
function streamSource(stream: ReadableStream<Uint8Array>, size: number, moved?: () => void): Source {
  const reader = new ByteReader(stream, "the stream");
  /** What was read and may be asked for again. */
  let chunks: { at: number; bytes: Uint8Array }[] = [];
  let have = 0;
  let ended = false;
  let filled: Promise<void> = Promise.resolve();

  /** Reads as far as to; at the size, makes sure that the stream ends there. */
  const fill = async (to: number): Promise<void> => {
    while (!ended && (have < to || to === size)) {
      const value = await reader.next();
      if (!value) ended = true;
      else if (value.length > 0) {
        // Its producer may fill the same buffer again as soon as more is asked for.
        chunks.push({ at: have, bytes: new Uint8Array(value) });
        have += value.length;
        moved?.();
      }
      if (have > size) throw new TypeError(`the stream has more than the ${size} bytes that option size says`);
    }
    if (have < to) throw new TypeError(`the stream ended after ${have} of the ${size} bytes that option size says`);
  };

  const read = async (from: number, to: number): Promise<Uint8Array<ArrayBuffer>> => {
    // One after another; what is wrong with it stays wrong: who asked first may have been let go meanwhile.
    await (filled = filled.then(() => fill(to)));
    const taken = new Uint8Array(to - from);
    for (const { at, bytes } of chunks) {
      const start = Math.max(from - at, 0), end = Math.min(to - at, bytes.length);
      if (start < end) taken.set(bytes.subarray(start, end), at + start - from);
    }
    return taken;
  };

  return {
    read,
    part: read,
    release: (before) => void (chunks = chunks.filter(({ at, bytes }) => at + bytes.length > before)),
    close: () => {
      chunks = [];
      reader.cancel();
    },
  };
}
