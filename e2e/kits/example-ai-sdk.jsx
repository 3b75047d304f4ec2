import { useChat } from "@ai-sdk/react";
import { AgentClient } from "turnwire";
import { TurnwireChatTransport } from "turnwire/ai-sdk";

const client = new AgentClient({ baseURL: "/", apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
const transport = new TurnwireChatTransport({ client });

export function Chat() {
  const { messages, sendMessage, stop } = useChat({ transport });
  return (
    <form onSubmit={(event) => (event.preventDefault(), sendMessage({ text: new FormData(event.currentTarget).get("message") }))}>
      {messages.map(({ id, parts }) => <p key={id}>{parts.map((part) => part.type === "text" && part.text)}</p>)}
      <input name="message" /> <button>Send</button> <button type="button" onClick={stop}>Stop</button>
    </form>
  );
}
