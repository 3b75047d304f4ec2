// Two programs of one core, one of each build: both are told the same, and have to say the same.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { toImport, toModule } from "../../src/border.ts";
import { chunkSize, stamp, words } from "../../src/contract.ts";
import { begin, left } from "../../src/program.ts";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** The small module as it is shipped. */
export const shipped = join(dist, "turnwire.wasm");

/** What the page answers by itself. How often the clock is read is nobody's matter. */
const reads = {
  now: (page) => page.now,
  timeOrigin: (page) => page.timeOrigin,
  unixTime: (page) => Math.floor(page.timeOrigin + page.now),
};

/** Where the two builds differ. */
export class Difference extends Error {
  constructor(input, small, go) {
    super(`${input}\n  small: ${small}\n  go:    ${go}`);
  }
}

const short = (value) => {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  return text.length > 1_500 ? `${text.slice(0, 1_500)}… (${text.length} characters)` : text;
};

/** One program, and what it said during the call under way. */
class Side {
  said = [];
  heard = [];
  #randoms = 0;
  #page;

  constructor(page) {
    this.#page = page;
  }

  /** Its own half of Page: answers what is asked and notes the rest, for the two are told one after the other. */
  #half() {
    return new Proxy({}, {
      get: (_, name) => (...args) => {
        if (name in reads) return reads[name](this.#page);
        if (name === "random") return this.#page.random(this.#randoms++);
        if (name === "online") return !this.#page.offline;
        this.heard.push([name, args]);
      },
    });
  }

  /** Notes a call as it crosses, before anything is made of its text. */
  #note(name, args) {
    if (!(name in reads)) this.said.push([name, ...args]);
  }

  async small(file) {
    const half = this.#half();
    const imported = (name, form, text) => {
      if (name === "crashAsked") return () => 0;
      const call = toImport(half, name, form, text);
      return (...args) => {
        this.#note(name, form !== "turnwire" ? [...args.slice(0, -2), text(...args.slice(-2))] : args);
        return call(...args);
      };
    };
    return this.#begun(await begin(await WebAssembly.compile(readFileSync(file)), imported));
  }

  async go() {
    const { begin, toPage } = await import(pathToFileURL(join(dist, "turnwire.go.mjs")).href);
    const page = toPage(this.#half());
    const noting = new Proxy({}, {
      get: (_, name) => (...args) => {
        this.#note(name, args);
        return page[name](...args);
      },
    });
    const ended = (reason) => this.heard.push(["crashed", [String(reason)]]);
    return this.#begun(await begin(await WebAssembly.compile(readFileSync(join(dist, "turnwire.go.wasm"))), noting, ended));
  }

  #begun(program) {
    if (program.stamp !== stamp) throw new Error(`the module in ${dist} is of another build: make build`);
    this.program = program;
    this.exports = program.exports;
    this.control = toModule(program, (call) => call());
    return this;
  }

  reset() {
    this.#randoms = 0;
  }

  bytes(from, to) {
    return Buffer.from(this.program.memory.buffer, from, to - from);
  }

  word(i) {
    return new Uint32Array(this.program.memory.buffer, this.program.shared + chunkSize)[i];
  }

  put(bytes) {
    new Uint8Array(this.program.memory.buffer, this.program.shared, chunkSize).set(bytes);
  }

  /** What the last call left. A copy: the next one writes over it. */
  left() {
    return Buffer.from(left(this.program));
  }
}

export class Pair {
  /** Calls so far: what a difference is found by. */
  steps = 0;
  /** Bytes that were compared beside the calls. */
  compared = 0;

  /** page: { now, timeOrigin, offline, random(n) }. file is the small module; always makes it collect at every call. */
  static async start(page, { file = shipped, always = false } = {}) {
    const pair = new Pair();
    pair.small = await new Side(page).small(file);
    pair.go = await new Side(page).go();
    if (always) pair.small.exports.heapAlways(1);
    pair.#said("the start");
    return pair;
  }

  stop() {
    this.go.program.stop();
  }

  /** Both draw from the first random number on. */
  reset() {
    this.small.reset();
    this.go.reset();
  }

