// Bytes to event objects, as a page that parses by hand makes them.

import { createParser } from "eventsource-parser";
import { count, type Counted, type Event } from "./stream.ts";

export function parser(chunks: Uint8Array[]): Counted {
  const seen = { events: 0, characters: 0 };
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: (message) => count(seen, JSON.parse(message.data) as Event) });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  return seen;
}
