import type * as API from "turnwire";
import { ByteReader, cancelQuietly } from "./byte-reader.ts";
import type { ClientContext, Handle } from "./client-context.ts";
import { chunkSize, type EventKind, more, wantsFlush } from "./contract.ts";
import { type AgentError, ConnectionError, InvalidArgumentError, textOf } from "./errors.ts";
import { type Batch, batchSize, EventQueue } from "./event-queue.ts";
import { unlessLeft } from "./leaving.ts";
import { guarded, Listeners } from "./listeners.ts";
import { current } from "./loader.ts";
import type { Instance } from "./instance.ts";
import { textStreamOf } from "./text-stream.ts";
import { join, onAbort } from "./undo.ts";
import type { SendConfig } from "./validate.ts";
import { pacer, shouldYield, slice, yieldToPage } from "./yielding.ts";

/** How much is kept for an iteration that may come; past it, reading pauses or the events are dropped. */
const queueMost = 8 << 20; // an eighth while it is taken: what lies in wait costs the collector long tasks

/** Bytes that are taken at once, at first: a network's chunk may hold more events than a page can be kept waiting for. */
const pieceSize = 16 << 10;

/** Events of tool calls after which what they changed is taken over from the module: all at once would hold up the page. */
const toolsMost = 1_000;

/** What a turn tells by itself: an event of the service that is named so reaches only the listeners of every event. */
const own: ReadonlySet<string> = new Set(["event", "update", "end"]);

/** Every turn that has not ended, and whose it is. */
export const turns = new Map<Turn, ClientContext>();

type Listener = (argument: never) => void;
type Waiter = { resolve(result: IteratorResult<API.TurnEvent>): void; reject(error: unknown): void };

export class Turn implements API.Turn {
  readonly chatId: string;
  readonly idempotencyKey: string;
  readonly #context: ClientContext;
  readonly #config: SendConfig;
  /** The one that has it, until its end is told. */
  #instance: Instance | undefined;
  #id = 0;
  #status: API.TurnStatus = "queued";
  #error: AgentError | undefined;
  #data: Record<string, unknown> = {};
  #settled = false;
  #rejected = false;
  #aborting: Promise<void> | undefined;
  #settle!: () => void;
  readonly #end = new Promise<void>((resolve) => (this.#settle = resolve));
  #done: Promise<API.TurnResult> | undefined;
  /** Takes it out of where it waits to be called. */
  readonly #undo: (() => void)[] = [];

  // The state as of the event delivered last: the module may be a few events further.
  /** The text and the reasoning: what was read of them, how far, up to where they go, and where they begin in the module. */
  readonly #texts = ["", ""];
  readonly #have = [0, 0];
  readonly #upTo = [0, 0];
  readonly #state = [0, 0];
  #toolCalls: readonly API.ToolCall[] = [];
  /** Events since they were taken over. */
  #toolEvents = 0;

  readonly #listeners = new Listeners();
  readonly #queue = new EventQueue();
  #waiters: Waiter[] = [];
  #iterating = false;
  #followed = false;
  #dropped = false;
  #room: (() => void) | undefined;
  #stream = 0;
  #reader: ByteReader | undefined;

