import { AgentClient } from "../../web/src/client.ts";
import { answer } from "./stream.ts";

export async function turn(chunks: Uint8Array[]): Promise<number> {
  const client = new AgentClient({ baseURL: "/", fetch: async () => answer(chunks) });
  await client.ready();
  const turn = client.chats.open("c").send("hi");
  let events = 0;
  for await (const _ of turn) events++;
  const { text } = await turn.done();
  client.close();
  return events + text.length;
}
