import { useChat } from "@ai-sdk/react";
import type { ChatTransport, UIMessage } from "ai";
import { show } from "./shown.tsx";

/** The kit's own hook over a transport; the page's address says its throttle, in ms, after "?". */
export function showOver(transport: ChatTransport<UIMessage>): void {
  const throttle = Number(location.search.slice(1)) || undefined;
  show(() => {
    const { messages, status, sendMessage } = useChat({ transport, throttle });
    return {
      texts: messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join("")),
      idle: status === "ready",
      send: () => void sendMessage({ text: "Go on" }),
    };
  });
}
