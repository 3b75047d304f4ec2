import { breath, slice } from "./breath.ts";

/** What an object is, by its tag: one of another frame is no instance of this one's class. */
export const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Lets go of a stream or its reader. One of the page's own may throw, or never settle. */
export function letGo(stream: { cancel(): unknown } | null | undefined): void {
  try {
    Promise.resolve(stream?.cancel()).catch(() => {});
  } catch {
    // It is let go all the same.
  }
}

/**
 * Reads a stream of bytes that may be anybody's, and lets the page have its turn: one that has always something ready would
 * never let go of the thread.
 */
export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #what: string;
  #since = performance.now();

  /** what is the stream's name in an error. Throws where the stream is locked. */
  constructor(stream: ReadableStream<Uint8Array>, what: string) {
    this.#reader = stream.getReader();
    this.#what = what;
  }

  /** The next bytes, undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const asked = performance.now();
    const { done, value } = await this.#reader.read();
    const now = performance.now();
    if (now - asked > 1) this.#since = now;
    else if (now - this.#since > slice) {
      await breath();
      this.#since = performance.now();
    }
    if (done === true) return undefined;
    if (done !== false || !ArrayBuffer.isView(value) || tagOf(value) !== "Uint8Array") throw new TypeError(`${this.#what} gave something that is no Uint8Array`);
    return value;
  }

  cancel(): void {
    letGo(this.#reader);
  }
}
