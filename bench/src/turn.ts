// A whole turn: `for await` over every event, then the final text; the chunks come from a ReadableStream in the page.

import { createParser } from "eventsource-parser";
import { Stream } from "openai/streaming";
import { answer, type Event } from "./stream.ts";

export async function openai(chunks: Uint8Array[]): Promise<number> {
  const stream = Stream.fromSSEResponse<Event>(answer(chunks), new AbortController());
  let events = 0;
  let text = "";
  for await (const event of stream) {
    events++;
    if (event.type === "text_delta") text += event.data.chunk;
  }
  return events + text.length;
}

/** What a page that parses by hand can reach. */
export async function parser(chunks: Uint8Array[]): Promise<number> {
  let events = 0;
  let text = "";
  const parser = createParser({
    onEvent(message) {
      const event = JSON.parse(message.data) as Event;
      events++;
      if (event.type === "text_delta") text += event.data.chunk;
    },
  });
  const decoder = new TextDecoder();
  const reader = answer(chunks).body!.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parser.feed(decoder.decode(value, { stream: true }));
  }
  return events + text.length;
}
