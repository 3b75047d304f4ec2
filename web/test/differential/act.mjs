// One act: clients, and what they do beside each other, from a seed.

import { random } from "../../../e2e/support/seed.mjs";
import { any, chance, string } from "../../../e2e/hostile/values.mjs";
import { addService, bases } from "./service.mjs";
import { addTurns } from "./turns.mjs";
import { addUploads } from "./uploads.mjs";
import { World } from "./world.mjs";

/** Words of other pages, as package retry names them. */
const moves = -1, hello = -2, gone = -3;

const names = ["one", "chat 2", "../%2e", "чат/4", "\ud800?#"];

export const limits = (r) => ({
  headers: chance(r, 0.3) ? [[r.pick(["X-Own", "Accept", "authorization", "x-own"]), r.pick(["call", "", "ünï"])]] : [],
  maxRetries: r.below(4),
  timeout: r.pick([60_000, 60_000, 5_000, 0]),
});

export const waitLimits = (r) => ({ ...limits(r), interval: r.pick([0, 100, 1_000]), maxInterval: r.pick([100, 5_000]), waitTimeout: r.pick([0, 8_000, 600_000]) });

/**
 * Plays an act, and throws where the programs differ or something comes to no end; what happened goes into the tally. modest:
 * no answer is large.
 */
export function play(pair, page, seed, tally, modest = false) {
  const r = random(seed);
  const world = new World(pair, page, r, tally, modest);
  try {
    perform(world, r);
  } catch (error) {
    error.trace = world.trace;
    throw error;
  }
}

function perform(world, r) {
  const hostility = r.pick([0.5, 2, 10]);
  const uploads = addUploads(world, { hostility, limits, waitLimits });
  const requests = addService(world, { hostility, tickets: uploads.tickets });
  const turns = addTurns(world, requests);
  const clients = Array.from({ length: 1 + r.below(2) }, () => openClient(world, r));
  for (let i = r.below(6); i > 0; i--) begin(world, r, clients, (client) => turns.start(client, turnParams(r)));
  for (let i = r.below(5); i > 0; i--) begin(world, r, clients, (client) => uploads.start(client));
  for (let i = r.below(4); i > 0; i--) begin(world, r, clients, (client) => call(world, r, client));
  if (chance(r, 0.2)) world.after(r.below(5_000), () => world.breakNetwork());
  if (chance(r, 0.1)) world.after(r.below(5_000), () => world.close(r.pick(clients)));
  if (chance(r, 0.2)) others(world, r);
  world.play(3_000, 3_600_000);
  world.endings.push({
    end: () => clients.forEach((client) => world.close(client)),
    left: () => clients.some((client) => world.clients.get(client.number) === client) && "a client",
  });
  const left = world.finish();
  const { live } = world.pair.small.exports;
  if (live && live() > 0) left.push(`${live()} in the module`);
  if (left.length > 0) throw new Error(`the act came to no end: ${left.join(", ")}`);
}

/** What other pages of the origin say of their connections. */
function others(world, r) {
  const root = r.pick(["https://store.example/", "https://service.example/", "http://service.example:8080/"]);
  const page = 1 + r.below(3);
  const say = (ms, word) => world.after(ms, () => world.tell("pageSaid", page, word, root));
  say(r.below(3_000), 1 + r.below(8));
  for (const word of [moves, hello]) say(r.below(5_000), word);
  say(10_000, r.pick([0, gone]));
}

/** Begins something, at once or later, while its client is open. */
function begin(world, r, clients, run) {
  const client = r.pick(clients);
  world.after(r.pick([0, r.below(50), r.below(5_000)]), () => client.closed || run(client));
}

function openClient(world, r) {
  const base = r.pick(bases);
  const asksKey = chance(r, 0.3);
  return world.open({ base, host: new URL("/", base).href, headers: limits(r).headers, key: asksKey ? "" : r.pick(["key", ""]), asksKey, logs: chance(r, 0.7) });
}

function turnParams(r) {
  return {
    ...limits(r), chatId: r.pick(names), parts: chance(r, 0.9) ? '[{"type":"text","text":"hi"}]' : `[${any(r)}]`, model: r.pick(["", "small", "\ufeffm"]),
    key: `key-${r.below(1_000)}`, idleTimeout: r.pick([120_000, 10_000, 0]), replay: chance(r, 0.3),
  };
}

function call(world, r, client) {
  const fileId = r.pick(names);
  switch (r.below(5)) {
    case 0: return world.call("createChat", client, { ...limits(r), workspaceId: r.pick(names), agentId: JSON.parse(string(r)), ...(chance(r, 0.5) && { isTemporary: chance(r, 0.5) }) });
    case 1: return world.call("abortChat", client, { ...limits(r), chatId: r.pick(names) });
    case 2: return world.call("getFile", client, { ...limits(r), fileId });
    case 3: return world.call("reportFailed", client, { ...limits(r), fileId, why: JSON.parse(string(r)) });
    default: return world.call("waitFile", client, { ...waitLimits(r), fileId });
  }
}
