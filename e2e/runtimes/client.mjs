// What runtimes.test.mjs runs in each runtime: `client.mjs ORIGIN WASM`. It says what it saw, and ends by itself.

import { AgentClient, ConnectionError, init } from "turnwire";

const [origin, wasm] = process.argv.slice(2);
if (wasm) await init({ wasmURL: new URL(import.meta.resolve(`turnwire/${wasm}`)) });
const logs = [];
const client = new AgentClient({ baseURL: origin, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", onLog: ({ level, message }) => level === "warn" && logs.push(message) });
const uncaught = [];
process.on("uncaughtException", (error) => uncaught.push(String(error)));
const seen = { logs, uncaught };

const chat = await client.chats.create();
seen.chat = chat.id;

const turn = chat.send("What is 17 × 23?");
turn.on("end", () => { throw new Error("a listener's own"); });
let events = 0;
for await (const { type } of turn) if (type === "text_delta") events++;
const { text, toolCalls, status } = await turn.done();
seen.turn = { text, events: events > 1, tools: toolCalls.map(({ name, status }) => [name, status]), status };

const long = chat.send("count to 100000");
await new Promise((resolve) => long.on("text_delta", resolve));
await long.abort();
seen.stopped = (await long.done()).status;

const bytes = new Uint8Array(3 << 20).map((_, i) => i * 31 + (i >> 8));
seen.sum = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
const loaded = [];
const upload = client.files.upload(new Blob([bytes]), { name: "a", blockSize: 1 << 20, resumeKey: "a", wait: true, onProgress: ({ loadedBytes }) => loaded.push(loadedBytes) });
const file = await upload.done();
seen.upload = { id: file.id, status: file.status, stage: upload.progress.stage, loaded: loaded.at(-1), forward: loaded.every((n, i) => i === 0 || n >= loaded[i - 1]) };

const nobody = new AgentClient({ baseURL: "http://127.0.0.1:9/", maxRetries: 0 });
seen.refused = await nobody.chats.open("c").send("hi").done().catch((error) => error instanceof ConnectionError && error.code);
console.log(JSON.stringify(seen));
