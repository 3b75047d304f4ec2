// A service and a store in one, for uploads: it registers, stores and takes reports as the interface says, but for the
// steps that a test answers in its own way.

import { createHash } from "node:crypto";
import { Scripted } from "./scripted.mjs";

/** How long a test waits for a request that must come: only a failure takes this long. */
const patience = 30_000;

/**
 * What a request is for. Of the store: "survey" asks what it has or can do, "begin" makes an upload, "block" brings bytes,
 * "commit" makes one thing of them.
 */
function stepOf({ method, path, query, body }) {
  if (path.endsWith("/messages")) return "message";
  if (path.endsWith("/upload-url")) return JSON.parse(body).file_id ? "renewal" : "register";
  if (path.startsWith("/v1/files/")) return method === "GET" ? "read" : JSON.parse(body).status === "uploaded" ? "report" : "failure";
  if (method === "POST") return path.endsWith("/complete") ? "commit" : "begin";
  if (method === "PUT" || method === "PATCH") return query.get("comp") === "blocklist" ? "commit" : "block";
  return "survey";
}

/** Tickets of each protocol that lead to the store. address is the file's own, which a renewal changes. */
export const tickets = {
  "azure-block": (address) => ({ protocol: "azure-block", upload_url: `${address}?sig=s&sv=1&sp=rcw` }),
  "s3-multipart": (address) => ({
    protocol: "s3-multipart", complete_url: `${address}/complete`, parts: [1, 2, 3].map((part_number) => ({ part_number, url: `${address}/${part_number}` })),
  }),
  "gcs-resumable": (address) => ({ protocol: "gcs-resumable", upload_url: `${address}?upload_id=1` }),
  tus: (address) => ({ protocol: "tus", upload_url: address }),
  put: (address) => ({ protocol: "put", upload_url: address }),
};

const concat = (parts) => Buffer.concat(parts);

const usual = {
  register(request, response, { files }) {
    const { name, size, purpose } = JSON.parse(request.body);
    const [, workspace] = /workspaces\/([^/]+)/.exec(request.path);
    const file = { file_id: `file${files.registered.length}`, status: "uploading", name, size, purpose, workspace };
    request.file = { record: file, blocks: new Map(), stored: undefined };
    files.registered.push(request.file);
    return { ...file, ...files.ticket(`${files.origin}/store/${file.file_id}`) };
  },
  renewal: (_, __, { file, files }) => ({ ...file.record, ...files.ticket(`${files.origin}/store/${file.record.file_id}`) }),
  // It looks at what is stored, as a service does that relies on nobody's word.
  report(request, _, { file }) {
    const { checksum, size } = JSON.parse(request.body);
    const sums = ["hex", "base64"].map((form) => createHash("sha256").update(file.stored ?? "").digest(form));
    const right = file.stored?.length === size && (checksum === undefined || sums.includes(checksum));
    return Object.assign(file.record, { status: right ? "ready" : "upload_failed", checksum, size });
  },
  failure: (request, _, { file }) => Object.assign(file.record, JSON.parse(request.body)),
  read: (_, __, { file }) => file.record,
  begin: (request, response) => void response.writeHead(201, { location: `${request.path}?upload_id=1` }).end(),
  block(request, response, { file, files }) {
    const { method, path, query, headers, bytes } = request;
    const [, first, total] = /^bytes (\d+|\*)\D.*\/(\d+)$/.exec(headers["content-range"] ?? "") ?? [];
    if (method === "PATCH") {
      const stored = files.append(file, Number(headers["upload-offset"]), bytes);
      response.writeHead(204, { "upload-offset": stored }).end();
    } else if (first !== undefined) {
      const stored = files.append(file, first === "*" ? 0 : Number(first), bytes);
      if (stored === Number(total)) response.writeHead(200).end();
      else response.writeHead(308, stored > 0 ? { range: `bytes=0-${stored - 1}` } : {}).end();
    } else {
      const [, part] = /\/(\d+)$/.exec(path) ?? [];
      const block = part ?? query.get("blockid");
      if (block) file.blocks.set(block, bytes);
      else file.stored = bytes;
      response.writeHead(201, { etag: `"${block}"` }).end();
    }
  },
  commit(request, response, { file }) {
    const names = [...request.body.matchAll(/<(?:Latest|PartNumber)>([^<]+)</g)].map(([, name]) => name);
    file.stored = concat(names.map((name) => file.blocks.get(name)));
    response.writeHead(201, { "content-type": "application/xml" }).end("<CompleteMultipartUploadResult/>");
  },
  survey({ method }, response, { file }) {
    if (method !== "GET") return void response.writeHead(204, { "upload-offset": file.stored?.length ?? 0 }).end();
    const blocks = [...file.blocks].map(([name, { length }]) => `<Block><Name>${name}</Name><Size>${length}</Size></Block>`);
    response.writeHead(200, { "content-type": "application/xml" }).end(`<BlockList><UncommittedBlocks>${blocks.join("")}</UncommittedBlocks></BlockList>`);
  },
  message(_, response, { files }) {
    files.stream(response)("text_delta", { chunk: "begun" });
  },
};

