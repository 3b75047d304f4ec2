import { DefaultChatTransport } from "ai";
import { showOver } from "./ai-sdk.tsx";

showOver(new DefaultChatTransport({ api: "/ai/chat" }));
