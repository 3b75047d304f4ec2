// The element as a page uses it.

import { AgentClient, type Turn } from "turnwire";
import { chatStrings, TurnwireChat, type ChatFileState, type ChatStrings } from "turnwire/element";

const chat: TurnwireChat = document.createElement("turnwire-chat");
chat.client = new AgentClient({ baseURL: "/", workspaceId: "demo", agentId: "assistant" });
chat.apiKey = async () => "dev-key";
chat.uploadOptions = { blockSize: 1 << 20, purpose: "rag" };
chat.dropTarget = document;
chat.openSettings = () => {};

const german: Partial<ChatStrings> = { send: "Senden", events: (n) => `${n} Ereignisse`, explain: (error, where) => ({ ...chatStrings.explain(error, where), advice: where.baseURL }) };
chat.strings = german;

chat.addEventListener("turn", ({ detail: { turn, message } }) => {
  const begun: Turn = turn;
  begun.on("text_delta", ({ data: { chunk } }) => console.log(message, chunk));
});
chat.addEventListener("file", ({ detail }) => {
  const state: ChatFileState = detail.state;
  console.log(state, detail.file?.id);
});
chat.addEventListener("error", ({ detail: { name, error } }) => console.log(name, error.message));
chat.addEventListener("click", (event) => event.clientX, { once: true });

const sent: boolean = chat.send("hello");
const id: string | undefined = chat.chatId;
document.querySelector("turnwire-chat")?.addFiles([new File(["x"], `${id}${sent}`)]);
void chat.stop().then(() => chat.settled());
