import { AgentClient } from "turnwire";

const service = { baseURL: process.env.SERVICE ?? "http://127.0.0.1:8080/", apiKey: "dev-key" };

/** Resolves with the whole answer to a question. */
export async function ask(question, options) {
  const client = new AgentClient({ ...service, workspaceId: "demo", agentId: "assistant", ...options });
  const chat = await client.chats.create();
  const { text } = await chat.send(question).done();
  return text;
}
