// A page's whole use of the package.

import { AgentClient, init, version, type Chat, type Turn, type TurnResult, type TurnStatus } from "turnwire";

await init();
await init({ wasmURL: new URL("https://example.org/turnwire.wasm") });
await init({ wasmURL: "/turnwire.wasm" });
const text: string = version;

const client = new AgentClient({ baseURL: "/api", apiKey: async () => text, workspaceId: "demo", agentId: "assistant" });
await client.ready();
const chat: Chat = await client.chats.create({ isTemporary: true }, { signal: AbortSignal.timeout(1_000) });
const id: string = chat.id;
const field: unknown = chat.raw["created_at"];
const opened: Chat = client.chats.open(id);

const turn: Turn = opened.send("What is 17 × 23?");
const status: TurnStatus = turn.status;
for await (const event of turn) console.log(event.type, status, field);

const result: TurnResult = await turn.done();
if (result.status === "cancelled") console.log(result.text.length, result.toolCalls.map((call) => call.name));

const stream: ReadableStream<string> = chat.send([{ type: "text", text: "and now?" }]).textStream();
for await (const chunk of stream) console.log(chunk.toUpperCase());

await turn.abort();
turn.disconnect();
await chat.abort({ timeout: 0, maxRetries: 0, headers: { "x-team": "a" } });
client.close();
