/**
 * Hooks for React 18.3 and 19: a chat and an upload as state of a component, rendered at most once a frame, however fast an
 * answer comes. Importing them loads nothing, and on a server they render what there is before the first message.
 *
 * A component that goes away does to its turns what the client's option pageHide says of a page that does: under "abort" they
 * are stopped, here and at the service, under "disconnect" let go of.
 *
 * @module turnwire/react
 */
import { useState, useSyncExternalStore } from "react";
import type {
  AgentClient, AgentFile, Chat, Part, SendOptions, ToolCall, Turn, TurnStatus, Upload, UploadData, UploadOptions, UploadProgress, UploadStage,
} from "turnwire";
import { Frames } from "./frames.ts";

/** What useChat is told. */
export interface UseChatOptions {
  /** One client for all: made outside of the component, or kept by it. */
  client: AgentClient;
  /**
   * A chat that exists. Without one, the first message creates it, of the client's workspace and agent; given from then on, its
   * id changes nothing. Another id is another chat: its turns begin anew, and those of the former end as the component's do.
   */
  chatId?: string | undefined;
}

/** A message and its answer. Another object once anything of it has changed, and only then. */
export interface ChatTurn {
  /** The message's idempotency key, which no other turn of the chat has: fit for React's key. */
  readonly id: string;
  /** As given to send. */
  readonly message: string | readonly Part[];
  /** "queued" also while the chat is created. */
  readonly status: TurnStatus;
  /** The answer so far; it stays, whatever the end. */
  readonly text: string;
  /** The reasoning so far; it stays, too. */
  readonly reasoning: string;
  /** As Turn.toolCalls. */
  readonly toolCalls: readonly ToolCall[];
  /** Why it failed or was interrupted: what Turn.done() rejects with, or why the chat could not be created. */
  readonly error?: Error | undefined;
}

/** What useChat gives: the chat as of this render, and what can be done with it. */
export interface UseChat {
  /** The given chat's id, or the created one's as soon as there is one. */
  readonly chatId: string | undefined;
  /** What this component has sent, oldest first: the service does not tell what came before. */
  readonly turns: readonly ChatTurn[];
  /** The newest turn's; "idle" before the first. */
  readonly status: "idle" | TurnStatus;
  /** The newest turn's. */
  readonly error: Error | undefined;
  /**
   * Sends a message. Never throws nor rejects, for its turn tells what went wrong; resolves at the turn's end. While a turn is
   * under way the same message again, as of a double click, is that turn, and sends nothing.
   *
   * With the idempotencyKey of one of the turns: one that is under way or completed is left as it is, any other is tried again
   * in its place, and a service that has run it replays it.
   */
  send(message: string | Part[], options?: SendOptions): Promise<void>;
  /** Stops what is under way, here and at the service. Resolves and rejects as Turn.abort(); nobody has to wait for it. */
  stop(): Promise<void>;
}

/** A chat as a component's state. */
export function useChat({ client, chatId }: UseChatOptions): UseChat {
  const store = useStore(client, chatId, newChat);
  return { ...useFrames(store), send: store.send, stop: store.stop };
}

/** What useUpload is told. */
export interface UseUploadOptions {
  /** One client for all: made outside of the component, or kept by it. */
  client: AgentClient;
}

/** What useUpload gives: the upload as of this render, and what can be done with it. */
export interface UseUpload {
  /** "idle" before the first upload. */
  readonly stage: "idle" | UploadStage;
  /** undefined before the first upload. */
  readonly progress: UploadProgress | undefined;
  /** The file, from the stage "done" on. */
  readonly file: AgentFile | undefined;
  /** Why it failed: what Upload.done() rejects with, or the InvalidArgumentError of its options. undefined after abort(). */
  readonly error: unknown;
  /**
   * Begins an upload; one of other data that is under way is aborted, one of the same data goes on, as after a double click.
   * Never throws nor rejects; resolves with the file, or with undefined where there is none.
   */
  upload(data: UploadData, options?: UploadOptions): Promise<AgentFile | undefined>;
  /** As Upload.pause(). */
  pause(): void;
  /** As Upload.resume(). */
  resume(): void;
  /** As Upload.abort(). */
  abort(): Promise<void>;
}

