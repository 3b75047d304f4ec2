import type { TurnEvent } from "turnwire";
import { toModule } from "./border.ts";
import { chunkSize, type Control, type Exports, words } from "./contract.ts";
import { RuntimeCrashError, textOf } from "./errors.ts";
import { Numbered } from "./numbered.ts";
import type { Program } from "./program.ts";
import type { CallSink, ClientSink, TurnSink, UploadSink } from "./sinks.ts";

// The text of an answer may begin with U+FEFF, which is no byte order mark there.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const ascii = Array.from({ length: 0x7f }, (_, c) => String.fromCharCode(c));

// Read for every event.
const { out, size, count, marks } = words;

/** One running module. */
export class Instance {
  readonly program: Program;
  readonly exports: Exports;
  readonly control: Control;
  /** Until nothing more comes of one that is closed: a request that tells the service of an end may still go out. */
  readonly clients = new Numbered<ClientSink>();
  /** Until their end is told, or they are cancelled. */
  readonly calls = new Numbered<CallSink>();
  /** Until they are released. */
  readonly turns = new Numbered<TurnSink>();
  /** Until their end is told. */
  readonly uploads = new Numbered<UploadSink>();
  /** Told once, when the instance stops working. */
  readonly onCrash = new Set<(error: RuntimeCrashError) => void>();
  alive = true;
  /** The program has ended or trapped: nothing of it may be called again. After a panic it may, to read. */
  dead = false;
  error: RuntimeCrashError | undefined;
  readonly #io: number;
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);

  constructor(program: Program) {
    this.program = program;
    this.exports = program.exports;
    this.control = toModule(program, (call) => this.inside(call));
    this.#io = program.shared;
  }

  /** A program of the small build can still be called after a trap, to read: it traps where Go would have told of a panic. */
  trapped(error: unknown): void {
    this.crash(error, this.program.control !== undefined);
  }

  /** A trap of the module, such as memory that can't grow, is the end of the instance and not of the page. */
  inside<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.trapped(error);
      return undefined;
    }
  }

  /** The memory is a new buffer whenever it has grown; views of the old one are empty then. */
  #refresh(): void {
    if (this.#bytes.length === 0) {
      const { buffer } = this.program.memory;
      this.#bytes = new Uint8Array(buffer);
      this.#words = new Uint32Array(buffer, this.#io + chunkSize);
    }
  }

  /** Gives a turn at most chunkSize bytes, or none to go on with those before; flags as feed's. */
  feed(turn: number, chunk: Uint8Array | undefined, now: number): number {
    if (chunk) {
      this.#refresh();
      this.#bytes.set(chunk, this.#io);
    }
    return this.exports.feed(turn, chunk ? chunk.length : 0, now);
  }

  /** The events that feed left. */
  batch(): TurnEvent[] {
    const chunk = this.#short();
    if (chunk !== undefined) return [{ type: "text_delta", data: { chunk } }];
    const items = JSON.parse(this.left()) as (TurnEvent | string | [string, string])[];
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      if (typeof item === "string") items[i] = { type: "text_delta", data: { chunk: item } };
      else if (Array.isArray(item)) items[i] = { type: "text_delta", data: { chunk: item[0] }, id: item[1] };
    }
    return items as TurnEvent[];
  }

  /**
   * The chunk of a batch that is one short text of plain ASCII, as most are where events come one by one: TextDecoder
   * and JSON.parse would cost more than all the rest does then.
   */
  #short(): string | undefined {
    const at = this.#word(out), length = this.#word(size);
    const bytes = this.#bytes;
    if (length > 36 || bytes[at + 1] !== 0x22) return undefined;
    let text = "";
    for (let i = at + 2; i < at + length - 2; i++) {
      const c = bytes[i]!;
      // A quote ends the first of several, a backslash begins an escape.
      if (c > 0x7e || c === 0x22 || c === 0x5c) return undefined;
      text += ascii[c]!;
    }
    return text;
  }

  #word(i: number): number {
    const word = this.#words[i];
    if (word !== undefined) return word;
    this.#refresh();
    return this.#words[i]!;
  }

  /** How many events feed left. */
  get count(): number {
    return this.#word(count);
  }

  /** How many bytes the last call left. */
  get size(): number {
    return this.#word(size);
  }

  /** Where the text of the turn that was fed last begins. */
  get textAt(): number {
    return this.#word(words.text);
  }

  /** Where its reasoning begins. */
  get reasoningAt(): number {
    return this.#word(words.reasoning);
  }

  /** How long the text, of a reasoning_delta the reasoning, is with event i of the batch. */
  mark(i: number): number {
    return this.#word(marks + i);
  }

  /** The text that the last call left. */
  left(): string {
    this.#refresh();
    const at = this.#words[out]!;
    return this.read(at, at + this.#words[size]!);
  }

  /** Text in the module's memory; it can be read after a crash too. */
  read(from: number, to: number): string {
    this.#refresh();
    return decoder.decode(this.#bytes.subarray(from, to));
  }

  /** Ends everything that waits for this instance. The next call starts another one. */
  crash(reason: unknown, dead: boolean): void {
    if (dead && !this.dead) {
      this.dead = true;
      this.program.stop();
    }
    if (!this.alive) return;
    this.alive = false;
    const error = this.error = new RuntimeCrashError(`the module stopped working (${this.program.said() || textOf(reason)}); the next call starts it anew`, "runtime_crashed", true, { cause: reason });
    for (const listener of this.onCrash) listener(error);
    this.onCrash.clear();
  }
}
