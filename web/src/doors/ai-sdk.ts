/**
 * A ChatTransport for the AI SDK 7: useChat of @ai-sdk/react, and of the SDK's other kits, talks to the service without a server
 * of the page's own. Nothing of the SDK is loaded but what the page itself uses.
 *
 * @module turnwire/ai-sdk
 */
import type { ChatTransport, FileUIPart, UIMessage, UIMessageChunk } from "ai";
import type { AgentClient, AgentFile, Chat, Part, SendOptions, ToolCall, Turn, UploadOptions } from "turnwire";
import { type Chats, chatsOf } from "./chats.ts";
import { follow, toolError } from "./steps.ts";

/** What the transport is made with. */
export interface TurnwireChatTransportOptions {
  /** Sends the messages and uploads their files. */
  client: AgentClient;
  /**
   * The service's chat for a chat of the kit, by the kit's id; asked once an id, at its first message. Default: a new one, of
   * the client's workspace and agent. `(id) => client.chats.open(id)` where the kit's ids are the service's.
   */
  openChat?: (id: string) => Chat | Promise<Chat>;
  /** For every message. Headers of a message, and the model of its body, come before these. */
  send?: Omit<SendOptions, "signal" | "idempotencyKey">;
  /** For every file of a message. Default: { wait: true }, for the agent may need it at once. */
  upload?: Omit<UploadOptions, "signal" | "name" | "contentType">;
  /** The message's part for a file that was uploaded. Default: { type: "file", file_id }. The interface shows none. */
  filePart?: (file: AgentFile, part: FileUIPart) => Part;
}

/**
 * `useChat({ transport: new TurnwireChatTransport({ client }) })`. Keep one for all renders.
 *
 * Sends the newest message alone, under its id as idempotency key: the service has those before it. So sendMessage({ text,
 * messageId }), with both of a message whose answer broke off, asks for the same answer again; with another text a service
 * refuses it, for a turn can't be changed. A message's files, which must have data: URLs, are uploaded first. stop() stops the
 * service. An answer that breaks off ends in a TypeError, which the SDK takes for a
 * disconnect, its cause the client's own error; any other failure but the service's error event is the client's own error.
 */
export class TurnwireChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  readonly #options: TurnwireChatTransportOptions;
  readonly #chats: Chats;
  /** Of messages whose turns have not completed: sent again, a message must have the same files. */
  readonly #files = new Map<string, { url: string; file: AgentFile }>();

  constructor(options: TurnwireChatTransportOptions) {
    this.#options = options;
    this.#chats = chatsOf(options);
  }

  /**
   * Rejects what the service has no way to do: regenerate(), a body with other fields than `model`, messages that are not the
   * user's, parts other than text and files with data: URLs; and what UploadError and its like say of a file.
   */
  async sendMessages({ trigger, chatId, messages, abortSignal: signal, headers, body }: Parameters<ChatTransport<Message>["sendMessages"]>[0]): Promise<ReadableStream<UIMessageChunk>> {
    if (trigger !== "submit-message") throw new Error("turnwire: the service can't answer a message anew (regenerate); send it as a new one");
    const message = messages.at(-1);
    if (message?.role !== "user") throw new Error("turnwire: the last message must be the user's: the service runs its tools itself");
    const { model, ...rest } = { ...body } as Record<string, unknown>;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw new Error(`turnwire: the service takes "model" alone beside a message, not "${unknown}"`);
    const { send } = this.#options;
    const chat = await this.#chats(chatId);
    const parts = await this.#parts(message, signal);
    const all = new Headers(send?.headers as HeadersInit | undefined);
    new Headers(headers).forEach((value, name) => all.set(name, value));
    const turn = chat.send(parts, {
      ...send,
      headers: all,
      ...(model !== undefined && { model: model as string }),
      idempotencyKey: message.id,
      signal,
    });
    turn.on("turn_complete", () => message.parts.forEach((_, i) => this.#files.delete(`${message.id} ${i}`)));
    return chunksOf(turn);
  }

  /** null: a page that comes back has no answer under way. */
  async reconnectToStream(): Promise<null> {
    return null;
  }

  /** The parts as the service takes them; the files at once, for each waits for its own processing. */
  #parts({ id, parts }: Message, signal: AbortSignal | undefined): Promise<Part[]> {
    return Promise.all(parts.flatMap((part, i): (Part | Promise<Part>)[] => {
      if (part.type === "text") return part.text ? [{ type: "text", text: part.text }] : [];
      if (part.type === "file") return [this.#file(`${id} ${i}`, part as FileUIPart, signal)];
      throw new Error(`turnwire: the service takes text and files, not a part of the type "${part.type}"`);
    }));
  }

  async #file(key: string, part: FileUIPart, signal: AbortSignal | undefined): Promise<Part> {
    const { client, upload, filePart = ({ id }) => ({ type: "file", file_id: id }) } = this.#options;
    const { url, filename, mediaType } = part;
    let known = this.#files.get(key);
    if (known?.url !== url) {
      const file = await client.files.upload(bytesOf(url), {
        wait: true, ...upload, ...(filename && { name: filename }), contentType: mediaType, signal,
      }).done();
      this.#files.set(key, (known = { url, file }));
    }
    return filePart(known!.file, part);
  }
}

