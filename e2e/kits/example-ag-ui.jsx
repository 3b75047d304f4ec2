import { AgentClient } from "turnwire";
import { TurnwireAgent } from "turnwire/ag-ui";

const client = new AgentClient({ baseURL: "/", apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
const agent = new TurnwireAgent({ client });

export async function ask(content, show) {
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
  await agent.runAgent({}, {
    onTextMessageContentEvent: ({ event, textMessageBuffer }) => show(textMessageBuffer + event.delta),
    onRunErrorEvent: ({ event }) => show(`${event.code}: ${event.message}`),
  });
}
