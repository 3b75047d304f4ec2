// The page's side of an act: a client of its own, one call in one of its ways, and what became of it as data.

import * as Turnwire from "/turnwire/turnwire.mjs";
import { bytes } from "/pages/bytes.js";
import { hostileFetch } from "/hostile/fetches.js";

const never = new Promise(() => {});
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const settled = (promise) => promise.then((value) => ({ value }), (error) => ({ error: told(error) }));

/** The acts under way, and what became of those that ended since the last collect(). */
const under = new Set();
const ended = [];
/** What nobody caught, with the acts under way then. */
const uncaught = [];
addEventListener("unhandledrejection", ({ reason }) => uncaught.push({ what: `rejection: ${describe(reason)}`, seeds: [...under] }));
addEventListener("error", ({ message, error }) => uncaught.push({ what: `error: ${message} ${error?.stack ?? ""}`, seeds: [...under] }));

function describe(reason) {
  try {
    return String(reason?.stack ?? reason);
  } catch {
    return "what can't be told";
  }
}

/** An error as data: its fields, and every class of the package that it is an instance of. */
function told(error) {
  if (!(error instanceof Error)) return { notAnError: describe(error) };
  const classes = Object.keys(Turnwire).filter((name) => /Error$/.test(name) && error instanceof Turnwire[name]);
  return { ...error, name: error.name, message: error.message, stack: error.stack, classes, cause: error.cause === undefined ? undefined : describe(error.cause) };
}

const keys = {
  text: (key) => key, function: (key) => () => key, promise: (key) => async () => key, never: () => () => never,
  throws: () => () => { throw new RangeError("no key"); }, rejects: () => () => Promise.reject(undefined), nothing: () => () => undefined, number: () => () => 7,
};

/** Resolves at the moment that a plan names: after so many events, or after a while. count() says how many came. */
function moment({ after: ms, events }, counter) {
  return Promise.race([after(ms), events < 0 ? never : new Promise((resolve) => (counter.at = { events, resolve }))]);
}

const counting = () => ({
  n: 0,
  count() {
    if (++this.n >= (this.at?.events ?? Infinity)) this.at.resolve();
  },
});

const calls = {
  create: (client, plan, result, options) => settled(client.chats.create({}, options)).then(({ value, error }) => void Object.assign(result, { chat: value && { id: value.id, raw: value.raw }, error })),
  get: (client, plan, result, options) => settled(client.files.get("file-1", options)).then(({ value, error }) => void Object.assign(result, { file: value, error })),
  abort: (client, plan, result, options) => settled(client.chats.open("chat 1").abort(options)).then(({ error }) => void Object.assign(result, { error, resolved: !error })),
  wait: (client, plan, result, options) => {
    result.statuses = [];
    return settled(client.files.wait("file-1", { ...options, ...plan.wait, onStatus: (file) => result.statuses.push(file.status) }))
      .then(({ value, error }) => void Object.assign(result, { file: value, error }));
  },
  send, upload,
};

async function send(client, plan, result, options) {
  const heard = (result.heard = []), texts = (result.texts = []);
  const controller = new AbortController();
  const counter = counting();
  const take = (event) => {
    heard.push(event);
    counter.count();
  };
  const { follow, end } = plan;
  const turn = client.chats.open("chat 1").send("hello", {
    ...options, ...(end === "signal" && { signal: controller.signal }), ...(follow === "onEvent" && { onEvent: take }), ...(plan.replay && { resume: "replay" }),
  });
  const over = new Promise((resolve) => turn.on("end", resolve));
  if (follow === "listeners") turn.on("event", take).on("text_delta", () => {}).on("update", () => void turn.text);
  const loop = async (source, each) => {
    let n = 0;
    for await (const value of source) {
      each(value);
      if (plan.slow) await after(2);
      if (end === "leave" && ++n > plan.at.after / 10) break;
    }
  };
  const aborts = [];
  const wait = [over, settled(turn.done()).then(({ value, error }) => void Object.assign(result, { done: value, error }))];
  if (follow === "events") wait.push(settled(loop(turn, take)).then(({ error }) => (result.loopError = error)));
  if (follow === "text") wait.push(settled(loop(turn.textStream(), (text) => (texts.push(text), counter.count()))).then(({ error }) => (result.loopError = error)));
  if (follow === "late") wait.push(over.then(() => settled(loop(turn, take))).then(({ error }) => (result.loopError = error)));
  if (plan.at) {
    wait.push(Promise.race([moment(plan.at, counter), over]).then(() => {
      if (end === "abort" || end === "twice") aborts.push(settled(turn.abort()));
      if (end === "twice") aborts.push(settled(turn.abort()));
      if (end === "disconnect") turn.disconnect();
      if (end === "signal") controller.abort();
      return Promise.all(aborts);
    }).then((seen) => (result.aborts = seen)));
  }
  await Promise.all(wait);
  Object.assign(result, { status: turn.status, text: turn.text, reasoning: turn.reasoning, toolCalls: turn.toolCalls });
}

