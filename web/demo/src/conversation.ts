import { AgentClient, TurnError, type Chat, type Turn, type TurnStatus } from "turnwire";
import { explain } from "./errors.ts";
import { EventLog } from "./event-log.ts";
import type { Inspector } from "./inspector.ts";
import { keptChat, type KeptTurn } from "./kept-chat.ts";
import type { Settings } from "./settings.ts";
import type { Thread } from "./thread.ts";
import { TurnView, type Remedy } from "./turn-view.ts";

export interface ConversationUI {
  thread: Thread;
  inspector: Inspector;
  model: () => string;
  temporary: () => boolean;
  /** Said to screen readers: once when a turn starts, once when it ends. */
  announce: (text: string) => void;
  /** A turn starts or ends, or the conversation begins or is emptied. */
  changed: (state: { running: boolean; begun: boolean }) => void;
  openSettings: () => void;
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

const ENDS: Partial<Record<TurnStatus, string>> = {
  completed: "Answer complete.",
  cancelled: "Answer stopped.",
  failed: "The turn failed.",
  interrupted: "The answer was interrupted.",
};

/** The chat: a client for the current settings, the chat at the service, and the turn that runs. */
export class Conversation {
  #client: AgentClient | undefined;
  #chat: Chat | undefined;
  #running: Exchange | undefined;
  #answers = 0;
  /** The turns to show after a reload, by idempotency key. */
  #kept = new Map<string, KeptTurn>();
  /** A message that never reached the service. */
  #unsent = "";

  constructor(
    private settings: Settings,
    private readonly ui: ConversationUI,
  ) {
    // Before the client's own listener, which only lets go of the turn: nobody can come back to a temporary chat.
    addEventListener("pagehide", () => {
      if (ui.temporary()) void this.stop();
    }, { capture: true });
    try {
      // Now, so that the module is there by the time the first message is written.
      this.#client = this.#make(settings);
    } catch {
      // The first message tries again, and has a place to show why not.
    }
  }

