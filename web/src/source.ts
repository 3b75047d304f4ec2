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
  /** It can be read only once, in order. */
  readonly once: boolean;
  /** Bytes from to to; to is at most the size. */
  read(from: number, to: number): Promise<Bytes>;
  /** The same bytes for one who reads range after range. */
  part(from: number, to: number): Promise<Part | Uint8Array<ArrayBuffer>>;
  /** No byte before is read again. */
  release(before: number): void;
  close(): void;
  /** Called when the data gave some bytes. */
  moved?: () => void;
}

export const isBlob = (data: unknown): data is Blob => /^(Blob|File)$/.test(tagOf(data));

export const isStream = (data: unknown): data is ReadableStream<Uint8Array> =>
  typeof data === "object" && data !== null && typeof (data as ReadableStream).getReader === "function";

/** The bytes of a buffer or of a view's own window of it; throws where the buffer is detached, undefined where it is neither. */
export function bytesOf(data: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return /^(Shared)?ArrayBuffer$/.test(tagOf(data)) ? new Uint8Array(data as ArrayBuffer) : undefined;
}

export function sourceOf(data: UploadData, size: number): Source {
  if (isBlob(data)) return new BlobSource(data);
  if (isStream(data)) return new StreamSource(data, size);
  return new ByteSource(bytesOf(data)!, size);
}

let lastId = 0;

class BlobSource implements Source {
  readonly once = false;
  readonly #blob: Blob;
  readonly #id = ++lastId;

  constructor(blob: Blob) {
    this.#blob = blob;
  }

  async read(from: number, to: number): Promise<Blob> {
    const { blob } = await this.part(from, to);
    // Without a type: a request would send it on.
    return blob.slice(from, to);
  }

  async part(from: number, to: number): Promise<Part> {
    // A file that was removed looks like an empty one until it is read.
    if (this.#blob.size === 0) await this.#blob.arrayBuffer();
    return { blob: this.#blob, id: this.#id, from, to };
  }

  release(): void {}
  close(): void {}
}

class ByteSource implements Source {
  readonly once = false;
  readonly #bytes: Uint8Array;
  readonly #size: number;

  constructor(bytes: Uint8Array, size: number) {
    this.#bytes = bytes;
    this.#size = size;
  }

  async read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = this.#bytes;
    if (bytes.length !== this.#size) throw new TypeError("the buffer was detached or resized");
    // Shared memory can't be sent, nor can a buffer that may change its size.
    const fixed = tagOf(bytes.buffer) === "ArrayBuffer" && !(bytes.buffer as { resizable?: boolean }).resizable;
    return (fixed ? bytes.subarray(from, to) : bytes.slice(from, to)) as Uint8Array<ArrayBuffer>;
  }

  part(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.read(from, to);
  }

  release(): void {}
  close(): void {}
}

class StreamSource implements Source {
  readonly once = true;
  moved?: () => void;
  readonly #reader: ByteReader;
  readonly #size: number;
  /** What was read and may be asked for again. */
  #chunks: { at: number; bytes: Uint8Array }[] = [];
  #have = 0;
  #ended = false;
  #filled: Promise<void> = Promise.resolve();

  constructor(stream: ReadableStream<Uint8Array>, size: number) {
    this.#reader = new ByteReader(stream, "the stream");
    this.#size = size;
  }

  read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    // What is wrong with it stays wrong: who asked first may have been let go meanwhile.
    this.#filled = this.#filled.then(() => this.#fill(to));
    this.#filled.catch(() => {});
    return this.#filled.then(() => this.#take(from, to));
  }

  part(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.read(from, to);
  }

  /** Reads as far as to; at the size, makes sure that the stream ends there. */
  async #fill(to: number): Promise<void> {
    while (!this.#ended && (this.#have < to || to === this.#size)) {
      const value = await this.#reader.next();
      if (!value) this.#ended = true;
      else if (value.length > 0) {
        // Its producer may fill the same buffer again as soon as more is asked for.
        this.#chunks.push({ at: this.#have, bytes: new Uint8Array(value) });
        this.#have += value.length;
        this.moved?.();
      }
      if (this.#have > this.#size) throw new TypeError(`the stream has more than the ${this.#size} bytes that option size says`);
    }
    if (this.#have < to) throw new TypeError(`the stream ended after ${this.#have} of the ${this.#size} bytes that option size says`);
  }

  #take(from: number, to: number): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(to - from);
    for (const { at, bytes } of this.#chunks) {
      const start = Math.max(from - at, 0), end = Math.min(to - at, bytes.length);
      if (start < end) taken.set(bytes.subarray(start, end), at + start - from);
    }
    return taken;
  }

  release(before: number): void {
    this.#chunks = this.#chunks.filter(({ at, bytes }) => at + bytes.length > before);
  }

  close(): void {
    this.#chunks = [];
    this.#reader.cancel();
  }
}
