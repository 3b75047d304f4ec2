"use client";

import { AgentClient } from "turnwire";
import { useChat, useUpload } from "turnwire/react";

const client = new AgentClient({ baseURL: "http://127.0.0.1:8080/", apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });

export default function Page() {
  const { turns, send, stop, error } = useChat({ client });
  const { upload, file } = useUpload({ client });
  return (
    <form onSubmit={(event) => (event.preventDefault(), send(new FormData(event.currentTarget).get("message")))}>
      {turns.map((turn) => <p key={turn.id}>{turn.message}: {turn.text} ({turn.status})</p>)}
      {error && <p role="alert">{error.message}</p>}
      <input name="message" /> <button>Send</button> <button type="button" onClick={stop}>Stop</button>
      <input type="file" onChange={(event) => upload(event.target.files[0], { wait: true })} /> {file?.status}
    </form>
  );
}
