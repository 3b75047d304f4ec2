// What the tests call inside the page, as `lab`.

import * as Turnwire from "/turnwire/turnwire.mjs";
import { bytes } from "/bytes.js";

// With ?base=… the service lies at another origin than the page, with &key=… behind a proxy that takes this one.
const query = new URLSearchParams(location.search);
const settings = { baseURL: query.get("base") ?? location.origin, apiKey: query.get("key") ?? "dev-key", workspaceId: "demo", agentId: "assistant", maxRetries: 0 };

const client = (options) => new Turnwire.AgentClient({ ...settings, ...options });

/** A new chat of a new client. */
const chat = (options, params) => client(options).chats.create(params);

/** Options that ask the service for a fault. */
const fault = (spec, options) => ({ ...options, headers: { "X-Fault": spec } });

/** An error as data: its fields, and every class of the package that it is an instance of. */
function told(error) {
  if (!(error instanceof Error)) return { notAnError: String(error) };
  const classes = Object.keys(Turnwire).filter((name) => /Error$/.test(name) && error instanceof Turnwire[name]);
  return { ...error, name: error.name, message: error.message, classes };
}

const settled = (promise) => promise.then((value) => ({ value }), (error) => ({ error }));

/** What a call throws or rejects with, as data; undefined where it does neither. */
async function refusal(call) {
  try {
    await call();
  } catch (error) {
    return told(error);
  }
}

async function collect(values, into, each) {
  for await (const value of values instanceof ReadableStream ? chunks(values) : values) {
    into.push(value);
    each?.(value);
  }
}

/** What a stream gives, one by one: WebKit's can't be iterated. */
async function* chunks(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/**
 * Follows a turn in every way at once and says what each way saw. A turn can be iterated once, so `by` chooses the
 * loop: "events" or "text". each is called with what the loop takes.
 */
async function follow(turn, by = "events", each) {
  const heard = [], taken = [];
  turn.on("event", (event) => heard.push(event));
  const end = new Promise((resolve) => turn.on("end", (ended) => resolve({ status: ended.status, same: ended === turn })));
  const [done, loop, ended] = await Promise.all([
    settled(turn.done()),
    settled(collect(by === "text" ? turn.textStream() : turn, taken, each)),
    end,
  ]);
  return {
    chat: turn.chatId, key: turn.idempotencyKey,
    status: turn.status, text: turn.text, reasoning: turn.reasoning, toolCalls: turn.toolCalls,
    result: done.value, error: done.error && told(done.error),
    end: ended, heard, taken,
    loopError: loop.error && told(loop.error), sameError: loop.error === done.error,
  };
}

/** A fetch that writes down what the service is asked: method, path, body, and once it is there status and answer. */
const asking = (into) => async (url, init) => {
  const entry = { method: init.method, path: new URL(url).pathname, body: init.body ? JSON.parse(init.body) : undefined };
  into.push(entry);
  const response = await fetch(url, init);
  entry.status = response.status;
  entry.answer = await response.clone().json().catch(() => undefined);
  return response;
};

/** Follows an upload to its end, and says what each way to look at it saw. */
async function watch(upload) {
  const reports = [];
  upload.on("progress", (progress) => reports.push(progress));
  const end = new Promise((resolve) => upload.on("end", (ended) => resolve(ended === upload)));
  const [done, same] = await Promise.all([settled(upload.done()), end]);
  return {
    fileId: upload.fileId, protocol: upload.protocol, progress: upload.progress, reports,
    file: done.value, error: done.error && told(done.error), end: same,
  };
}

/** The same of an upload of a client of its own, with what the service was asked for it. */
async function upload(data, options, clientOptions) {
  const asked = [];
  const seen = await watch(client({ fetch: asking(asked), ...clientOptions }).files.upload(data, options));
  return { ...seen, asked };
}

const requests = new Set();
const { send } = XMLHttpRequest.prototype;
XMLHttpRequest.prototype.send = function (body) {
  requests.add(this);
  this.addEventListener("loadend", () => requests.delete(this));
  return send.call(this, body);
};

/** How many requests to a storage of another origin are under way. */
const open = () => [...requests].filter(({ readyState }) => readyState > 0 && readyState < 4).length;

/** What is kept for later pages: key and record, parsed. */
async function records() {
  // Opened before the package did, the database would lack its store.
  if (!(await indexedDB.databases()).some(({ name }) => name === "turnwire")) return [];
  const result = (request) => new Promise((resolve, reject) => Object.assign(request, { onsuccess: () => resolve(request.result), onerror: () => reject(request.error) }));
  const database = await result(indexedDB.open("turnwire"));
  const store = database.transaction("uploads").objectStore("uploads");
  const [keys, values] = await Promise.all([result(store.getAllKeys()), result(store.getAll())]);
  database.close();
  return keys.map((key, i) => ({ key, ...JSON.parse(values[i].record) }));
}

/** Bytes as each kind of data that can be uploaded. */
const kinds = {
  Blob: (bytes) => new Blob([bytes]),
  File: (bytes) => new File([bytes], "chosen.bin", { type: "application/x-chosen" }),
  ArrayBuffer: (bytes) => bytes.slice().buffer,
  "ArrayBuffer that can grow": (bytes) => within(new ArrayBuffer(bytes.length, { maxByteLength: bytes.length + 9 }), 0, bytes).buffer,
  "Uint8Array that is a window": (bytes) => within(new ArrayBuffer(bytes.length + 50), 13, bytes),
  DataView: (bytes) => new DataView(within(new ArrayBuffer(bytes.length + 9), 7, bytes).buffer, 7, bytes.length),
  Float64Array: (bytes) => new Float64Array(within(new ArrayBuffer(bytes.length + 16), 8, bytes).buffer, 8, bytes.length / 8),
  // A page that is not isolated has no other shared memory.
  "view of shared memory": (bytes) => within(new WebAssembly.Memory({ shared: true, initial: 0, maximum: 4096 }), 5, bytes),
  ReadableStream: (bytes) => stream(bytes),
};

function within(where, at, bytes) {
  if (where instanceof WebAssembly.Memory) {
    where.grow(Math.ceil((at + bytes.length) / 65536));
    where = where.buffer;
  }
  new Uint8Array(where).fill(0xaa);
  const view = new Uint8Array(where, at, bytes.length);
  view.set(bytes);
  return view;
}

/** A stream of pieces whose sizes fit no block. */
function stream(bytes, piece = 70_001) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, (at += piece)));
      else controller.close();
    },
  }, { highWaterMark: 0 });
}

globalThis.lab = { Turnwire, settings, client, chat, fault, told, settled, refusal, chunks, follow, bytes, asking, watch, upload, kinds, stream, open, records };
