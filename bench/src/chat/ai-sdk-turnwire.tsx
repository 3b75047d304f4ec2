import { AgentClient } from "turnwire";
import { TurnwireChatTransport } from "turnwire/ai-sdk";
import { showOver } from "./ai-sdk.tsx";

const client = new AgentClient({ baseURL: "/", apiKey: "key", workspaceId: "w", agentId: "a" });

showOver(new TurnwireChatTransport({ client, openChat: () => client.chats.open("c") }));
