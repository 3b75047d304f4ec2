// A chat over the AG-UI agent, under StrictMode. What the tests call and look at is `kit`.

import { StrictMode, useEffect, useLayoutEffect, useState, version } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { AgentClient } from "turnwire";
import { TurnwireAgent } from "turnwire/ag-ui";

const settings = { baseURL: location.origin, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", maxRetries: 0 };

/** Every event of every run, how the runs ended, and the frames of the commits while one was under way. */
const kit = (globalThis.kit = { version, events: [], ends: [], frames: [], client: (options) => new AgentClient({ ...settings, ...options }) });

/** The frames so far. The document's timeline would not do: ahead of a late frame it tells that one's time. */
let frame = 0;
const count = () => {
  frame++;
  requestAnimationFrame(count);
};
count();

function Chat({ agent }) {
  const [messages, show] = useState([]);
  useEffect(() => {
    const { unsubscribe } = agent.subscribe({ onMessagesChanged: ({ messages }) => show([...messages]) });
    return () => {
      unsubscribe();
      // A page that leaves its chat lets go of the run.
      if (agent.isRunning) kit.detached = agent.detachActiveRun();
    };
  }, [agent]);
  useLayoutEffect(() => {
    if (agent.isRunning) kit.frames.push(frame);
  });
  return (
    <main>
      <button id="stop" onClick={() => agent.abortRun()}>Stop</button>
      {messages.map(({ id, role, content, toolCalls }) => (
        <article key={id} className={role}>{toolCalls ? toolCalls.map((call) => `${call.function.name} ${call.function.arguments}`).join() : content}</article>
      ))}
    </main>
  );
}

let root;

/** Shows a chat of an agent with these options; without them it goes away. */
kit.show = (options) => {
  root ??= createRoot(document.getElementById("root"));
  if (options) kit.agent = new TurnwireAgent({ client: kit.client(), ...options });
  flushSync(() => root.render(options && <StrictMode><Chat agent={kit.agent} /></StrictMode>));
};

/** Sends a message under this id, and resolves with how its run ended. */
kit.say = async (content, id) => {
  if (!kit.agent.messages.some((message) => message.id === id)) kit.agent.addMessage({ id, role: "user", content });
  let end;
  const told = await kit.agent.runAgent({}, {
    onEvent: ({ event }) => void kit.events.push(event),
    onRunFinishedEvent: ({ outcome }) => void (end = outcome),
    onRunErrorEvent: ({ event }) => void (end = event.code),
  }).catch((error) => ({ error }));
  kit.ends.push(end);
  return end ?? String(told.error);
};

/** Resolves as soon as this holds. */
kit.until = (test) => new Promise((resolve) => {
  const look = () => (test() ? resolve() : requestAnimationFrame(look));
  look();
});

kit.texts = (role) => [...document.querySelectorAll(`.${role}`)].map(({ textContent }) => textContent);
