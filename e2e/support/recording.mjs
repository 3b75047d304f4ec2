// A turn of the reference service with tools and text in several scripts, recorded, and a server that plays it to any
// request, with or without ids: what arrives of it can be counted byte by byte.

import { createServer } from "node:http";

async function record(origin, message) {
  const headers = { authorization: "Bearer dev-key", "content-type": "application/json" };
  const chat = await (await fetch(`${origin}/v1/workspaces/demo/chats`, { method: "POST", headers, body: '{"agent_id":"assistant"}' })).json();
  const answer = await fetch(`${origin}/v1/chats/${chat.chat_id}/messages`, {
    method: "POST", headers: { ...headers, "idempotency-key": "recorded" }, body: JSON.stringify({ parts: [{ type: "text", text: message }] }),
  });
  return [...(await answer.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
}

/** The events of one long turn: reasoning, eight tool calls, prose, turn_complete. */
export async function recordTurn(origin) {
  const tools = await record(origin, "1+1, 2+2, 3+3, 4+4, 5+5, 6+6, 7+7 and 8+8");
  const prose = await record(origin, "write 150 words");
  return [...tools.filter(({ type }) => type !== "turn_complete"), ...prose.filter(({ type }) => type === "text_delta"), prose.at(-1)];
}

export const frame = (event, id) => `${id ? `id: ${id}\n` : ""}data: ${JSON.stringify(event)}\n\n`;

export const textOf = (events, type = "text_delta") => events.filter((event) => event.type === type).map((event) => event.data.chunk).join("");

/** Plays the events: ?ids=1 with ids, ?last=N after event N, a few events at a time. The answer is chunked, so that a cut shows. */
export async function play(events) {
  const server = createServer(async (request, response) => {
    request.resume();
    const query = new URL(request.url, "http://host").searchParams;
    const last = Number(query.get("last") ?? 0);
    response.writeHead(200, { "content-type": "text/event-stream", "access-control-allow-origin": "*", connection: "close" });
    for (let at = last; at < events.length && !response.destroyed; ) {
      let burst = "";
      for (const end = Math.min(at + 10, events.length); at < end; at++) burst += frame(events[at], query.has("ids") && at + 1);
      response.write(burst);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    response.end();
  });
  server.on("clientError", () => {});
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    }),
  };
}
