import type * as API from "turnwire";
import { closeConnections, reopenConnections } from "./connections.ts";
import { ProtocolError } from "./errors.ts";
import { Files } from "./files.ts";
import { cameBack, left } from "./leaving.ts";
import { instance } from "./loader.ts";
import { Session } from "./session.ts";
import { Turn, turns } from "./turn.ts";
import { uploads } from "./upload.ts";
import { clientConfig, createParams, requestConfig, segment, sendConfig } from "./validate.ts";

/**
 * A page that goes away stops its turns at the service too: what nobody will read must not be paid for. So for its
 * uploads, but for those that a later page can go on with.
 */
function leave(): void {
  left();
  closeConnections();
  for (const [turn, session] of turns) {
    if (session.config.pageHide === "abort") turn.abort().catch(() => {});
    else turn.disconnect();
  }
  for (const [upload, session] of uploads) {
    // Whose bytes are all stored is left to the service, which hears of it all the same.
    const stored = upload.progress.stage === "reporting" || upload.progress.stage === "processing";
    if (session.config.pageHide === "abort" && upload.resumeKey === undefined && !stored) void upload.abort();
  }
}

function shown(): void {
  cameBack();
  reopenConnections();
}

export class AgentClient implements API.AgentClient {
  readonly chats: API.Chats;
  readonly files: API.Files;
  readonly #session: Session;

  constructor(options: API.ClientOptions) {
    this.#session = new Session(clientConfig(options));
    this.chats = new Chats(this.#session);
    this.files = new Files(this.#session);
    // On a server there is nothing to load; a failure is told by ready() and by the calls.
    if (typeof location === "undefined") return;
    instance().catch(() => {});
    addEventListener("pagehide", leave);
    addEventListener("pageshow", shown);
  }

  ready(): Promise<void> {
    return this.#session.seated(() => {});
  }

  close(): void {
    this.#session.close();
  }
}

class Chats implements API.Chats {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async create(params?: API.CreateChatParams, options?: API.RequestOptions): Promise<API.Chat> {
    const session = this.#session;
    session.check();
    const { workspaceId, agentId, isTemporary } = createParams(params, session.config);
    const { signal, ...limits } = requestConfig(options, session.config);
    const { chat } = await session.call(signal, ({ instance, client }, call) =>
      instance.control.createChat(call, client, { ...limits, workspaceId, agentId, isTemporary }));
    const { id, raw } = chat!;
    if (id === "." || id === "..") throw new ProtocolError(`the service named the chat "${id}", which no path can hold`, "chat_without_id");
    return new Chat(session, id, raw as Record<string, unknown>);
  }

  open(chatId: string): API.Chat {
    this.#session.check();
    return new Chat(this.#session, segment(chatId, "chatId", "given"), {});
  }
}

class Chat implements API.Chat {
  readonly id: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly #session: Session;

  constructor(session: Session, id: string, raw: Record<string, unknown>) {
    this.id = id;
    this.raw = Object.freeze(raw);
    this.#session = session;
  }

  send(message: string | API.Part[], options?: API.SendOptions): API.Turn {
    this.#session.check();
    const config = sendConfig(message, options, this.#session.config);
    // A double click, or an effect that a framework runs twice: the key names one operation.
    for (const [turn, session] of turns) {
      // One that was just aborted or disconnected leaves the list a moment later.
      const under = turn.status === "queued" || turn.status === "streaming";
      if (under && session === this.#session && turn.chatId === this.id && turn.idempotencyKey === config.key) return turn;
    }
    return new Turn(this.#session, this.id, config);
  }

  async abort(options?: API.RequestOptions): Promise<void> {
    const session = this.#session;
    session.check();
    const { signal, ...limits } = requestConfig(options, session.config);
    await session.call(signal, ({ instance, client }, call) =>
      instance.control.abortChat(call, client, { ...limits, chatId: this.id }), { outlives: true });
  }
}
