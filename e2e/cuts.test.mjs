// Two hundred connections that break at random below HTTP, by toxiproxy. A turn completes exactly when its turn_complete
// has wholly arrived; with replays it always does, and is the same as if nothing had broken.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { testbed } from "./support/bed.mjs";
import { frame, play, recordTurn, textOf } from "./support/recording.mjs";
import { random, seedFor, Tally } from "./support/seed.mjs";
import { Toxiproxy } from "./support/toxiproxy.mjs";

const check = testbed({ flags: ["-pace", "0s"] });

const lanes = ["a", "b", "c", "d"];
const cuts = 200;

let toxiproxy, player;
before(async () => {
  toxiproxy = await Toxiproxy.start();
});
after(async () => {
  toxiproxy?.close();
  await player?.close();
});

/** What one turn shall meet: how its first connections break, and when. */
function plan(r, size) {
  const kind = r.pick(["limit_data", "limit_data", "reset_peer", "timeout"]);
  return {
    kind, replay: r.below(2) === 1, ids: r.below(2) === 1, breaks: 1 + r.below(3),
    // Bytes of all that comes, heads and all; or milliseconds of the some hundred that the whole turn takes.
    at: kind === "limit_data" ? r.below(size + 1000) : r.below(140),
  };
}

const toxic = ({ kind, at }) => ({
  limit_data: ["limit_data", { bytes: at }],
  reset_peer: ["reset_peer", { timeout: at + 1 }],
  timeout: ["timeout", { timeout: 1 }],
})[kind];

/** Sends one turn, whose first connections go by the lane that breaks, and tells all that was seen of it. */
async function send(page, lane, { replay, ids, breaks }) {
  return page.evaluate(async (lane, clean, replay, ids, breaks) => {
    const streams = [];
    let tries = 0;
    const client = lab.client({
      maxRetries: replay ? 5 : 0,
      // What is asked for travels in the address: no preflight, so that the answer alone breaks.
      fetch: async (url, { headers, signal }) => {
        const query = new URLSearchParams({ ...(ids && { ids: "1" }), ...(headers["last-event-id"] && { last: headers["last-event-id"] }) });
        const response = await fetch(`${tries++ < breaks ? lane : clean}/?${query}`, { method: "POST", signal, cache: "no-store" });
        const text = new TextDecoder();
        const at = streams.push("") - 1;
        return new Response(response.body.pipeThrough(new TransformStream({
          transform(chunk, controller) {
            streams[at] += text.decode(chunk, { stream: true });
            controller.enqueue(chunk);
          },
        })), { headers: response.headers });
      },
    });
    const turn = client.chats.open("chat_recorded").send("go", { resume: replay ? "replay" : "never" });
    const seen = await lab.follow(turn);
    client.close();
    return { ...seen, streams, tries };
  }, lane.origin, player.origin, replay, ids, breaks);
}

check(`${cuts} cuts`, async ({ page, service, t }) => {
  const r = random(seedFor(t));
  const events = await recordTurn(service.origin);
  assert.ok(events.length >= 200, `${events.length} events`);
  player = await play(events);
  const whole = textOf(events);
  const last = frame(events.at(-1));
  const size = Buffer.byteLength(events.map((event) => frame(event, 100)).join(""));
  const tally = new Tally();
  const uncut = await send(page, { origin: player.origin }, { replay: false, ids: true, breaks: 1 });
  assert.deepEqual([uncut.status, uncut.text, uncut.taken.length], ["completed", whole, events.length]);
  assert.equal(uncut.toolCalls.length, 8);

  const plans = Array.from({ length: cuts }, () => plan(r, size));
  const run = async (name) => {
    const lane = { name, origin: await toxiproxy.proxy(name, player.origin) };
    for (let one = plans.pop(); one; one = plans.pop()) {
      let poisoned;
      if (one.kind === "timeout") poisoned = new Promise((resolve) => setTimeout(resolve, one.at)).then(() => toxiproxy.poison(name, ...toxic(one)));
      else await toxiproxy.poison(name, ...toxic(one));
      const seen = await send(page, lane, one);
      await poisoned;
      await toxiproxy.heal(name);
      judge(one, seen);
    }
  };
  const judge = (one, seen) => {
    const said = `${JSON.stringify(one)} ended ${JSON.stringify([seen.status, seen.error?.code, seen.error?.message, seen.tries])}`;
    const plain = (list) => list.map(({ type, data }) => ({ type, data }));
    tally.add(`${one.kind} ${one.replay ? "with replay" : "without"}: ${seen.status}${seen.tries > 1 ? " after breaks" : ""}`);
    assert.equal(seen.status === "completed", seen.streams.some((stream) => stream.includes(last)), said);
    if (one.replay) {
      assert.equal(seen.status, "completed", said);
      assert.deepEqual(seen.result, uncut.result, said);
    } else if (seen.status !== "completed") {
      assert.deepEqual([seen.status, seen.error.name], ["interrupted", "ConnectionError"], said);
    }
    assert.ok(whole.startsWith(seen.text), said);
    // A replay without ids may come in other pieces; here it never does, so that each event is told apart by its content.
    assert.deepEqual(plain(seen.taken), events.slice(0, seen.taken.length), said);
    assert.deepEqual(seen.taken, seen.heard, said);
  };
  await Promise.all(lanes.map(run));
  t.diagnostic(tally.toString());
}, { timeout: 300_000 });
