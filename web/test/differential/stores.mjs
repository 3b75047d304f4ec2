// Stores of the five protocols, as far as what they say of themselves: of the bytes they know only how many there are.

import { any, chance, weighted } from "../../../e2e/hostile/values.mjs";

const quote = JSON.stringify;
export const protocols = ["s3-multipart", "azure-block", "gcs-resumable", "tus", "put"];

/** What an upload has that the module does not choose: how large, stored how and in how many parts. */
export function plan(r) {
  const size = r.pick([0, 1, 1_000, 5 << 20, (5 << 20) + 1, 12 << 20, 100 << 20, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 5 * 2 ** 30, 9e12, Number.MAX_SAFE_INTEGER, r.below(2 ** 31) * 8]);
  return {
    name: `upload ${r.below(2 ** 31)}`, size, protocol: r.pick(protocols), parts: 1 + r.below(12), started: chance(r, 0.3), concat: chance(r, 0.5),
    store: r.pick(["https://store.example/bucket", "https://store.example/bucket", "https://other.example:8443", "http://service.example:8080/below/here/store", "/store"]),
  };
}

/** What a ticket says, in the service's own names or in those of the JavaScript API, as [name, JSON text]. */
export function ticket(r, { name, size, protocol, parts, store, started, concat }, unix, camel = false) {
  const names = camel ? ["fileId", "url", "completeURL", "blockSize", "expiresAt", "partNumber"] : ["file_id", r.pick(["upload_url", "signed_url", "url"]), "complete_url", "block_size", "expires_at", "part_number"];
  const [id, url, completeURL, blockSize, expiresAt, partNumber] = names;
  const signed = (query = "") => r.pick([`?${query}sig=x&n=${r.below(3)}`, `?${query}X-Amz-Date=20260101T000000Z&X-Amz-Expires=600`, `?${query}X-Goog-Date=20270101T000000Z&X-Goog-Expires=${r.below(100_000)}`, `?${query}sig=x#part`]);
  const record = [[id, quote(`f ${name}`)]];
  const address = (path, query) => quote(`${store}/${protocol}/${encodeURIComponent(name)}${path}${signed(query)}`);
  let named = chance(r, 0.6);
  switch (protocol) {
    case "s3-multipart": {
      const list = Array.from({ length: parts }, (_, i) => `{"${partNumber}":${i + 1},"url":${address(`/${i + 1}`)}}`);
      record.push([url, quote("")], ["parts", `[${list}]`], [completeURL, address("/complete")], [blockSize, String(Math.max(1, Math.ceil(size / parts)))]);
      break;
    }
    case "azure-block": record.push([url, address("", "sv=1&sp=rcw&")]); break;
    case "gcs-resumable": record.push([url, address("", started ? "upload_id=7&" : "")], ["method", '"POST"']); named ||= !started; break;
    case "tus":
      record.push([url, address("")]);
      if (started) record.push(["method", '"PATCH"']);
      if (chance(r, 0.5)) record.push(["extensions", concat ? '["creation","concatenation"]' : '["creation"]']);
      named = true;
      break;
    case "put": record.push([url, address("")], ["method", r.pick(['"PUT"', '"POST"', '""'])]);
  }
  if (named) record.push(["protocol", quote(protocol)]);
  if (chance(r, 0.2) && protocol !== "s3-multipart") record.push([blockSize, String(Math.ceil(size / parts))]);
  if (chance(r, 0.4)) record.push(["headers", r.pick(['{"x-plain":"yes","Content-Type":"a/b"}', '{"x-ms-blob-type":"BlockBlob","x-ms-meta-a":"ü"}', '{"x-goog-resumable":"start"}', "{}"])]);
  if (chance(r, 0.3)) record.push([expiresAt, r.pick([String(Math.floor(unix / 1_000) + r.below(100)), quote(new Date(unix + r.below(200_000)).toISOString()), quote("2199-01-01T00:00:00Z"), "0"])]);
  return record;
}

