// The agent as AG-UI's client takes it.

import type { AbstractAgent } from "@ag-ui/client";
import { AgentClient } from "turnwire";
import { TurnwireAgent } from "turnwire/ag-ui";

const client = new AgentClient({ baseURL: "/", workspaceId: "demo", agentId: "assistant" });
const agent = new TurnwireAgent({ client, threadId: "t1", openChat: (id) => client.chats.open(id), send: { model: "small", resume: "replay" } });
export const agents: Record<string, AbstractAgent> = { default: agent, other: agent.clone() };

agent.addMessage({ id: "m1", role: "user", content: "hello" });
const { newMessages } = await agent.runAgent({}, { onTextMessageContentEvent: ({ textMessageBuffer }) => console.log(textMessageBuffer) });
console.log(newMessages.map(({ role }) => role));
agent.abortRun();
