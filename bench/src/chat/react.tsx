import { AgentClient } from "turnwire";
import { useChat } from "turnwire/react";
import { show } from "./shown.tsx";

const client = new AgentClient({ baseURL: "/", apiKey: "key", workspaceId: "w", agentId: "a" });

show(() => {
  const { turns, status, send } = useChat({ client, chatId: "c" });
  return {
    texts: turns.flatMap(({ message, text }) => [message as string, text]),
    idle: status === "completed",
    send: () => void send("Go on"),
  };
});