/** The data of an upload; `short` and those after it are not what they say. */
const kinds = {
  Blob: (data) => new Blob([data]), File: (data) => new File([data], "chosen.bin"), ArrayBuffer: (data) => data.slice().buffer,
  Uint8Array: (data) => data, DataView: (data) => new DataView(data.slice().buffer),
  stream: (data) => stream([data.slice(0, data.length >> 1), data.slice(data.length >> 1)]),
  short: (data) => stream([data.slice(0, Math.max(data.length - 1, 0))]),
  long: (data) => stream([data, new Uint8Array(1)]),
  odd: (data) => stream([data, "text"]),
  stuck: (data) => stream([data.slice(0, data.length >> 1)], () => never),
  throws: (data) => stream([data.slice(0, data.length >> 1)], () => Promise.reject(new RangeError("no more"))),
};

function stream(pieces, end = (controller) => controller.close()) {
  const rest = pieces.values();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = rest.next();
      return done ? end(controller) : controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

const maps = {
  same: (raw) => ({ fileId: raw.file_id, url: raw.upload_url, protocol: raw.protocol, method: raw.method, headers: raw.headers, completeURL: raw.complete_url, blockSize: raw.block_size, parts: raw.parts?.map(({ part_number, url }) => ({ partNumber: part_number, url })) }),
  promise: async (raw) => maps.same(raw), never: () => never, throws: () => { throw new RangeError("no ticket"); }, odd: (raw) => raw,
};

async function upload(client, plan, result, options) {
  const controller = new AbortController();
  const counter = counting();
  const data = kinds[plan.data](bytes(plan.seed, plan.size));
  const upload = client.files.upload(data, {
    ...options, ...plan.options, ...(data instanceof ReadableStream && { size: plan.size }),
    ...(plan.end === "signal" && { signal: controller.signal }), ...(plan.map !== "none" && { mapUploadTicket: maps[plan.map] }),
  });
  const stages = (result.stages = []);
  let most = 0;
  upload.on("progress", ({ stage, loadedBytes, totalBytes }) => {
    if (stages.at(-1) !== stage) stages.push(stage);
    if (loadedBytes < most || loadedBytes > totalBytes) result.progress = `${loadedBytes} of ${totalBytes} after ${most}`;
    most = loadedBytes;
    counter.count();
  });
  const over = new Promise((resolve) => upload.on("end", resolve));
  const wait = [over, settled(upload.done()).then(({ value, error }) => void Object.assign(result, { file: value, error }))];
  if (plan.at) {
    wait.push(Promise.race([moment(plan.at, counter), over]).then(async () => {
      if (plan.end === "abort") result.aborted = await settled(upload.abort());
      if (plan.end === "signal") controller.abort();
      if (plan.end === "pause") {
        upload.pause();
        await after(plan.at.after);
        upload.resume();
      }
    }));
  }
  await Promise.all(wait);
  Object.assign(result, { stage: upload.progress.stage, loaded: upload.progress.loadedBytes, fileId: upload.fileId });
}

/** Plays an act to its end, or to its bound. */
async function act(plan, base, store) {
  const result = { seed: plan.seed, exchanges: [], logs: [] };
  const began = performance.now();
  under.add(plan.seed);
  performance.mark(`begin ${plan.seed}`);
  const client = new Turnwire.AgentClient({
    baseURL: base, apiKey: keys[plan.apiKey](plan.key), workspaceId: "w", agentId: "a", ...plan.client,
    onLog: (record) => result.logs.push(record), ...(plan.by === "page" && { fetch: hostileFetch(plan, store, result.exchanges) }),
  });
  const controller = new AbortController();
  if (plan.closeAfter >= 0) setTimeout(() => client.close(), plan.closeAfter);
  if (plan.signalAfter >= 0) setTimeout(() => controller.abort(), plan.signalAfter);
  let over = false;
  const played = calls[plan.call](client, plan, result, plan.signalAfter >= 0 ? { signal: controller.signal } : {})
    .then(() => (over = true), (error) => (result.threw = told(error)));
  await Promise.race([played, after(plan.bound)]);
  if (!over && !result.threw) result.hung = true;
  result.ms = performance.now() - began;
  client.close();
  performance.mark(`end ${plan.seed}`);
  under.delete(plan.seed);
  ended.push(result);
}

/** What became of the acts since the last call, as JSON: apart from the acts, because telling takes time too. */
function collect() {
  const out = { acts: ended.splice(0), uncaught: uncaught.splice(0) };
  for (const { exchanges } of out.acts) {
    for (const exchange of exchanges) {
      exchange.bytes = exchange.given.map((part) => Array.from(part, (b) => String.fromCharCode(b)).join("")).join("");
      delete exchange.given;
      exchange.status = typeof exchange.status === "number" ? exchange.status : describe(exchange.status);
    }
  }
  return `{"acts":[${out.acts.map((result) => `{${Object.entries(result).map(([name, value]) => `${JSON.stringify(name)}:${plainJSON(value)}`).join()}}`)}],"uncaught":${JSON.stringify(out.uncaught)}}`;
}

/** JSON; of what is nested too deep for it, as far as it goes. */
function plainJSON(value, depth = 0) {
  if (value === undefined) return "null";
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    if (depth > 3 || typeof value !== "object") return '{"tooDeep":true}';
    if (Array.isArray(value)) return `[${value.map((item) => plainJSON(item, depth + 1)).join()}]`;
    return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${plainJSON(member, depth + 1)}`).join()}}`;
  }
}

const ready = new Turnwire.AgentClient({ baseURL: "/", workspaceId: "w", agentId: "a" }).ready();

globalThis.hostile = { act, collect, ready };
