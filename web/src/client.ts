import type * as API from "turnwire";
import { ClientContext } from "./client-context.ts";
import { closeConnections, reopenConnections } from "./connections.ts";
import { ProtocolError } from "./errors.ts";
import { Files } from "./files.ts";
import { pageLeft, pageShown } from "./leaving.ts";
import { instance } from "./loader.ts";
import { Turn, turns } from "./turn.ts";
import { uploads } from "./upload.ts";
import { clientConfig, createParams, requestConfig, segment, sendConfig } from "./validate.ts";

/**
 * A page that goes away stops its turns at the service too: what nobody will read must not be paid for. So for its
 * uploads, but for those that a later page can go on with.
 */
function leave(): void {
  pageLeft();
  closeConnections();
  for (const [turn, context] of turns) {
    if (context.config.pageHide === "abort") void turn.abort();
    else turn.disconnect();
  }
  for (const [upload, context] of uploads) {
    // Whose bytes are all stored is left to the service, which hears of it all the same.
    if (context.config.pageHide === "abort" && upload.resumeKey === undefined && !upload.stored) void upload.abort();
  }
}

function shown(): void {
  pageShown();
  reopenConnections();
}

export class AgentClient implements API.AgentClient {
  readonly chats: API.Chats;
  readonly files: API.Files;
  readonly #context: ClientContext;

  constructor(options: API.ClientOptions) {
    this.#context = new ClientContext(clientConfig(options));
    this.chats = new Chats(this.#context);
    this.files = new Files(this.#context);
    // On a server there is nothing to load; a failure is told by ready() and by the calls.
    if (typeof location === "undefined") return;
    instance().catch(() => {});
    addEventListener("pagehide", leave);
    addEventListener("pageshow", shown);
  }

  ready(): Promise<void> {
    return this.#context.withHandle(() => {});
  }

  close(): void {
    this.#context.close();
  }
}

class Chats implements API.Chats {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  async create(params?: API.CreateChatParams, options?: API.RequestOptions): Promise<API.Chat> {
    const context = this.#context;
    context.check();
    const given = createParams(params, context.config);
    const { chat } = await context.call("createChat", { ...requestConfig(options, context.config), ...given });
    const { id, raw } = chat!;
    if (id === "." || id === "..") throw new ProtocolError(`the service named the chat "${id}", which no path can hold`, "chat_without_id");
    return new Chat(context, id, raw as Record<string, unknown>);
  }

  open(chatId: string): API.Chat {
    this.#context.check();
    return new Chat(this.#context, segment(chatId, "chatId", "given"), {});
  }
}

class Chat implements API.Chat {
  readonly id: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly #context: ClientContext;

  constructor(context: ClientContext, id: string, raw: Record<string, unknown>) {
    this.id = id;
    this.raw = Object.freeze(raw);
    this.#context = context;
  }

  send(message: string | API.Part[], options?: API.SendOptions): API.Turn {
    this.#context.check();
    const config = sendConfig(message, options, this.#context.config);
    // A double click, or an effect that a framework runs twice: the key names one operation.
    for (const [turn, context] of turns) {
      // One that was just aborted or disconnected leaves the list a moment later.
      const under = turn.status === "queued" || turn.status === "streaming";
      if (under && context === this.#context && turn.chatId === this.id && turn.idempotencyKey === config.key) return turn;
    }
    return new Turn(this.#context, this.id, config);
  }

  async abort(options?: API.RequestOptions): Promise<void> {
    const context = this.#context;
    context.check();
    await context.call("abortChat", { ...requestConfig(options, context.config), chatId: this.id }, true);
  }
}
