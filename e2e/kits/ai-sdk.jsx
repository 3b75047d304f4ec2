// A chat of the AI SDK over the transport, under StrictMode. What the tests call and look at is `kit`.

import { StrictMode, useLayoutEffect, useState, version } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { useChat } from "@ai-sdk/react";
import { AgentClient } from "turnwire";
import { TurnwireChatTransport } from "turnwire/ai-sdk";

const settings = { baseURL: location.origin, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", maxRetries: 0 };

/** The statuses that were rendered, the frames of the commits while an answer came, and how the turns ended. */
const kit = (globalThis.kit = { version, statuses: [], frames: [], ends: [], client: (options) => new AgentClient({ ...settings, ...options }) });

/** The frames so far. The document's timeline would not do: ahead of a late frame it tells that one's time. */
let frame = 0;
const count = () => {
  frame++;
  requestAnimationFrame(count);
};
count();

function Chat({ transport }) {
  const chat = useChat({
    transport,
    onFinish: ({ isAbort, isDisconnect, isError }) => kit.ends.push({ isAbort, isDisconnect, isError }),
  });
  const [files, choose] = useState();
  kit.chat = chat;
  useLayoutEffect(() => {
    if (kit.statuses.at(-1) !== chat.status) kit.statuses.push(chat.status);
    if (chat.status === "streaming") kit.frames.push(frame);
  });
  return (
    <main data-status={chat.status}>
      <input type="file" onChange={(event) => choose(event.target.files)} />
      <button id="send" onClick={() => chat.sendMessage({ text: "count to 5", files })}>Send</button>
      <button id="stop" onClick={() => chat.stop()}>Stop</button>
      {chat.messages.map(({ id, role, parts }) => (
        <article key={id} className={role}>
          {parts.map((part, i) => (
            <section key={i} className={part.type} data-state={part.state}>{part.type === "dynamic-tool" ? `${part.toolName} ${JSON.stringify(part.output)}` : part.text}</section>
          ))}
        </article>
      ))}
      {chat.error && <strong>{chat.error.message}</strong>}
    </main>
  );
}

let root;

/** Shows a chat over a transport with these options; without them it goes away. */
kit.show = (options) => {
  root ??= createRoot(document.getElementById("root"));
  const transport = options && new TurnwireChatTransport({ client: kit.client(), ...options });
  flushSync(() => root.render(transport && <StrictMode><Chat transport={transport} /></StrictMode>));
};

/** Resolves as soon as this holds. */
kit.until = (test) => new Promise((resolve) => {
  const look = () => (test() ? resolve() : requestAnimationFrame(look));
  look();
});

kit.text = () => document.querySelector(".assistant .text")?.textContent ?? "";
