// Good stores of the five protocols, in memory: what each really has, whatever the hostile service answers in its place.

const ok = (status, headers) => ({ status, type: "text/plain", headers });
const no = (status, code = "No") => ({ status, type: "application/xml", bytes: Buffer.from(`<Error><Code>${code}</Code><Message>not so</Message></Error>`), headers: {} });

export class Store {
  #base;
  #parts = new Map();
  #sessions = [];
  /** Every object that was made of what came whole, newest last. */
  objects = [];

  constructor(base) {
    this.#base = base;
  }

  /** Takes a request whose body came whole, and gives the right answer. */
  take({ method, path, query, headers, bytes }) {
    const [, protocol, name] = /\/store\/(\w+)(?:\/(.+))?$/.exec(path) ?? [];
    if (!protocol) return no(404);
    return this[protocol]?.(method, name, query, headers, bytes) ?? no(404);
  }

  #whole(...parts) {
    if (parts.includes(undefined)) return false;
    this.objects.push(Buffer.concat(parts));
    return true;
  }

  azure(method, _, query, __, bytes) {
    const id = query.get("blockid");
    if (method !== "PUT") return no(405);
    if (id !== null) this.#parts.set(id, bytes);
    else if (query.get("comp") !== "blocklist") this.#whole(bytes);
    else if (!this.#whole(...[...bytes.toString().matchAll(/<Latest>(.*?)<\/Latest>/g)].map(([, id]) => this.#parts.get(id)))) return no(400, "InvalidBlockList");
    return ok(201, {});
  }

  s3(method, name, _, __, bytes) {
    if (method === "PUT") {
      this.#parts.set(name, bytes);
      return ok(200, { etag: `"tag ${name}"` });
    }
    const listed = [...bytes.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)];
    const right = listed.every(([, number, tag]) => tag.replaceAll("&quot;", '"').replaceAll("&#34;", '"') === `"tag ${number}"`);
    return right && this.#whole(...listed.map(([, number]) => this.#parts.get(number))) ? ok(200, {}) : no(400, "InvalidPart");
  }

  put(method, _, __, ___, bytes) {
    this.#whole(bytes);
    return ok(200, {});
  }

  #begin(total) {
    this.#sessions.push({ total, bytes: Buffer.alloc(0) });
    return this.#sessions.length - 1;
  }

  #append(session, at, bytes) {
    if (at <= session.bytes.length) session.bytes = Buffer.concat([session.bytes.subarray(0, at), bytes, session.bytes.subarray(at + bytes.length)]);
    if (session.bytes.length === session.total && !session.partial) this.#whole(session.bytes);
  }

  gcs(method, _, query, headers, bytes) {
    if (method === "POST") return ok(201, { location: `${this.#base}/gcs?upload_id=${this.#begin()}` });
    const session = this.#sessions[query.get("upload_id")];
    if (!session) return no(404);
    const [, from, to, total] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+)$/.exec(headers["content-range"] ?? "") ?? [];
    if (total === undefined || (from !== undefined && to - from + 1 !== bytes.length)) return no(400);
    session.total = Number(total);
    this.#append(session, Number(from ?? session.bytes.length), bytes);
    const have = session.bytes.length;
    return have === session.total ? ok(200, {}) : ok(308, have > 0 ? { range: `bytes=0-${have - 1}` } : {});
  }

  tus(method, name, _, headers, bytes) {
    if (method === "OPTIONS") return ok(204, { "tus-extension": "creation,concatenation" });
    if (method === "POST") {
      const [kind, list] = (headers["upload-concat"] ?? "").split(";");
      if (kind === "final") {
        const parts = list.split(" ").map((url) => this.#sessions[/\/tus\/(\d+)$/.exec(url)?.[1]]);
        return this.#whole(...parts.map((part) => (part?.bytes.length === part?.total ? part?.bytes : undefined))) ? ok(201, { location: `${this.#base}/tus/final` }) : no(400);
      }
      const i = this.#begin(Number(headers["upload-length"]));
      this.#sessions[i].partial = kind === "partial";
      if (this.#sessions[i].total === 0) this.#append(this.#sessions[i], 0, bytes);
      return ok(201, { location: `${this.#base}/tus/${i}` });
    }
    const session = this.#sessions[name];
    if (!session) return no(404);
    if (method === "PATCH") {
      if (Number(headers["upload-offset"]) !== session.bytes.length) return no(409);
      this.#append(session, session.bytes.length, bytes);
    }
    return ok(method === "HEAD" ? 200 : 204, { "upload-offset": String(session.bytes.length) });
  }
}