  /**
   * The client for the current settings, which files go through as well.
   * @throws InvalidArgumentError where it refuses them.
   */
  client(): AgentClient {
    return (this.#client ??= this.#make(this.settings));
  }

  /**
   * Goes on with other settings in a new chat; the old client is closed when nothing of it is under way, `busy` included.
   * @throws InvalidArgumentError where the client refuses the settings; the old client then goes on.
   */
  connect(settings: Settings, busy: Promise<void>): void {
    const old = this.#client;
    this.#client = this.#make(settings);
    this.settings = settings;
    const stopped = this.stop();
    const unsent = this.#unsent;
    this.reset();
    if (unsent) this.ui.draft(unsent);
    // Closing at once could cut off the request that tells the old service to stop.
    if (old) void Promise.all([stopped, busy]).finally(() => old.close());
  }

  /** A new chat: the service makes it when there is a message to send. */
  reset(): void {
    void this.stop();
    this.#running = undefined;
    this.#chat = undefined;
    this.#answers = 0;
    this.#unsent = "";
    this.#kept.clear();
    keptChat.forget();
    this.ui.thread.clear();
    this.ui.changed({ running: false, begun: false });
  }

  /** After a reload: shows the chat again, and picks up the turn that the reload cut off. */
  restore(): void {
    const stored = keptChat.recall(this.settings);
    if (!stored || !this.#client) return;
    this.#chat = this.#client.chats.open(stored.chatId);
    const last = stored.turns.at(-1);
    for (const turn of stored.turns) {
      this.#kept.set(turn.key, turn);
      const exchange = this.#exchange(turn.message);
      const { status } = turn.turn;
      // A reload breaks the stream, which a page may still have noticed while it was going away.
      const broken = status === "queued" || status === "streaming" || status === "interrupted";
      if (broken && turn === last) void this.#run(exchange, turn.key);
      else exchange.view.restore(turn.turn, turn.closing, this.#remedies(exchange, status, turn.key));
    }
    this.ui.changed({ running: this.#running !== undefined, begun: true });
  }

  send(text: string): void {
    if (!this.#running) void this.#run(this.#exchange(text));
  }

  #exchange(text: string): Exchange {
    this.ui.thread.addUser(text);
    const view = new TurnView(++this.#answers);
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

  #make({ baseURL, apiKey, workspaceId, agentId }: Settings): AgentClient {
    const { requests } = this.ui.inspector;
    return new AgentClient({
      baseURL,
      apiKey,
      workspaceId,
      agentId,
      // A reload picks the turn up again, see restore.
      pageHide: "disconnect",
      onLog({ level, message, fields }) {
        requests.add(message, { ...fields, level });
      },
    });
  }

  async #run(exchange: Exchange, idempotencyKey?: string): Promise<void> {
    const { text, view, cancel } = exchange;
    const { ui } = this;
    this.#running = exchange;
    ui.changed({ running: true, begun: true });
    ui.announce("Message sent. The agent is answering.");
    const log = new EventLog(`${this.#answers}. ${text.length > 40 ? `${text.slice(0, 40)}…` : text}`);
    ui.inspector.watch(log);
    let status: TurnStatus = "failed";
    let failure: unknown;
    try {
      const client = this.client();
      const chat = this.#chat ?? (await client.chats.create({ isTemporary: ui.temporary() }, { signal: cancel.signal }));
      cancel.signal.throwIfAborted();
      this.#chat = chat;
      const model = ui.model();
      const turn = chat.send(text, { ...(model && { model }), ...(idempotencyKey && { idempotencyKey }) });
      exchange.turn = turn;
      view.attach(turn);
      this.#keep(exchange, "");
      turn.on("event", (event) => {
        log.add(event.type, event.data);
        view.note(event);
      });
      turn.on("update", () => {
        view.changed();
        ui.inspector.changed(log);
      });
      await turn.done();
      status = turn.status;
    } catch (error) {
      status = exchange.turn?.status ?? (cancel.signal.aborted ? "cancelled" : "failed");
      failure = error;
    }
    const trouble = status === "completed" || status === "cancelled" ? undefined : explain(failure, this.settings);
    const refused = status === "failed" && !(failure instanceof TurnError);
    const remedies = this.#remedies(exchange, status, exchange.turn?.idempotencyKey, refused);
    if (trouble?.settings) remedies.push({ label: "Open settings", icon: "settings", act: ui.openSettings });
    const closing = view.end(status, trouble, remedies);
    ui.inspector.changed(log);
    if (this.#running !== exchange) return;
    this.#running = undefined;
    this.#unsent = refused ? text : "";
    this.#keep(exchange, closing);
    ui.changed({ running: false, begun: this.#chat !== undefined });
    ui.announce([ENDS[status], trouble?.message, trouble?.advice].filter(Boolean).join(" "));
  }

  #keep({ text, turn }: Exchange, closing: string): void {
    if (!turn || !this.#chat || this.ui.temporary()) return;
    const { idempotencyKey: key, text: answer, reasoning, toolCalls, status } = turn;
    this.#kept.set(key, { message: text, key, closing, turn: { text: answer, reasoning, toolCalls, status } });
    keptChat.keep(this.settings, { chatId: this.#chat.id, turns: [...this.#kept.values()] });
  }

  #remedies({ text, view }: Exchange, status: TurnStatus, key: string | undefined, refused = false): Remedy[] {
    const unlessRunning = (act: () => void) => () => {
      if (!this.#running) act();
    };
    const again = (idempotencyKey?: string) =>
      unlessRunning(() => {
        view.begin();
        void this.#run({ text, view, cancel: new AbortController() }, idempotencyKey);
      });
    if (status === "interrupted" && key) {
      // The same key names the same operation: the service goes on with it, or answers with what it has.
      return [{ label: "Pick up again", icon: "again", act: again(key) }];
    }
    // What the service never took is sent from the same place; what it took is a message more.
    if (refused) return [{ label: "Send again", icon: "again", act: again() }];
    if (status !== "completed") return [{ label: "Send again", icon: "again", act: unlessRunning(() => this.send(text)) }];
    return [];
  }
}
