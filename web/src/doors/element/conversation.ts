import type { AgentClient, Chat, Turn, TurnStatus } from "turnwire";
import type { Where } from "./attributes.ts";
import { keptChat, type KeptTurn } from "./kept-chat.ts";
import type { Thread } from "./thread.ts";
import { troubleOf } from "./trouble.ts";
import { TurnView, type Remedy } from "./turn-view.ts";
import type { ChatStrings } from "./types.d.ts";

export interface ConversationUI {
  thread: Thread;
  strings: ChatStrings;
  client: () => AgentClient | Promise<AgentClient>;
  where: () => Where;
  model: () => string;
  temporary: () => boolean;
  keep: () => string;
  /** Said to screen readers: once when a turn starts, once when it ends. */
  announce: (text: string) => void;
  /** A turn starts or ends, or the chat is another. */
  changed: () => void;
  /** There is a turn, of which nothing has come yet. */
  began: (turn: Turn, message: string) => void;
  ended: (turn: Turn | undefined, message: string, status: TurnStatus, error: unknown) => void;
  openSettings: () => (() => void) | undefined;
  /** Puts a message back where it was written. */
  draft: (text: string) => void;
}

/** One message on its way, from the click to the end of its turn. */
interface Exchange {
  text: string;
  view: TurnView;
  cancel: AbortController;
  turn?: Turn;
}

/** The chat at the service, and the turn that runs. */
export class Conversation {
  /** Of a chat that is created or opened: a client opens it where it has not created it. */
  #chatId: string | undefined;
  #chat: { client: AgentClient; chat: Chat } | undefined;
  #running: Exchange | undefined;
  #settled: Promise<void> = Promise.resolve();
  #answers = 0;
  /** As of the chat's creation. */
  #temporary = false;
  /** The turns to show after a reload, by idempotency key. */
  #kept = new Map<string, KeptTurn>();
  /** A message that never reached the service. */
  #unsent = "";

  constructor(private readonly ui: ConversationUI) {}

  get running(): boolean {
    return this.#running !== undefined;
  }

  get chatId(): string | undefined {
    return this.#chatId;
  }

  /** Whether nobody can come back to the chat. */
  get temporary(): boolean {
    return this.#temporary;
  }

  /** Settles when what has begun by now is over. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** Another connection: a new chat, in which a message that the former did not take can be sent. */
  renew(): void {
    const unsent = this.#unsent;
    this.reset();
    if (unsent) this.ui.draft(unsent);
  }

  /** A new chat, which the service makes when there is a message to send; or one that exists. */
  reset(chatId?: string): void {
    void this.stop();
    this.#running = this.#chat = undefined;
    this.#chatId = chatId;
    this.#temporary = false;
    this.#answers = 0;
    this.#unsent = "";
    this.#kept.clear();
    keptChat.forget(this.ui.keep());
    this.ui.thread.clear();
    this.ui.changed();
  }

