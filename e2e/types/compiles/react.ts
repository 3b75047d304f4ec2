// The hooks as a component uses them, and the examples of the README.

import { AgentClient, type AgentFile, type Part } from "turnwire";
import { useChat, useUpload, type ChatTurn, type UseChat } from "turnwire/react";

const client = new AgentClient({ baseURL: "/", workspaceId: "demo", agentId: "assistant" });

export function Chat({ chatId }: { chatId?: string }): string {
  const chat: UseChat = useChat({ client, chatId });
  const { turns, send, stop, status, error } = chat;
  const busy: boolean = status === "queued" || status === "streaming";
  if (busy) void stop();
  const parts: Part[] = [{ type: "text", text: "hello" }];
  void send(parts, { model: "small", idempotencyKey: "once" });
  const [first]: readonly ChatTurn[] = turns;
  const message: string | readonly Part[] | undefined = first?.message;
  return `${typeof message} ${error?.message ?? ""} ${turns.map((turn) => turn.text + turn.toolCalls.map((call) => call.name).join()).join()}`;
}

export function Attach(): number {
  const { upload, progress, file, pause, resume, abort, stage } = useUpload({ client });
  const sent: Promise<AgentFile | undefined> = upload(new Blob(["x"]), { purpose: "rag", onProgress: ({ loadedBytes }) => loadedBytes });
  void sent.then(() => (stage === "idle" ? pause() : resume()));
  void abort();
  return (progress?.loadedBytes ?? 0) + (file?.size ?? 0);
}
