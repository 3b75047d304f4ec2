import type * as API from "turnwire";
import { ClientContext } from "./client-context.ts";
import { ProtocolError } from "./errors.ts";
import { filesOf } from "./files.ts";
import { pageLeft, pageShown } from "./leaving.ts";
import { instance } from "./loader.ts";
import { leavePages, rejoinPages } from "./pages.ts";
import { Turn, turns } from "./turn.ts";
import { uploads } from "./upload.ts";
import { clientConfig, createParams, requestConfig, segment, sendConfig } from "./validate.ts";

/**
 * A page that goes away stops its turns at the service too: what nobody will read must not be paid for. So for its
 * uploads, but for those that a later page can go on with.
 */
function leave(): void {
  pageLeft();
  leavePages();
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
  rejoinPages();
}

export class AgentClient implements API.AgentClient {
  readonly chats: API.Chats;
  readonly files: API.Files;
  readonly pageHide: "abort" | "disconnect";
  readonly #context: ClientContext;

  constructor(options: API.ClientOptions) {
    const context = (this.#context = new ClientContext(clientConfig(options)));
    this.chats = chatsOf(context);
    this.files = filesOf(context);
    this.pageHide = context.config.pageHide;
    // On a server there is nothing to load; a failure is told by ready() and by the calls.
    if (typeof location === "undefined") return;
    instance().catch(() => {});
    addEventListener("beforeunload", pageLeft);
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

const chatsOf = (context: ClientContext): API.Chats => ({
  async create(params, options) {
    context.check();
    const given = createParams(params, context.config);
    const { chat } = await context.call("createChat", { ...requestConfig(options, context.config), ...given });
    const { id, raw } = chat!;
    if (id === "." || id === "..") throw new ProtocolError(`the service named the chat "${id}", which no path can hold`, "chat_without_id");
    return chatOf(context, id, raw as Record<string, unknown>);
  },

  open(chatId) {
    context.check();
    return chatOf(context, segment(chatId, "chatId", "given"), {});
  },
});

const chatOf = (context: ClientContext, id: string, raw: Record<string, unknown>): API.Chat => ({
  id,
  raw: Object.freeze(raw),

  send(message, options) {
    context.check();
    const config = sendConfig(message, options, context.config);
    // A double click, or an effect that a framework runs twice: the key names one operation.
    for (const [turn, of] of turns) {
      // One that was just aborted or disconnected leaves the list a moment later.
      const under = turn.status === "queued" || turn.status === "streaming";
      if (under && of === context && turn.chatId === id && turn.idempotencyKey === config.key) return turn;
    }
    return new Turn(context, id, config);
  },

  async abort(options) {
    context.check();
    await context.call("abortChat", { ...requestConfig(options, context.config), chatId: id }, true);
  },
});
