// Turns as the page has them: their streams in chunks cut anywhere, what is read of them and when, and what a user does.

import { chance, weighted } from "../../../e2e/hostile/values.mjs";
import { chunkSize, more, wantsFlush } from "../../src/contract.ts";
import { Numbered } from "../../src/numbered.ts";

/** requests are the service's, with the answers that the streams come from. */
export function addTurns(world, requests) {
  const { r, pair } = world;
  const turns = new Numbered();

  function start(client, params) {
    const turn = { number: 0, over: false, stream: 0, seen: [0, 0], upTo: [0, 0], at: undefined, batches: 0 };
    turn.number = turns.add(turn);
    world.tell("startTurn", turn.number, client.number, params);
    turn.act = weighted(r, { none: 12, abort: 3, disconnect: 2 });
    // After some batches, or after a while.
    turn.actAt = chance(r, 0.5) ? r.below(8) : -1;
    if (turn.actAt < 0) world.after(r.below(2_000), () => act(turn));
    // The page may leave it to the module.
    if (chance(r, 0.5)) client.onClose.push(() => disconnect(turn));
    world.endings.push({
      end: () => world.after(1, () => disconnect(turn)),
      left: () => turns.get(turn.number) === turn && `turn ${turn.number}`,
    });
    return turn;
  }

  function act(turn) {
    if (turn.over || turn.acted) return;
    turn.acted = true;
    if (turn.act === "abort") world.tell("abortTurn", turn.number, world.calls.add({}));
    else if (turn.act === "disconnect") disconnect(turn);
  }

  function disconnect(turn) {
    if (!turn.over) world.tell("disconnectTurn", turn.number);
  }

  /** Feeds a chunk, or nothing, and delivers what comes of it as the page does. */
  function deliver(turn, chunk) {
    let flags;
    do {
      if (turn.at && chance(r, 0.3)) read(turn);
      world.trace.push(["feed", [turn.number, chunk?.length ?? 0]]);
      const fed = pair.feed(turn.number, chunk, world.now);
      chunk = undefined;
      flags = fed.flags;
      world.take(fed);
      if (fed.count > 0) take(turn, fed);
      if (flags & wantsFlush) world.take(pair.call("flush", turn.number));
      if (chance(r, 0.05)) pair.tools(turn.number);
      if (turn.batches === turn.actAt) act(turn);
    } while (flags & more && !turn.over);
  }

  function take(turn, { batch, marks, at, count }) {
    turn.at = at;
    turn.batches++;
    JSON.parse(batch.toString()).forEach((event, i) => {
      if (typeof event === "string" || Array.isArray(event) || event.type === "text_delta") turn.upTo[0] = marks[i];
      else if (event.type === "reasoning_delta") turn.upTo[1] = marks[i];
    });
    if (marks.length !== count) throw new Error(`${marks.length} marks of ${count} events`);
  }

  /** Compares what came of text and reasoning since the last time: the page reads it when it is asked for. */
  function read(turn, all = false) {
    for (const which of [0, 1]) {
      const from = all ? 0 : turn.seen[which], to = turn.upTo[which];
      turn.seen[which] = to;
      if (from < to) pair.read(which === 0 ? "text" : "reasoning", turn.at.map((side) => side[which]), from, to);
    }
  }

  /** Feeds the bytes of an answer, cut anew: anywhere, into the largest that the module takes and into single bytes. */
  function play(turn, { parts, end }) {
    const stream = ++turn.stream;
    const cuts = r.pick([[1, 3], [1, 40], [1, 1_000], [chunkSize, 1]]);
    const pieces = parts.flatMap(({ bytes, wait }) => {
      const out = [];
      for (let at = 0; at < bytes.length;) {
        // Of a large part the rest in a few pieces.
        const size = Math.min(chunkSize, out.length < 60 ? cuts[0] + r.below(cuts[1]) : Math.ceil(bytes.length / (1 + r.below(5))));
        out.push({ bytes: bytes.subarray(at, at + size), wait: at === 0 ? wait : r.below(3) });
        at += size;
      }
      return out;
    });
    const next = () => {
      if (turn.over || stream !== turn.stream) return;
      const piece = pieces.shift();
      if (piece) {
        deliver(turn, piece.bytes);
        if (chance(r, 0.02) && !turn.over) {
          world.take(pair.call("hold", turn.number, 1));
          return world.after(r.below(200_000), () => {
            if (turns.get(turn.number) === turn) world.take(pair.call("hold", turn.number, 0));
            next();
          });
        }
        return world.after(pieces.length > 0 && chance(r, 0.01) ? r.below(100_000) : pieces[0]?.wait ?? r.below(20), next);
      }
      if (end === "silent" && !world.calm) return;
      const failure = end === "cut" || end === "short" || chance(r, 0.05) ? r.pick(["TypeError: network error", "AbortError: \ufeffaborted"]) : "";
      world.tell("streamEnded", turn.number, failure);
      if (!turn.over) deliver(turn);
    };
    world.after(pieces[0]?.wait ?? 0, next);
  }

  world.has({
    turnOpened(number, request) {
      const of = requests.get(request);
      of.opened = true;
      play(turns.get(number), of.answer);
    },
    turnEnded(number, { status }) {
      world.tally.add(`turn ${status}`);
      const turn = turns.get(number);
      turn.over = true;
      // Other turns may be fed before the page takes what is left.
      world.after(world.soon(30), () => {
        if (turn.at) read(turn, true);
        pair.tools(number);
        world.take(pair.call("release", number));
        turns.remove(number);
      });
    },
  });
  return { start };
}
