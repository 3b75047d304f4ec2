// Bytes to event objects: ours is feed and decode as a turn of the package does them, with the whole core behind it.

import { createParser } from "eventsource-parser";
import { answerOf } from "../../web/src/answer.ts";
import { instance } from "../../web/src/loader.ts";

export interface Counted {
  events: number;
  characters: number;
}

type Event = { type: string; data: { chunk?: string } };

function count(into: Counted, event: Event): void {
  into.events++;
  if (event.type === "text_delta") into.characters += event.data.chunk!.length;
}

export async function ours(): Promise<(chunks: Uint8Array[]) => Counted> {
  const module = await instance();
  const answer = async (): Promise<unknown> =>
    answerOf(new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }));
  const client = module.control.openClient({ base: "", host: "", headers: [], credentials: "omit", fetch: answer, key: "" });
  let turn: number;
  const open = async (): Promise<void> => {
    let opened!: () => void;
    const waiting = new Promise<void>((resolve) => (opened = resolve));
    turn = module.control.startTurn(
      client,
      { chatId: "c", parts: "[]", model: "", key: "k", headers: [], maxRetries: 0, timeout: 0, idleTimeout: 0 },
      { opened, ended() {} },
    );
    await waiting;
  };
  await open();
  return Object.assign((chunks: Uint8Array[]) => {
    const seen = { events: 0, characters: 0 };
    for (let chunk of chunks as (Uint8Array | undefined)[]) {
      let flags: number;
      do {
        flags = module.feed(turn, chunk, performance.now());
        chunk = undefined;
        if (module.count > 0) {
          for (const event of module.batch()) count(seen, event as Event);
        }
      } while (flags & 1);
    }
    module.exports.flush(turn);
    module.exports.release(turn);
    return seen;
  }, { before: open });
}

export function theirs(chunks: Uint8Array[]): Counted {
  const seen = { events: 0, characters: 0 };
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: (message) => count(seen, JSON.parse(message.data) as Event) });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  return seen;
}