export class Store {
  #r;
  #had = new Map();
  #sessions = 0;

  constructor(r) {
    this.#r = r;
  }

  /** The right answer to a request; taken is what of its bytes came. */
  #right({ concat, size }, { method, url, headers, from, to }, taken) {
    const header = (name) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
    const place = url.split(/[?#]/)[0];
    const had = this.#had.get(place) ?? 0;
    switch (/\/(s3-multipart|azure-block|gcs-resumable|tus|put)\//.exec(url)?.[1]) {
      case "s3-multipart": return [200, { etag: `"${from}-${to}&<"` }, ""];
      case "azure-block":
        if (method !== "GET") {
          this.#had.set(url, to - from);
          return [201, {}, ""];
        }
        return [200, {}, `<BlockList><UncommittedBlocks>${[...this.#had].flatMap(([at, n]) => /&blockid=([^&]+)/.exec(at)?.slice(1).map((id) => `<Block><Name>${id}</Name><Size>${n}</Size></Block>`) ?? []).join("")}</UncommittedBlocks></BlockList>`];
      case "gcs-resumable": {
        if (method === "POST") return [201, { location: this.#r.pick(["/", `${place}/`]) + `gcs-resumable/s?upload_id=${++this.#sessions}` }, ""];
        const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(header("content-range") ?? "");
        const at = range && Number(range[1]) <= had ? Math.max(had, Number(range[1]) + taken) : had;
        this.#had.set(place, at);
        return at >= size ? [200, {}, ""] : [308, at > 0 ? { range: `bytes=0-${at - 1}` } : {}, ""];
      }
      case "tus": {
        if (method === "OPTIONS") return [204, { "tus-extension": concat ? "creation, Concatenation" : "creation" }, ""];
        if (method === "POST") return [201, { location: this.#r.pick(["", `${place}/`]) + `tus/${++this.#sessions}` }, ""];
        if (method === "PATCH") this.#had.set(place, Number(header("upload-offset")) + taken);
        return [method === "HEAD" ? 200 : 204, { "upload-offset": String(this.#had.get(place) ?? 0) }, ""];
      }
      default: return [200, {}, ""];
    }
  }

  /** An answer as of StoreAnswer: the right one, or one in its place; undefined where the connection breaks instead. */
  answer(plan, request, right) {
    const r = this.#r;
    const form = weighted(r, { right, refusal: 1.5, odd: 0.6, hidden: 0.4, header: 0.4, short: 0.6, broken: 1 });
    const length = request.to - request.from;
    let [status, headers, body] = this.#right(plan, request, form === "short" ? Math.floor(length * r.next()) : length);
    switch (form) {
      case "refusal":
        status = r.pick([400, 401, 403, 403, 404, 408, 409, 410, 412, 416, 423, 429, 500, 503]);
        headers = chance(r, 0.4) ? { "retry-after": r.pick(["1", "2", "60", "x"]) } : {};
        body = r.pick(["", "<Error><Code>AccessDenied</Code><Message>No &amp; no \ufeff</Message></Error>", "<Error><Code>InvalidBlockList</Code></Error>", any(r), "no ?sig=secret&x=1"]);
        break;
      case "odd":
        status = r.pick([200, 200, 201, 204, 308]);
        body = r.pick(["<Error><Code>SlowDown</Code></Error>", "<Error><Code>InternalError</Code><Message>x</Message></Error>", "<Error>", "<BlockList><Block><Name>x</Name><Size>9007199254740993</Size></Block>", "é\ud800".repeat(2_000)]);
        break;
      case "hidden": headers = {}; break;
      case "header":
        for (const name of Object.keys(headers)) headers[name] = r.pick(["", "0", "bytes=0-0", "bytes 5-1", "bytes=0-18446744073709551616", "4294967296", "-1", String(plan.size), `bytes=0-${plan.size - 1}`, "//host/x", "x y", '"ü"']);
        break;
      case "broken": return undefined;
    }
    return { status, headers: request.want.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])), body };
  }
}
