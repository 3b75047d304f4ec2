// A chat and an upload with the hooks, under StrictMode. What the tests call and look at is `kit`.

import { StrictMode, useEffect, useLayoutEffect, version } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { AgentClient } from "turnwire";
import { useChat, useUpload } from "turnwire/react";

const settings = { baseURL: location.origin, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", maxRetries: 0 };

/** What the hook gave at each commit, and the frame of the commit: all that happens within one has the same time. */
const kit = (globalThis.kit = { version, chats: [], uploads: [], frames: [], client: (options) => new AgentClient({ ...settings, ...options }) });

function Chat({ client, chatId, greeting }) {
  const chat = useChat({ client, chatId });
  const upload = useUpload({ client });
  kit.chat = chat;
  kit.upload = upload;
  useLayoutEffect(() => {
    kit.chats.push(chat);
    kit.uploads.push(upload);
    kit.frames.push(document.timeline.currentTime);
  });
  return (
    <main data-status={chat.status} data-chat={chat.chatId} data-stage={upload.stage}>
      <button id="send" onClick={() => chat.send("count to 40")}>Send</button>
      <button id="stop" onClick={() => chat.stop()}>Stop</button>
      {greeting && <Greeting {...greeting} send={chat.send} />}
      {chat.turns.map((turn) => (
        <article key={turn.id} data-status={turn.status}>
          <h2>{typeof turn.message === "string" ? turn.message : "parts"}</h2>
          <details>{turn.reasoning}</details>
          <ul>{turn.toolCalls.map((call) => <li key={call.id}>{call.name} {call.status} {JSON.stringify(call.result)}</li>)}</ul>
          <p>{turn.text}</p>
          {turn.error && <strong>{turn.error.code}</strong>}
        </article>
      ))}
      {upload.progress && <progress value={upload.progress.loadedBytes} max={upload.progress.totalBytes} />}
    </main>
  );
}

/** A child, whose effects run before those of the component that has the chat; those of the layout before any other. */
function Greeting({ text, layout, send }) {
  (layout ? useLayoutEffect : useEffect)(() => void send(text), []);
  return null;
}

let root;

/** Shows the chat with these properties, of one client unless they name another; without properties it goes away. */
kit.show = (props) => {
  root ??= createRoot(document.getElementById("root"));
  if (props?.client) kit.current = props.client;
  flushSync(() => root.render(props && <StrictMode><Chat {...props} client={(kit.current ??= kit.client())} /></StrictMode>));
};

/** Resolves at the first commit at which this holds. */
kit.until = (test) => new Promise((resolve) => {
  const look = () => (test(kit) ? resolve() : requestAnimationFrame(look));
  look();
});
