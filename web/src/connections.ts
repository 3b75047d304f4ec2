// The pages of an origin share the few connections that a browser has for a host: what a request waits for may be another
// page's. So they tell each other how many they have, and where bytes are moving.

/** Milliseconds between two words about a host's bytes. */
const pause = 250;
/** Milliseconds after which what a page said is said again, and after which it counts no longer: a page may crash. */
const repeat = 30_000, forgotten = 120_000;

/** Roots are addresses of hosts with the path "/". */
type Message = { from: string; hello: true } | { from: string; moved: string } | { from: string; root: string; held: number };

interface Hears {
  othersMove(root: string): void;
  othersHold(held: number, root: string): void;
}

const me = Math.random().toString(36).slice(2);
const mine = new Map<string, number>();
const others = new Map<string, { from: string; root: string; held: number; at: number }>();
const moved = new Map<string, number>();
let channel: BroadcastChannel | undefined;
let hears: (() => Hears | undefined) | undefined;
let again: ReturnType<typeof setInterval> | undefined;

/** Begins to hear of other pages' connections, and says who else does. */
export function hearConnections(who: () => Hears | undefined): void {
  hears = who;
  open();
}

function open(): BroadcastChannel | undefined {
  if (channel) return channel;
  try {
    channel = new BroadcastChannel("turnwire connections");
  } catch {
    // Where a page may store nothing, it may have no channel either. It then knows of its own connections alone.
    return undefined;
  }
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data);
  say({ from: me, hello: true });
  return channel;
}

const say = (word: Message): void => channel?.postMessage(word);

function hear(word: Message): void {
  if ("hello" in word) for (const [root, held] of mine) say({ from: me, root, held });
  else if ("moved" in word) hears?.()?.othersMove(word.moved);
  else {
    others.set(`${word.from} ${word.root}`, { ...word, at: performance.now() });
    count(word.root);
    keepOn();
  }
}

function count(root: string): void {
  let sum = 0;
  for (const [key, other] of others) {
    if (other.held === 0 || performance.now() - other.at > forgotten) others.delete(key);
    else if (other.root === root) sum += other.held;
  }
  hears?.()?.othersHold(sum, root);
}

/** Of a module that has just begun: it hears what was said before. */
export function countOthers(): void {
  for (const { root } of [...others.values()]) count(root);
}

/** Tells the other pages how many connections this one has to a host. */
export function tellHeld(root: string, held: number): void {
  if (held > 0) mine.set(root, held);
  else mine.delete(root);
  open();
  say({ from: me, root, held });
  keepOn();
}

/** Says again what this page has, and forgets what others do not say any more, for as long as there is any. */
function keepOn(): void {
  if (mine.size + others.size > 0) again ??= setInterval(sayAll, repeat);
  else {
    clearInterval(again);
    again = undefined;
  }
}

function sayAll(): void {
  for (const [root, held] of mine) say({ from: me, root, held });
  countOthers();
  keepOn();
}

/** Tells the other pages that bytes move to a host. */
export function tellMoved(origin: string): void {
  const now = performance.now();
  if (now - (moved.get(origin) ?? -pause) < pause) return;
  moved.set(origin, now);
  open();
  say({ from: me, moved: `${origin}/` });
}

/** Of a module that has crashed: what it had is let go. */
export function holdNone(): void {
  for (const root of [...mine.keys()]) tellHeld(root, 0);
}

/** A page that is left has no connections that others should wait for. */
export function closeConnections(): void {
  for (const root of mine.keys()) say({ from: me, root, held: 0 });
  channel?.close();
  channel = undefined;
}

/** A page that is shown again says anew what it has. */
export function reopenConnections(): void {
  if (!hears) return;
  open();
  sayAll();
}
