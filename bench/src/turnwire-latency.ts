// How long after a chunk's arrival its event's handler runs, at 1,000 events a second.

import { AgentClient } from "../../web/src/client.ts";

/** Milliseconds for each of so many events. */
export async function latency(events: number): Promise<number[]> {
  const encoder = new TextEncoder();
  const sent: number[] = [];
  const channel = new MessageChannel();
  // Made when the turn asks for it: nothing is sent that nobody reads yet.
  const stream = (): ReadableStream<Uint8Array> => new ReadableStream({
    start(controller) {
      const began = performance.now();
      let number = 0;
      // A timer of a page is held to 4 ms; a message port is not.
      channel.port1.onmessage = () => {
        while (number < events && performance.now() - began >= number) {
          controller.enqueue(encoder.encode(`data: {"type":"text_delta","data":{"chunk":"word ","n":${number++}}}\n\n`));
          sent.push(performance.now());
        }
        if (number < events) channel.port2.postMessage(null);
        else {
          controller.enqueue(encoder.encode('data: {"type":"turn_complete","data":{}}\n\n'));
          controller.close();
        }
      };
      channel.port2.postMessage(null);
    },
  });
  const client = new AgentClient({ baseURL: "/", fetch: async () => new Response(stream(), { headers: { "content-type": "text/event-stream" } }) });
  await client.ready();
  const waits: number[] = [];
  await client.chats.open("c").send("hi")
    .on("text_delta", ({ data }) => waits.push(performance.now() - sent[data.n as number]!))
    .done();
  client.close();
  channel.port1.close();
  return waits;
}
