// Bytes to event objects: feed and decode as a turn of the package does them, with the whole core behind it.

import { more } from "../../web/src/contract.ts";
import { instance } from "../../web/src/loader.ts";
import { count, type Counted, type Event } from "./stream.ts";

export async function plane(): Promise<(chunks: Uint8Array[]) => Counted> {
  const module = await instance();
  const { control } = module;
  const answer = async (): Promise<Response> => new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
  const client = module.clients.add({ fetch: answer, credentials: "omit", key: async () => "", log() {} });
  control.openClient(client, { base: "", host: "", headers: [], key: "", asksKey: false, logs: false });
  let turn: number;
  const open = async (): Promise<void> => {
    await new Promise<void>((opened) => {
      turn = module.turns.add({ opened: () => opened(), ended() {} });
      control.startTurn(turn, client, {
        chatId: "c", parts: "[]", model: "", key: "k", headers: [], maxRetries: 0, timeout: 0, idleTimeout: 0, replay: false,
      });
    });
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
      } while (flags & more);
    }
    module.exports.flush(turn);
    module.exports.release(turn);
    module.turns.remove(turn);
    return seen;
  }, { before: open });
}
