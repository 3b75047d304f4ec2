// The pages of an origin share the few connections that a browser has for a host: what a request waits for may be another
// page's. So their modules tell each other what they have.

import { gone, hello } from "./contract.ts";

type Word = [page: number, word: number, host: string];

const me = Math.floor(Math.random() * 2 ** 32);
let channel: BroadcastChannel | undefined;
let module: ((...word: Word) => void) | undefined;

/** Tells the other pages a word of this one's module. */
export const tellPages = (word: number, host: string): void => channel?.postMessage([me, word, host] satisfies Word);

/** Begins to hear what other pages say, for a module that has just begun. */
export function hearPages(said: typeof module): void {
  module = said;
  try {
    channel ??= new BroadcastChannel("turnwire");
  } catch {
    // Where a page may store nothing, it may have no channel either. It then knows of its own connections alone.
    return;
  }
  channel.onmessage = ({ data }: MessageEvent<Word>) => module?.(...data);
  tellPages(hello, "");
}

/** Of a module that has crashed: what it had is let go. */
export const holdNone = (): void => tellPages(gone, "");

/** A page that is left has no connections that others should wait for. */
export function leavePages(): void {
  holdNone();
  channel?.close();
  channel = undefined;
}

/** A page that is shown again says anew what it has. */
export function rejoinPages(): void {
  if (!module || channel) return;
  hearPages(module);
  module(me, hello, "");
}
