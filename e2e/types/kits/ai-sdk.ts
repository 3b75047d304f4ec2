// The transport as the AI SDK takes it.

import type { ChatTransport, UIMessage } from "ai";
import { useChat } from "@ai-sdk/react";
import { AgentClient } from "turnwire";
import { TurnwireChatTransport } from "turnwire/ai-sdk";

const client = new AgentClient({ baseURL: "/", workspaceId: "demo", agentId: "assistant" });

type Mine = UIMessage<{ at: number }>;
const typed: ChatTransport<Mine> = new TurnwireChatTransport<Mine>({
  client,
  openChat: (id) => client.chats.open(id),
  send: { model: "small", resume: "replay" },
  upload: { purpose: "rag", wait: false },
  filePart: (file, { mediaType }) => ({ type: "document", id: file.id, mediaType }),
});

export const chat = useChat<Mine>({ transport: typed });
export const plain = useChat({ transport: new TurnwireChatTransport({ client }) });