/** What a data: URL holds (RFC 2397). Not by fetch, which a Content-Security-Policy may forbid. */
function bytesOf(url: string): Blob {
  const comma = url.indexOf(",");
  if (!/^data:/i.test(url) || comma < 0) throw new Error("turnwire: a file must have a data: URL, as the kit makes it of a chosen file");
  const data = decodeURIComponent(url.slice(comma + 1));
  return new Blob([/;base64$/i.test(url.slice(0, comma)) ? Uint8Array.from(atob(data), (char) => char.charCodeAt(0)) : data]);
}

/** A turn as the SDK's chunks. What was not read yet of one text is one chunk: a slow page has fewer renders to do, not more. */
function chunksOf(turn: Turn): ReadableStream<UIMessageChunk> {
  const queue: UIMessageChunk[] = [];
  let end: ((controller: ReadableStreamDefaultController<UIMessageChunk>) => void | Promise<void>) | undefined;
  let wake = (): void => {};
  const put = (...chunks: UIMessageChunk[]): void => {
    queue.push(...chunks);
    wake();
  };
  let begun = false, blocks = 0;
  let open: { kind: "text" | "reasoning"; id: string } | undefined;
  const begin = (): void => {
    if (!begun) put({ type: "start" }, { type: "start-step" });
    begun = true;
  };
  const close = (): void => {
    if (open) put({ type: `${open.kind}-end`, id: open.id });
    open = undefined;
  };
  const write = (kind: "text" | "reasoning", delta: string): void => {
    begin();
    if (open?.kind !== kind) {
      close();
      open = { kind, id: `${kind}-${++blocks}` };
      put({ type: `${kind}-start`, id: open.id });
    }
    const last = queue.at(-1);
    if (last?.type === `${kind}-delta`) (last as { delta: string }).delta += delta;
    else put({ type: `${kind}-delta`, id: open.id, delta });
  };
  const tool = ({ id, name }: ToolCall) => ({ toolCallId: id, toolName: name || "tool", dynamic: true, providerExecuted: true });

  follow(turn, {
    text: (delta) => write("text", delta),
    reasoning: (delta) => write("reasoning", delta),
    toolStarted: (call) => {
      begin();
      close();
      put({ type: "tool-input-start", ...tool(call) });
    },
    toolArguments: ({ id }, inputTextDelta) => put({ type: "tool-input-delta", toolCallId: id, inputTextDelta }),
    toolCalled: (call) => {
      const { arguments: input, argumentsText } = call;
      if (input === undefined && argumentsText) put({ type: "tool-input-error", ...tool(call), input: argumentsText, errorText: "the arguments are not JSON" });
      else put({ type: "tool-input-available", ...tool(call), input: input ?? {} });
    },
    toolResult: (call) => {
      const errorText = toolError(call);
      const { toolCallId, dynamic, providerExecuted } = tool(call);
      const of = { toolCallId, dynamic, providerExecuted };
      put(errorText === undefined ? { type: "tool-output-available", ...of, output: call.result ?? null } : { type: "tool-output-error", ...of, errorText });
    },
    ended: (status, error) => {
      close();
      end = (controller) => controller.close();
      if (status === "completed") {
        begin();
        put({ type: "finish-step" }, { type: "finish" });
      } else if (status === "cancelled") put({ type: "abort" });
      else if (error?.name === "TurnError") put({ type: "error", errorText: error.message });
      else end = async (controller) => {
        // An error would throw away what the SDK has taken and not worked off.
        await new Promise<void>((resolve) => setTimeout(resolve));
        controller.error(status === "interrupted" ? new TypeError(`network: ${error?.message}`, { cause: error }) : error);
      };
      wake();
    },
  });

  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      // Nothing waits in the stream's own queue, for an error would throw it away.
      while (queue.length === 0 && !end) await new Promise<void>((resolve) => (wake = resolve));
      if (queue.length > 0) return controller.enqueue(queue.shift()!);
      await end!(controller);
    },
    cancel: () => void turn.abort(),
  }, { highWaterMark: 0 });
}