/**
 * An upload as a component's state. When the component goes away it is aborted where the client's pageHide is "abort", and
 * goes on where that is "disconnect", where it has a resumeKey, and where its bytes are all stored.
 */
export function useUpload({ client }: UseUploadOptions): UseUpload {
  const store = useStore(client, undefined, newUpload);
  const { upload, pause, resume, abort } = store;
  return { ...useFrames(store), upload, pause, resume, abort };
}

const useFrames = <State>({ subscribe, snapshot }: Frames<State>): State => useSyncExternalStore(subscribe, snapshot, snapshot);

interface Store {
  /** Of what it is by now. */
  readonly id: string | undefined;
}

/** The store of this client and chat: another one where the component is given others. */
function useStore<S extends Store>(client: AgentClient, id: string | undefined, make: (client: AgentClient, id: string | undefined) => S): S {
  const [kept, keep] = useState(() => ({ client, id, store: make(client, id) }));
  if (kept.client === client && kept.id === id) return kept.store;
  const goesOn = kept.client === client && id !== undefined && kept.store.id === id;
  const store = goesOn ? kept.store : make(client, id);
  keep({ client, id, store });
  return store;
}

const newChat = (client: AgentClient, id: string | undefined): ChatStore => new ChatStore(client, id);
const newUpload = (client: AgentClient): UploadStore => new UploadStore(client);

/** A message of the page, from send() on: it has a turn once there is a chat. */
interface Entry {
  readonly id: string;
  readonly message: string | Part[];
  turn?: Turn;
  /** Of the end, from when its error is known: a moment after the turn's own. */
  end?: TurnStatus;
  error?: Error;
  settled: Promise<void>;
  /** What the page was given of it last; undefined where it has changed since. */
  shown?: ChatTurn | undefined;
}

function shown(entry: Entry): ChatTurn {
  const { id, message, turn, end, error } = entry;
  const status = end ?? (turn && turn.status !== "queued" ? "streaming" : "queued");
  return (entry.shown ??= { id, message, status, text: turn?.text ?? "", reasoning: turn?.reasoning ?? "", toolCalls: turn?.toolCalls ?? [], error });
}

/** A message for comparing. One that JSON can't hold the client refuses, and twice the same way. */
function textOf(message: string | Part[]): string | undefined {
  try {
    return JSON.stringify(message);
  } catch {
    return undefined;
  }
}

/** 128 random bits: crypto.randomUUID is missing where a page is not served securely. */
const newKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

type ChatState = Pick<UseChat, "chatId" | "turns" | "status" | "error">;

class ChatStore extends Frames<ChatState> {
  readonly #client: AgentClient;
  readonly #given: string | undefined;
  #chat: Chat | undefined;
  #creating: Promise<Chat> | undefined;
  readonly #entries: Entry[] = [];

  constructor(client: AgentClient, chatId: string | undefined) {
    super({ chatId, turns: [], status: "idle", error: undefined });
    this.#client = client;
    this.#given = chatId;
  }

  get id(): string | undefined {
    return this.#chat?.id ?? this.#given;
  }

  protected read(): ChatState {
    const turns = this.#entries.map(shown);
    const newest = turns.at(-1);
    return { chatId: this.id, turns, status: newest?.status ?? "idle", error: newest?.error };
  }

  readonly send = (message: string | Part[], options: SendOptions = {}): Promise<void> => {
    const key = options.idempotencyKey;
    const at = key === undefined
      ? this.#entries.findIndex((entry) => !entry.end && textOf(entry.message) === textOf(message))
      : this.#entries.findIndex((entry) => entry.id === key);
    const known = this.#entries[at];
    if (known && (!known.end || known.end === "completed")) return known.settled;
    const entry: Entry = { id: key ?? newKey(), message, settled: Promise.resolve() };
    if (known) this.#entries[at] = entry;
    else this.#entries.push(entry);
    entry.settled = this.#run(entry, options);
    this.changed();
    // A component that has gone may still send, such as once something else is done.
    this.settle();
    return entry.settled;
  };

