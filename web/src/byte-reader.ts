import { shouldYield, yieldToPage } from "./yielding.ts";

/** What an object is, by its tag: one of another frame is no instance of this one's class. */
export const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Cancels a stream or its reader. One of the page's own may throw, reject, or never settle. */
export function cancelQuietly(stream: { cancel(): unknown } | null | undefined): void {
  try {
    Promise.resolve(stream?.cancel()).catch(() => {});
  } catch {
    // Nobody reads it any more, whatever it says.
  }
}

/** After so many reads, or bytes, a reader looks at the clock: to look each time would cost more than a small chunk does. */
const readsMost = 32, bytesMost = 16 << 10;

/**
 * Reads a stream of bytes that may be anybody's, and lets the page have its turn: one that has always something ready would
 * never let go of the thread.
 */
export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #what: string;
  #reads = 0;
  #bytes = 0;

  /** what is the stream's name in an error. Throws where the stream is locked. */
  constructor(stream: ReadableStream<Uint8Array>, what: string) {
    this.#reader = stream.getReader();
    this.#what = what;
  }

  /** The next bytes, undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const bytes = this.bytes(await this.read());
    await this.pause();
    return bytes;
  }

  // The three steps of next, for who reads chunk after chunk and would pay for a promise more.

  read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    return this.#reader.read();
  }

  bytes({ done, value }: ReadableStreamReadResult<Uint8Array>): Uint8Array | undefined {
    if (done === true) return undefined;
    // The tag is slow to get, and only that of another frame's bytes is needed.
    if (done !== false || !(value instanceof Uint8Array || (ArrayBuffer.isView(value) && tagOf(value) === "Uint8Array"))) throw new TypeError(`${this.#what} gave something that is no Uint8Array`);
    this.#bytes += value.length;
    return value;
  }

  /** What to wait for before the next read; mostly nothing. */
  pause(): Promise<void> | undefined {
    if (++this.#reads < readsMost && this.#bytes < bytesMost) return undefined;
    this.#reads = this.#bytes = 0;
    return shouldYield() ? yieldToPage() : undefined;
  }

  cancel(): void {
    cancelQuietly(this.#reader);
  }
}

/** At most limit bytes of a body as text; what is more is not waited for. arrived is called when some came. */
export async function startOf(body: ReadableStream<Uint8Array> | null, limit: number, arrived?: () => void): Promise<string> {
  if (!body) return "";
  // The stream may be the author's, and no call of the module may be below his code.
  await null;
  const reader = new ByteReader(body, "the body");
  const text = new TextDecoder();
  let read = "";
  for (let left = limit; left > 0; ) {
    const value = await reader.next();
    if (!value) return read + text.decode();
    arrived?.();
    read += text.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  reader.cancel();
  return read;
}
