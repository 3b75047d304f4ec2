import { DefaultChatTransport, readUIMessageStream } from "ai";
import { answer } from "./answer.ts";

const transport = new DefaultChatTransport({ api: "/ai/chat" });
const stream = await transport.sendMessages({
  trigger: "submit-message", chatId: "c", messageId: undefined, abortSignal: undefined,
  messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "What is 6 times 7?" }] }],
});
for await (const { parts } of readUIMessageStream({ stream })) {
  answer(parts.find((part) => part.type === "text")?.text);
}