  async #run(entry: Entry, options: SendOptions): Promise<void> {
    try {
      const chat = (this.#chat ??= this.#given === undefined ? undefined : this.#client.chats.open(this.#given)) ?? await this.#create();
      if (entry.end) return;
      const turn = (entry.turn = chat.send(entry.message, { ...options, idempotencyKey: entry.id }));
      turn.on("update", () => this.#touch(entry));
      await turn.done();
      this.#end(entry, turn.status);
    } catch (error) {
      this.#end(entry, entry.turn?.status ?? "failed", error as Error);
    }
  }

  /** One chat, however many messages wait for it; where that failed, the next message tries again. */
  #create(): Promise<Chat> {
    return (this.#creating ??= this.#client.chats.create().then(
      (chat) => {
        this.changed();
        return (this.#chat = chat);
      },
      (error: unknown) => {
        this.#creating = undefined;
        throw error;
      },
    ));
  }

  #end(entry: Entry, status: TurnStatus, error?: Error): void {
    if (entry.end) return;
    entry.end = status;
    if (error) entry.error = error;
    this.#touch(entry);
  }

  #touch(entry: Entry): void {
    entry.shown = undefined;
    this.changed();
  }

  readonly stop = (): Promise<void> => this.#stop((turn) => turn.abort());

  /** The newest first: an abort waits for the turns before its own. */
  #stop(how: (turn: Turn) => Promise<void> | void): Promise<void> {
    const stopped = this.#entries.filter((entry) => !entry.end).reverse().map((entry) => entry.turn ? how(entry.turn) : this.#end(entry, "cancelled"));
    const all = Promise.all(stopped).then(() => {});
    all.catch(() => {});
    return all;
  }

  protected release(): void {
    void this.#stop((turn) => (this.#client.pageHide === "abort" ? turn.abort() : turn.disconnect()));
  }
}

type UploadState = Pick<UseUpload, "stage" | "progress" | "file" | "error">;

class UploadStore extends Frames<UploadState> {
  readonly #client: AgentClient;
  #data: UploadData | undefined;
  #upload: Upload | undefined;
  #resumable = false;
  #over = true;
  #file: AgentFile | undefined;
  #error: unknown;
  #settled: Promise<AgentFile | undefined> | undefined;

  readonly id = undefined;

  constructor(client: AgentClient) {
    super({ stage: "idle", progress: undefined, file: undefined, error: undefined });
    this.#client = client;
  }

  protected read(): UploadState {
    const progress = this.#upload?.progress;
    return { stage: progress?.stage ?? "failed", progress, file: this.#file, error: this.#error };
  }

  readonly upload = (data: UploadData, options?: UploadOptions): Promise<AgentFile | undefined> => {
    if (!this.#over && data === this.#data) return this.#settled!;
    void this.abort();
    this.#data = data;
    this.#over = true;
    this.#upload = this.#file = this.#error = undefined;
    this.#resumable = options?.resumeKey !== undefined;
    this.#settled = this.#run(data, options);
    this.changed();
    this.settle();
    return this.#settled;
  };

  async #run(data: UploadData, options: UploadOptions | undefined): Promise<AgentFile | undefined> {
    let upload: Upload | undefined;
    let file: AgentFile | undefined;
    let error: unknown;
    try {
      upload = this.#upload = this.#client.files.upload(data, options);
      this.#over = false;
      upload.on("progress", () => this.changed());
      file = await upload.done();
    } catch (reason) {
      if (upload?.progress.stage !== "aborted") error = reason;
    }
    // Another may have taken its place.
    if (upload !== this.#upload) return file;
    this.#over = true;
    this.#file = file;
    this.#error = error;
    // What was stored must not be kept by the component.
    this.#data = undefined;
    this.changed();
    return file;
  }

  readonly pause = (): void => this.#upload?.pause();
  readonly resume = (): void => this.#upload?.resume();
  readonly abort = async (): Promise<void> => {
    if (!this.#over) await this.#upload?.abort();
  };

  protected release(): void {
    const stored = /^(reporting|processing)$/.test(this.#upload?.progress.stage ?? "");
    if (this.#client.pageHide === "abort" && !this.#resumable && !stored) void this.abort();
  }
}
