// What surrounds the two programs: a clock, a queue of what is still to happen, and the page's own half of what is the same
// for turns and uploads. All that is chosen comes from one seed.

import { chance } from "../../../e2e/hostile/values.mjs";
import { Numbered } from "../../src/numbered.ts";

export class World {
  timers = new Set();
  clients = new Numbered();
  calls = new Numbered();
  /** Nothing goes wrong any more: everything is to come to its end. */
  calm = false;
  /** The functions of Page, by name: each part of the world brings its own. */
  page = {};
  /** What each part does for everything to come to its end, and what it says that has not. */
  endings = [];
  /** What was told and what happened, the newest last. */
  trace = [];
  #queue = [];
  #order = 0;

  constructor(pair, page, r, tally, modest) {
    this.pair = pair;
    this.modest = modest;
    this.tally = tally;
    this.surroundings = page;
    this.r = r;
    // The machine was asleep, or the last act was a while ago.
    page.now += r.below(1_000) + r.next();
    page.offline = false;
    const drawn = r.below(2 ** 31);
    page.random = (n) => (Math.imul(drawn ^ n, 0x9e3779b1) >>> 0) / 2 ** 32;
    pair.reset();
    this.has({
      setTimer: (timer, ms) => {
        this.timers.add(timer);
        // A timer comes late rather than early, and much too late where the machine slept.
        const late = chance(r, 0.02) && !this.calm ? r.below(100_000) : r.below(5);
        this.after(ms + late, () => this.timers.delete(timer) && this.tell("timerFired", timer));
      },
      clearTimer: (timer) => this.timers.delete(timer),
      record: () => {},
      tellPages: () => {},
      callEnded: (call, { error }) => {
        tally.add(`call ${error ? "failed" : "done"}`);
        this.calls.remove(call);
      },
      fileStatus: () => {},
      clientEnded: (client) => this.clients.remove(client),
      askKey: (ask) => this.#askKey(ask),
    });
  }

  get now() {
    return this.surroundings.now;
  }

  has(functions) {
    Object.assign(this.page, functions);
  }

  /** Tells both programs something, and does what they ask the page for once they have returned. */
  tell(name, ...args) {
    this.trace.push([name, args]);
    return this.take(this.pair.tell(name, ...args));
  }

  take({ value, heard }) {
    for (const [name, args] of heard) {
      this.trace.push([`  ${name}`, args]);
      this.page[name](...args);
    }
    return value;
  }

  after(ms, run) {
    const entry = { at: this.now + ms, order: this.#order++, run };
    let i = this.#queue.length;
    while (i > 0 && this.#queue[i - 1].at > entry.at) i--;
    this.#queue.splice(i, 0, entry);
  }

  /** Lets happen what is due, at most so much of it and for so long; gives whether nothing is left. */
  play(most, ms) {
    const until = this.now + ms;
    for (let i = 0; i < most; i++) {
      const next = this.#queue[0];
      if (!next) return true;
      if (next.at > until) return false;
      this.#queue.shift();
      this.surroundings.now = Math.max(this.now, next.at);
      next.run();
    }
    return false;
  }

  /** Something in so many milliseconds; while all is calm soon. */
  soon(most) {
    return this.r.below(this.calm ? Math.min(most, 20) : most);
  }

  open(config) {
    const client = { number: 0, config, closed: false, onClose: [] };
    client.number = this.clients.add(client);
    this.tell("openClient", client.number, config);
    return client;
  }

  close(client) {
    if (client.closed) return;
    client.closed = true;
    for (const end of client.onClose) end();
    this.tell("closeClient", client.number);
  }

  /** Begins a call under a number; most are waited for, some are given up. */
  call(name, client, params) {
    const call = {};
    const number = this.calls.add(call);
    this.tell(name, number, client.number, params);
    if (chance(this.r, 0.15)) {
      this.after(this.r.below(5_000), () => {
        if (this.calls.get(number) !== call) return;
        this.tell("cancelCall", number);
        this.calls.remove(number);
      });
    }
  }

  #askKey(ask) {
    let asked = true;
    const answer = () => {
      if (!asked) return;
      asked = false;
      if (chance(this.r, 0.15) && !this.calm) this.tell("keyRefused", ask, this.r.pick(["Error: no", "", "\ud800 \ufeff"]));
      else this.tell("keyGiven", ask, this.r.pick(["key", "key, another", "ключ", ""]));
    };
    if (!chance(this.r, 0.1) || this.calm) this.after(this.soon(200), answer);
    this.endings.push({ end: () => this.after(0, answer), left: () => asked && `key ${ask}` });
  }

  /** The network goes and comes back; the browser may say so late. */
  breakNetwork() {
    this.surroundings.offline = true;
    if (chance(this.r, 0.9)) this.tell("wentOffline");
    this.after(this.r.below(90_000), () => this.restoreNetwork());
  }

  restoreNetwork() {
    if (!this.surroundings.offline) return;
    this.surroundings.offline = false;
    this.tell("wentOnline");
  }

  /** Brings everything to its end; gives what is left that should not be. */
  finish() {
    this.calm = true;
    this.restoreNetwork();
    for (const { end } of this.endings.slice()) end();
    this.play(20_000, 3_600_000);
    const left = this.endings.map(({ left }) => left()).filter(Boolean);
    if (this.timers.size > 0) left.push(`timers ${[...this.timers]}`);
    return left;
  }
}
