// The streams that both sides read: made once, the same bytes for each.

export const events = 50_000;

export type Event = { type: string; data: { chunk?: string } };

export interface Counted {
  events: number;
  characters: number;
}

export function count(into: Counted, event: Event): void {
  into.events++;
  if (event.type === "text_delta") into.characters += event.data.chunk!.length;
}

/** A seeded generator (mulberry32), so that two runs cut at the same places. */
export function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const words = ["the ", "answer ", "is ", "streamed ", "as ", "it ", "is ", "generated, ", "größer ", "日本 ", "\\\"quoted\\\" ", "and\\n"];

function frames(): Uint8Array<ArrayBuffer>[] {
  const pick = random(1);
  const encoder = new TextEncoder();
  return Array.from({ length: events }, () =>
    encoder.encode(`data: {"type":"text_delta","data":{"chunk":"${words[Math.floor(pick() * words.length)]}"}}\n\n`));
}

function join(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function cut(all: Uint8Array<ArrayBuffer>, size: () => number): Uint8Array<ArrayBuffer>[] {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < all.length; ) {
    const n = size();
    chunks.push(all.slice(at, at + n));
    at += n;
  }
  return chunks;
}

/** 50,000 text_delta events and the event that ends a turn, in three chunkings. */
export function chunkings(): Record<string, Uint8Array<ArrayBuffer>[]> {
  const one = [...frames(), new TextEncoder().encode('data: {"type":"turn_complete","data":{}}\n\n')];
  const all = join(one);
  const pick = random(2);
  return {
    "one event a chunk": one,
    "16 KiB chunks": cut(all, () => 16 << 10),
    "random chunks (1 B to 8 KiB)": cut(all, () => 1 + Math.floor(pick() * (8 << 10))),
  };
}

function body(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < chunks.length) controller.enqueue(chunks[at++]!);
      else controller.close();
    },
  });
}

export const answer = (chunks: Uint8Array[]): Response => new Response(body(chunks), { headers: { "content-type": "text/event-stream" } });
