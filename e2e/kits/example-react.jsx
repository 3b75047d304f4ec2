import { AgentClient } from "turnwire";
import { useChat } from "turnwire/react";

const client = new AgentClient({ baseURL: "/", apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });

export function Chat() {
  const { turns, send, stop, error } = useChat({ client });
  return (
    <form onSubmit={(event) => (event.preventDefault(), send(new FormData(event.currentTarget).get("message")))}>
      {turns.map((turn) => <p key={turn.id}>{turn.message}: {turn.text} ({turn.status})</p>)}
      {error && <p role="alert">{error.message}</p>}
      <input name="message" /> <button>Send</button> <button type="button" onClick={stop}>Stop</button>
    </form>
  );
}