// Ways to answer a step otherwise. Such a function gets the request, the response and { n, file, files, usual }: how many
// requests of that step came before, and what would be done usually, with this response or another. What it returns as an object is sent as JSON.

/** Never answers. */
export const held = () => {};
/** Breaks the connection, in the answer's first line: where no byte came, Chromium may ask again by itself. */
export const lost = (_, response) => void response.socket.end("HTTP/1.1 ");
/** Does what is to be done, and then breaks the connection instead of answering; for answers in JSON. */
export const unheard = (request, response, { usual }) => (usual(), lost(request, response));
/** Answers with this status and body. */
export const answer = (status, body = "", headers = { "content-type": "application/json" }) => (_, response) =>
  void response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
/** The first requests of a step are answered these ways, one after the other; the others, and where a way is undefined, as usual. */
export const first = (...ways) => after(0, ...ways);
/** The same of those after as many as usual. */
export const after = (count, ...ways) => (request, response, step) => {
  const way = ways[step.n - count];
  return way ? way(request, response, step) : step.usual();
};

export class Files {
  #scripted;
  #steps = {};
  #waiting = new Set();
  /** Every request whose body has arrived, oldest first, with its step and its file. */
  requests = [];
  /** Every file, oldest first: { record, blocks, stored }. */
  registered = [];

  async start() {
    this.#scripted = await Scripted.start((request, response) => this.#take(request, response));
  }

  /** Begins anew with other steps, and tickets of a protocol or as the function makes them. */
  script(steps = {}, ticket = "azure-block") {
    this.#steps = steps;
    this.ticket = tickets[ticket] ?? ticket;
    this.requests.length = this.registered.length = 0;
  }

  get origin() {
    return this.#scripted.origin;
  }

  /** Where a testbed's pages lie that use this service. */
  page = (service) => `${service.origin}/?base=${encodeURIComponent(this.origin)}`;

  stream(response) {
    return this.#scripted.stream(response);
  }

  append(file, at, bytes) {
    const stored = file.stored ?? Buffer.alloc(0);
    file.stored = concat([stored.subarray(0, at), bytes, stored.subarray(at + bytes.length)]);
    return file.stored.length;
  }

  #take(request, response) {
    const step = (request.step = stepOf(request));
    const id = step === "renewal" ? JSON.parse(request.body).file_id : /\/(?:store|files)\/([^/]+)/.exec(request.path)?.[1];
    request.file = this.registered.find(({ record }) => record.file_id === id);
    request.response = response;
    const n = this.of(step).length;
    this.requests.push(request);
    const way = this.#steps[step] ?? usual[step];
    const { file } = request;
    const result = way(request, response, { n, file, files: this, usual: (to = response) => usual[step](request, to, { file, files: this }) });
    for (const look of this.#waiting) look();
    return result;
  }

  /** The requests of a step so far. */
  of(step) {
    return this.requests.filter((request) => request.step === step);
  }

  /** How many requests of each of these steps came so far. */
  counts(...steps) {
    return Object.fromEntries(steps.map((step) => [step, this.of(step).length]));
  }

  /** The request of a step that came after n others of it, now or as soon as it has arrived. */
  once(step, n = 0) {
    return this.until(() => this.of(step)[n], () => `no request "${step}" came${n ? ` after ${n}` : ""}`);
  }

  /** What look gives as soon as that is truthy; it is asked after each request. */
  async until(look, otherwise = () => "what was waited for did not come") {
    const now = look();
    if (now) return now;
    return new Promise((resolve, reject) => {
      const finish = (how, value) => {
        clearTimeout(timer);
        this.#waiting.delete(again);
        how(value);
      };
      const again = () => {
        const value = look();
        if (value) finish(resolve, value);
      };
      const came = () => this.requests.map(({ method, path, body, step }) => `\n${step}: ${method} ${path} ${body.slice(0, 100)}`).join("");
      const timer = setTimeout(() => finish(reject, new Error(`${otherwise()}: ${came() || "nothing"} came`)), patience);
      this.#waiting.add(again);
    });
  }

  async close() {
    await this.#scripted?.close();
  }
}
