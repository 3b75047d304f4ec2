// The pages of an origin share the few connections that a browser has for a host: what a block waits for may be another
// page's bytes. So they tell each other where bytes are moving.

/** Milliseconds between two words about a host. */
const pause = 250;

let users = 0;
let channel: BroadcastChannel | undefined;
const told = new Map<string, number>();

/** Hears of hosts that take another page's bytes, each as the root of its addresses, until what it returns is called. */
export function hearTraffic(heard: (root: string) => void): () => void {
  if (users++ === 0) {
    try {
      channel = new BroadcastChannel("turnwire traffic");
      channel.onmessage = ({ data }: MessageEvent<unknown>) => heard(String(data));
    } catch {
      // Where a page may store nothing, it may have no channel either. It then knows of its own bytes alone.
    }
  }
  return () => {
    if (--users > 0) return;
    channel?.close();
    channel = undefined;
    told.clear();
  };
}

/** Tells the other pages that bytes move to a host. */
export function tellTraffic(origin: string): void {
  const now = performance.now();
  if (now - (told.get(origin) ?? -pause) < pause) return;
  told.set(origin, now);
  channel?.postMessage(`${origin}/`);
}