  /** Does the same with both, compares what comes of it, and gives it once: the result and the calls of the page. */
  #both(input, run) {
    this.steps++;
    const results = [this.small, this.go].map((side) => {
      side.said = [];
      side.heard = [];
      try {
        // Go gives null where the small build gives nothing.
        return { value: run(side) ?? undefined };
      } catch (error) {
        // A panic of the small build traps; the page is told by what it printed.
        return { thrown: `${error} (${side.program.said()})` };
      }
    });
    const [small, go] = results;
    const crash = [this.small, this.go].map((side) => side.heard.find(([name]) => name === "crashed")?.[1][0]);
    if (small.thrown || go.thrown || crash[0] || crash[1]) {
      throw new Difference(`${short(input())} crashed`, small.thrown ?? crash[0] ?? "goes on", go.thrown ?? crash[1] ?? "goes on");
    }
    this.#said(input);
    this.#same(input, small.value, go.value);
    return { value: small.value, heard: this.small.heard };
  }

  #said(input) {
    const { said } = this.small, other = this.go.said;
    for (let i = 0; i < Math.max(said.length, other.length); i++) {
      const [a, b] = [said[i] ?? ["nothing more"], other[i] ?? ["nothing more"]];
      if (a.length !== b.length || a.some((value, n) => !Object.is(value, b[n]))) {
        throw new Difference(`${short(typeof input === "function" ? input() : input)}, then call ${i + 1} of the page`, ...excerpts(a, b));
      }
    }
  }

  #same(input, small, go) {
    if (Buffer.isBuffer(small)) {
      this.compared += small.length;
      if (!small.equals(go)) throw new Difference(`${short(input())} left`, ...excerpts(small.toString(), go.toString()));
    } else if (Array.isArray(small)) {
      small.forEach((value, i) => this.#same(() => `${short(input())}, value ${i + 1}`, value, go[i]));
    } else if (!Object.is(small, go)) {
      throw new Difference(`${short(input())} gave`, ...excerpts(small, go));
    }
  }

  /** Calls a function of Control. */
  tell(name, ...args) {
    return this.#both(() => `${name}(${args.map(short).join(", ")})`, ({ control }) => control[name](...args));
  }

  /** Calls an export that takes numbers and may tell the page something. */
  call(name, ...args) {
    return this.#both(() => `${name}(${args})`, ({ exports }) => exports[name](...args));
  }

  /** Feeds a turn; gives the flags, the batch, its marks, and per side where text and reasoning lie. */
  feed(turn, bytes, now) {
    const at = [];
    const { value, heard } = this.#both(() => `feed(${turn}, ${short(bytes ? Buffer.from(bytes).toString() : "nothing")}, ${now})`, (side) => {
      if (bytes) side.put(bytes);
      const flags = side.exports.feed(turn, bytes ? bytes.length : 0, now);
      const count = side.word(words.count);
      at.push([side.word(words.text), side.word(words.reasoning)]);
      const from = side.program.shared + chunkSize + words.marks * 4;
      return [flags, count, side.left(), Buffer.from(side.bytes(from, from + count * 4))];
    });
    const [flags, count, batch, marks] = value;
    return { flags, count, batch, marks: new Uint32Array(marks.buffer, marks.byteOffset, count), at, heard };
  }

  /** Compares bytes of the two memories: where each side's begin, and which of them. */
  read(what, [small, go], from, to) {
    this.#both(() => `${what}, bytes ${from} to ${to}`, (side) => side.bytes((side === this.small ? small : go) + from, (side === this.small ? small : go) + to));
  }

  /** The tool calls that changed, as JSON; undefined where the module has no such turn. */
  tools(turn) {
    return this.#both(() => `tools(${turn})`, (side) => (side.exports.tools(turn) === 0 ? "none" : side.left())).value;
  }

  /** Adds bytes to a SHA-256, some at a time; gives what it left. */
  hash(state, pieces, last) {
    return this.#both(() => `hash from ${state.toString("hex")}`, (side) => {
      side.put(state);
      if (side.exports.hashBegin(state.length) === 0) return "no state";
      for (const piece of pieces) {
        side.put(piece);
        side.exports.hashWrite(piece.length);
      }
      side.exports.hashEnd(last ? 1 : 0);
      return side.left();
    }).value;
  }
}

/** Two values shortened to where they differ. */
function excerpts(a, b) {
  const texts = [a, b].map((value) => (typeof value === "string" ? value : JSON.stringify(value) ?? String(value)));
  let i = 0;
  while (i < texts[0].length && texts[0][i] === texts[1][i]) i++;
  const from = i < 300 ? 0 : i - 200;
  return texts.map((text) => `${from > 0 ? `… from ${from}: ` : ""}${short(text.slice(from, from + 800))}`);
}
