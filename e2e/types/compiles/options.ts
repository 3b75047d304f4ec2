// Every option in every form that it takes.

import { AgentClient, type ClientOptions, type CreateChatParams, type LogRecord, type Part, type RequestOptions, type SendOptions } from "turnwire";

const records: LogRecord[] = [];
const options: ClientOptions = {
  baseURL: new URL("https://example.org"),
  apiKey: () => "key",
  workspaceId: "demo",
  agentId: "assistant",
  headers: { "x-team": "a" },
  credentials: "include",
  maxRetries: 0,
  timeout: 0,
  idleTimeout: 0,
  fetch: globalThis.fetch,
  onLog: (record) => records.push(record),
};
export const clients = [
  new AgentClient(options),
  new AgentClient({ baseURL: "/" }),
  new AgentClient({ baseURL: "/", apiKey: "key" }),
  new AgentClient({ baseURL: "/", apiKey: () => Promise.resolve("key"), fetch: (input, init) => fetch(input, init) }),
];
export const headers: RequestOptions[] = [
  { headers: new Headers() }, { headers: new Map([["x-team", "a"]]) }, { headers: [["x-team", "a"]] }, { headers: [["x-team", "a"]] as const },
];
export const levels: LogRecord["level"][] = ["debug", "info", "warn", "error"];
export const value: string | number | boolean | undefined = records[0]?.fields["status"];

const request: RequestOptions = { signal: new AbortController().signal, timeout: 1, maxRetries: 1, headers: {} };
const send: SendOptions = { ...request, model: "m", idempotencyKey: "k", idleTimeout: 1, onEvent: (event) => console.log(event.type) };
const create: CreateChatParams = { workspaceId: "demo", agentId: "assistant", isTemporary: false };
const parts: Part[] = [{ type: "text", text: "hello" }, { type: "image_ref", file_id: "file_1" }];

const chat = await clients[0]!.chats.create(create, request);
chat.send(parts, send).on("update", async (turn) => console.log(await turn.done()));