  /** After a reload: shows the chat again, and picks up the turn that the reload cut off. */
  restore(): void {
    const stored = keptChat.recall(this.ui.keep(), this.ui.where());
    if (!stored) return;
    this.#chatId = stored.chatId;
    const last = stored.turns.at(-1);
    for (const turn of stored.turns) {
      this.#kept.set(turn.key, turn);
      const exchange = this.#exchange(turn.message);
      const { status } = turn.turn;
      // A reload breaks the stream, which a page may still have noticed while it was going away.
      const broken = status === "queued" || status === "streaming" || status === "interrupted";
      if (broken && turn === last) this.#begin(exchange, turn.key);
      else exchange.view.restore(turn.turn, turn.closing, this.#remedies(exchange, status, turn.key));
    }
    this.ui.changed();
  }

  send(text: string): boolean {
    if (this.#running) return false;
    this.#begin(this.#exchange(text));
    return true;
  }

  /** The element goes away: a turn ends as the client's option pageHide says. */
  leave(pageHide: AgentClient["pageHide"]): void {
    const { turn, cancel } = this.#running ?? {};
    if (pageHide === "abort" || !turn) void this.stop();
    else {
      cancel?.abort();
      turn.disconnect();
    }
  }

  #exchange(text: string): Exchange {
    this.ui.thread.addUser(text);
    const view = new TurnView(this.ui.strings, ++this.#answers);
    view.onDraw = () => this.ui.thread.follow();
    this.ui.thread.add(view.element);
    return { text, view, cancel: new AbortController() };
  }

  /** Stops the turn that runs; settles when the service has answered. */
  async stop(): Promise<void> {
    const { turn, cancel, view } = this.#running ?? {};
    cancel?.abort();
    if (!turn || !view) return;
    try {
      await turn.abort();
      view.stopAnswered("");
    } catch (error) {
      view.stopAnswered(error instanceof Error ? error.message : String(error));
    }
  }

  #begin(exchange: Exchange, idempotencyKey?: string): void {
    const before = this.#settled;
    this.#settled = this.#run(exchange, idempotencyKey).then(() => before);
  }

  async #open(signal: AbortSignal): Promise<Chat> {
    const client = await this.ui.client();
    signal.throwIfAborted();
    if (this.#chat?.client === client) return this.#chat.chat;
    const isTemporary = this.ui.temporary();
    const created = this.#chatId === undefined ? await client.chats.create({ isTemporary }, { signal }) : undefined;
    signal.throwIfAborted();
    if (created) this.#temporary = isTemporary;
    const chat = created ?? client.chats.open(this.#chatId!);
    this.#chat = { client, chat };
    this.#chatId = chat.id;
    return chat;
  }

  async #run(exchange: Exchange, idempotencyKey?: string): Promise<void> {
    const { text, view, cancel } = exchange;
    const { ui } = this;
    const { strings } = ui;
    this.#running = exchange;
    ui.changed();
    ui.announce(strings.saidSent);
    let status: TurnStatus = "failed";
    let failure: unknown;
    try {
      const chat = await this.#open(cancel.signal);
      const model = ui.model();
      const turn = chat.send(text, { ...(model && { model }), ...(idempotencyKey && { idempotencyKey }) });
      exchange.turn = turn;
      view.attach(turn);
      this.#keep(exchange, "");
      turn.on("event", (event) => view.note(event));
      turn.on("update", () => view.changed());
      ui.began(turn, text);
      ui.changed();
      await turn.done();
      status = turn.status;
    } catch (error) {
      status = exchange.turn?.status ?? (cancel.signal.aborted ? "cancelled" : "failed");
      failure = error;
    }
    const trouble = status === "completed" || status === "cancelled" ? undefined : troubleOf(strings, failure, ui.where());
    const refused = status === "failed" && !(failure instanceof Error && failure.name === "TurnError");
    const remedies = this.#remedies(exchange, status, exchange.turn?.idempotencyKey, refused);
    const act = trouble?.settings && ui.openSettings();
    if (act) remedies.push({ label: strings.openSettings, icon: "settings", act });
    const closing = view.end(status, trouble, remedies);
    if (this.#running === exchange) {
      this.#running = undefined;
      this.#unsent = refused ? text : "";
      this.#keep(exchange, closing);
      ui.changed();
      ui.announce([this.#said(status), trouble?.message, trouble?.advice].filter(Boolean).join(" "));
    }
    ui.ended(exchange.turn, text, status, trouble?.error);
  }

  #said(status: TurnStatus): string {
    const { strings } = this.ui;
    if (status === "completed") return strings.saidCompleted;
    if (status === "cancelled") return strings.saidStopped;
    return status === "interrupted" ? strings.saidInterrupted : strings.saidFailed;
  }

  #keep({ text, turn }: Exchange, closing: string): void {
    if (!turn || !this.#chatId || this.#temporary) return;
    const { idempotencyKey: key, text: answer, reasoning, toolCalls, status } = turn;
    this.#kept.set(key, { message: text, key, closing, turn: { text: answer, reasoning, toolCalls, status } });
    keptChat.keep(this.ui.keep(), this.ui.where(), { chatId: this.#chatId, turns: [...this.#kept.values()] });
  }

  #remedies({ text, view }: Exchange, status: TurnStatus, key: string | undefined, refused = false): Remedy[] {
    const { strings } = this.ui;
    const unlessRunning = (act: () => void) => () => {
      if (!this.#running) act();
    };
    const again = (idempotencyKey?: string) =>
      unlessRunning(() => {
        view.begin();
        // The button that was pressed is gone.
        view.element.focus({ preventScroll: true });
        this.#begin({ text, view, cancel: new AbortController() }, idempotencyKey);
      });
    if (status === "interrupted" && key) {
      // The same key names the same operation: the service goes on with it, or answers with what it has.
      return [{ label: strings.pickUp, icon: "again", act: again(key) }];
    }
    // What the service never took is sent from the same place; what it took is a message more.
    if (refused) return [{ label: strings.sendAgain, icon: "again", act: again() }];
    if (status !== "completed") return [{ label: strings.sendAgain, icon: "again", act: unlessRunning(() => void this.send(text)) }];
    return [];
  }
}