  constructor(context: ClientContext, chatId: string, config: SendConfig) {
    this.#context = context;
    this.chatId = chatId;
    this.#config = config;
    this.idempotencyKey = config.key;
    this.#followed = config.onEvent !== undefined;
    turns.set(this, context);
    this.#undo.push(join(context.onClose, () => this.disconnect()));
    if (config.signal?.aborted) {
      this.#ended("cancelled");
      return;
    }
    this.#undo.push(onAbort(config.signal, () => void this.abort()));
    const failed = (error: AgentError): void => this.#ended("failed", error);
    const instance = current();
    if (instance) {
      try {
        this.#start(context.handle(instance));
      } catch (error) {
        failed(error as AgentError);
      }
    } else context.withHandle((handle) => this.#start(handle)).catch(failed);
  }

  get status(): API.TurnStatus {
    return this.#status;
  }

  get text(): string {
    return this.#read(0);
  }

  get reasoning(): string {
    return this.#read(1);
  }

  get toolCalls(): readonly API.ToolCall[] {
    const instance = this.#instance;
    if (this.#toolEvents > 0 && instance && !instance.dead) {
      instance.inside(() => {
        // What lies there after a crash is another turn's.
        if (instance.exports.tools(this.#id) === 0) return;
        this.#toolEvents = 0;
        const calls = this.#toolCalls.slice();
        // Those that changed, each after its place.
        const changed = JSON.parse(instance.left()) as (number | API.ToolCall)[];
        for (let i = 0; i < changed.length; i += 2) calls[changed[i] as number] = changed[i + 1] as API.ToolCall;
        this.#toolCalls = Object.freeze(calls);
      });
    }
    return this.#toolCalls;
  }

  /** The text (0) or the reasoning (1). */
  #read(which: 0 | 1): string {
    const from = this.#have[which]!, to = this.#upTo[which]!;
    if (from !== to && this.#instance) {
      this.#have[which] = to;
      const at = this.#state[which]!;
      this.#texts[which] += this.#instance.read(at + from, at + to);
    }
    return this.#texts[which]!;
  }

  get #over(): boolean {
    return this.#status !== "queued" && this.#status !== "streaming";
  }

  #start({ instance, client }: Handle): void {
    if (this.#over) return;
    const { signal, onEvent, ...params } = this.#config;
    this.#instance = instance;
    this.#undo.push(join(instance.onCrash, (error) => this.#ended("interrupted", error)));
    this.#id = instance.turns.add({
      opened: (body) => {
        this.#status = "streaming";
        queueMicrotask(() => void this.#pump(body, ++this.#stream));
      },
      ended: ({ status, error, data }) => {
        this.#status = status;
        queueMicrotask(() => this.#ended(status, error && this.#context.error(error, this.#partial()), data as Record<string, unknown> | undefined));
      },
    });
    instance.control.startTurn(this.#id, client, { chatId: this.chatId, ...params });
  }

  /** Reads one stream; a turn that is replayed has one after another, and what a former one still brings is ignored. */
  async #pump(body: ReadableStream<Uint8Array> | null, stream: number): Promise<void> {
    if (this.#over) return cancelQuietly(body);
    const instance = this.#instance!;
    this.#reader?.cancel();
    let failure = "";
    try {
      // Inside: the body of a fetch of the page's own may be locked.
      const reader = (this.#reader = body ? new ByteReader(body, "the body") : undefined);
      while (reader && !this.#over) {
        const value = reader.bytes(await reader.read());
        if (!value || this.#over || stream !== this.#stream) break;
        if (value.length <= pieceSize) this.#update(this.#deliver(value));
        else await this.#inPieces(value, stream);
        if (this.#queue.size > (this.#iterating ? queueMost / 8 : queueMost) && !this.#over) await this.#full();
        const pause = reader.pause();
        if (pause) await pause;
      }
    } catch (error) {
      failure = textOf(error ?? new TypeError("the body failed without a reason")) || "the body failed without a reason";
    }
    unlessLeft(() => {
      if (this.#over || stream !== this.#stream || !instance.alive) return;
      instance.control.streamEnded(this.#id, failure);
      if (!this.#over) this.#update(this.#deliver());
    });
  }

  /** Delivers the events of a large chunk, and lets the page have its turn meanwhile. */
  async #inPieces(chunk: Uint8Array, stream: number): Promise<void> {
    let any = false;
    let now = performance.now();
    for (let at = 0, size = pieceSize; at < chunk.length; ) {
      if (shouldYield(now)) {
        await yieldToPage();
        now = performance.now();
      }
      if (this.#over || stream !== this.#stream) break;
      any = this.#deliver(chunk.subarray(at, at + size)) || any;
      at += size;
      const took = -now + (now = performance.now());
      // As large as a quarter of the time allows, for each piece costs a little itself.
      if (took < slice / 8) size = Math.min(2 * size, chunkSize);
      else if (took > slice / 2) size = Math.max(size >> 1, pieceSize >> 2);
    }
    this.#update(any);
  }

  #update(any: boolean): void {
    if (any) this.#listeners.emit("update", this as never);
  }

  /** Delivers the events of a piece, or those that the module has held back until now, and says whether there were any. */
  #deliver(chunk?: Uint8Array): boolean {
    const instance = this.#instance!;
    let any = false;
    let flags: number | undefined;
    do {
      flags = instance.inside(() => instance.feed(this.#id, chunk, performance.now()));
      chunk = undefined;
      if (flags === undefined || !instance.alive) return any;
      const count = instance.count;
      if (count > 0) {
        any = true;
        this.#batch(count);
      }
      if (flags & wantsFlush && instance.alive) instance.inside(() => instance.exports.flush(this.#id));
      if (this.#toolEvents > toolsMost) void this.toolCalls;
    } while (flags & more && !this.#over);
    return any;
  }

  #batch(count: number): void {
    const instance = this.#instance!;
    this.#state[0] = instance.textAt;
    this.#state[1] = instance.reasoningAt;
    const batch: Batch = { events: instance.batch(), delivered: 0, size: batchSize(instance.size, count) };
    if (!this.#dropped) this.#queue.add(batch);
    const { onEvent } = this.#config;
    const { events } = batch;
    // Where nobody is called for each event, the state need be right only after the last.
    const quiet = !onEvent && !this.#listeners.any;
    let text = -1, reasoning = -1;
    // A listener may end the turn; the module itself ends it only when it is flushed.
    for (let i = 0; i < count && (quiet || !this.#over); i++) {
      const event = events[i]!;
      switch (event.type as EventKind) {
        case "text_delta": text = i; break;
        case "reasoning_delta": reasoning = i; break;
        case "tool_call_delta": this.#toolEvents ||= 1; break;
        case "tool_call_started": case "tool_call": case "tool_result": this.#toolEvents++;
      }
      if (quiet && i < count - 1) continue;
      if (text >= 0) this.#upTo[0] = instance.mark(text);
      if (reasoning >= 0) this.#upTo[1] = instance.mark(reasoning);
      batch.delivered = i + 1;
      for (let taken; this.#waiters.length > 0 && (taken = this.#queue.take()); ) this.#waiters.shift()!.resolve({ value: taken, done: false });
      if (onEvent) guarded(onEvent, event);
      if (this.#listeners.any) {
        if (!own.has(event.type)) this.#listeners.emit(event.type, event as never);
        this.#listeners.emit("event", event as never);
      }
    }
  }

  /** Waits until kept events are taken; where the turn is followed another way they are dropped instead. */
  async #full(): Promise<void> {
    if (!this.#iterating && this.#followed) {
      this.#dropped = true;
      this.#queue.clear();
      return;
    }
    const instance = this.#instance!;
    instance.inside(() => instance.exports.hold(this.#id, 1));
    await new Promise<void>((resolve) => (this.#room = resolve));
    this.#room = undefined;
    if (instance.alive) instance.inside(() => instance.exports.hold(this.#id, 0));
    if (!this.#iterating && this.#followed) await this.#full();
  }

  #follow(): void {
    this.#followed = true;
    this.#room?.();
  }

  on(type: string, listener: Listener): this {
    this.#listeners.add(type, listener);
    this.#follow();
    return this;
  }

  off(type: string, listener: Listener): this {
    this.#listeners.remove(type, listener);
    return this;
  }

  abort(): Promise<void> {
    if (this.#aborting || this.#over) return (this.#aborting ??= Promise.resolve());
    const instance = this.#instance;
    if (!instance) {
      // Nothing was sent: the service has nothing to stop.
      this.#aborting = Promise.resolve();
      this.#ended("cancelled");
      return this.#aborting;
    }
    this.#aborting = new Promise((resolve, reject) => {
      const forget = join(instance.onCrash, reject);
      const call = instance.calls.add({
        ended: ({ error }) => {
          forget();
          if (error) reject(this.#context.error(error));
          else resolve();
        },
      });
      instance.control.abortTurn(this.#id, call);
    });
    // Most callers do not wait for it; that it failed is in the log.
    this.#aborting.catch(() => {});
    return this.#aborting;
  }

  disconnect(): void {
    if (this.#over) return;
    if (this.#instance) this.#instance.control.disconnectTurn(this.#id);
    else this.#ended("interrupted", new ConnectionError("the turn was disconnected before it was sent", "disconnected", true, { partial: this.#partial() }));
  }

  done(): Promise<API.TurnResult> {
    this.#follow();
    return (this.#done ??= this.#end.then(() => {
      if (this.#error) throw this.#error;
      return { ...this.#partial(), status: this.#status as "completed" | "cancelled", data: this.#data };
    }));
  }

  #partial(): { text: string; reasoning: string; toolCalls: readonly API.ToolCall[] } {
    return { text: this.text, reasoning: this.reasoning, toolCalls: this.toolCalls };
  }

  /** The turn is over: its state is taken from the module, and everybody who waits is told. */
  #ended(status: API.TurnStatus, error?: AgentError, data: Record<string, unknown> = {}): void {
    if (this.#settled) return;
    this.#status = status;
    this.#error = error;
    this.#data = Object.freeze(data);
    this.#settled = true;
    this.#partial();
    const instance = this.#instance;
    // A turn that the page keeps must not keep the memory of an instance that crashed.
    this.#instance = undefined;
    if (instance?.alive) instance.inside(() => instance.exports.release(this.#id));
    instance?.turns.remove(this.#id);
    for (const each of this.#undo) each();
    turns.delete(this);
    // An iteration under way ends at once when the caller cancels: the page sees nothing more.
    if (this.#iterating && status === "cancelled") this.#queue.clear();
    this.#room?.();
    // A fetch of the page's own may not heed its signal.
    this.#reader?.cancel();
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) this.#last(waiter);
    this.#settle();
    // A signal may have been aborted before send() has even returned, and who awaits done() comes first.
    void this.#end.then().then(() => this.#listeners.emit("end", this as never));
  }

  #last(waiter: Waiter): void {
    if (this.#error && !this.#rejected) {
      this.#rejected = true;
      waiter.reject(this.#error);
    } else waiter.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<API.TurnEvent> {
    if (this.#iterating) throw new InvalidArgumentError("a turn can be iterated once, and this one is already", "already_iterated");
    this.#iterating = true;
    let returned = false;
    // A loop over kept events would never let go of the thread.
    const tired = pacer();
    return {
      next: () => {
        if (returned) return Promise.resolve({ value: undefined, done: true });
        if (this.#dropped) return Promise.reject(new InvalidArgumentError(`events past ${queueMost >> 20} MiB were dropped, for listeners followed the turn; iterate from the start instead`, "events_dropped"));
        const value = this.#queue.take();
        if (this.#room && this.#queue.size <= queueMost / 16) this.#room();
        if (value) {
          return tired() ? yieldToPage().then(() => ({ value, done: false })) : Promise.resolve({ value, done: false });
        }
        return new Promise((resolve, reject) => {
          if (this.#settled) this.#last({ resolve, reject });
          else this.#waiters.push({ resolve, reject });
        });
      },
      return: () => {
        returned = true;
        void this.abort();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }

  textStream(): ReadableStream<string> {
    return textStreamOf(this[Symbol.asyncIterator]());
  }
}
