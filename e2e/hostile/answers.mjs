// Answers from a seed: the right one for each endpoint, and what a hostile service makes of it. An answer is data, which
// service.mjs plays over the network and fetches.js inside the page:
//   { form, status, headers, parts: [{ wait, bytes }], end, cors }
// end: "whole"; "cut" and "short" (fewer bytes than were announced) break the connection, "silent" says nothing more,
// "never" and "refused" give not even a head.

import { stream } from "./streams.mjs";
import { any, chance, changed, large, scalar, spoiled, string, text, weighted } from "./values.mjs";

const encoder = new TextEncoder();
const quote = JSON.stringify;
const json = "application/json";

/** What a good service answers. Members say the act's key too, as a service may: no answer may be changed for it. */
export const rights = {
  chats: (r, { key }) => ({ status: 201, record: [["chat_id", quote(`chat ${r.below(100)}`)], ["note", quote(`for ${key}`)]] }),
  messages: (r) => ({ status: 200, type: "text/event-stream", bytes: stream(r, true) }),
  abort: () => ({ status: 204 }),
  "upload-url": (r, { ticket }) => ({ status: 201, record: ticket }),
  report: (r, { size }) => (chance(r, 0.2) ? { status: 204 } : { status: 200, record: file(r, size, ["uploaded", "processing", "ready"]) }),
  file: (r, { size }) => ({ status: 200, record: file(r, size, ["processing", "ready", "ready", "processing_failed", "queued"]) }),
};

const file = (r, size, statuses) => [["file_id", quote("file-1")], ["status", quote(r.pick(statuses))], ["name", quote("a.bin")], ["size", String(size)]];

const types = ["", "text/html", "text/plain; charset=latin1", "application/octet-stream", "application/json, text/event-stream", "text/event-streams", "TEXT/EVENT-STREAM ;x", "x", "é/é"];
const statuses = [200, 201, 202, 203, 204, 205, 206, 226, 299, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 416, 418, 423, 425, 429, 451, 500, 502, 503, 504, 511, 599, 600, 799, 999];
// What a client should wait for is either nothing or far more than it waits.
const waits = ["0", "-1", "0.5", "1e1", "soon", "99999999999999999999", "600", "Wed, 21 Oct 2015 07:28:00 GMT", "Fri, 31 Dec 2199 23:59:59 GMT", "Thu, 32 Foo 9999 99:99:99 GMT", "", "0, 0", " 0 ", "٣"];
const bodyless = (status) => status === 204 || status === 205 || status === 304;

/** One hostile answer in the place of a right one: { status, type, record | bytes, headers }. Of a plan it needs key and calm. */
export function answer(r, right, { key, calm }) {
  const isStream = right.type === "text/event-stream";
  const bytes = right.bytes ?? (right.record ? encoder.encode(text(right.record)) : new Uint8Array(0));
  const form = weighted(r, {
    right: 60 * calm, changed: 14, refusal: 12, garbage: 7, other: 3, head: 4, spoiled: 3, nonsense: isStream ? 40 : 0,
    cut: isStream ? 8 : 3, short: 2, silent: 2, never: 2, refused: 2, huge: 1, encoded: 0.5, hidden: 1,
  });
  const out = { form, status: right.status, headers: { "content-type": right.type ?? json, ...right.headers }, bytes, end: "whole", cors: true };
  const become = (status, type, bytes) => Object.assign(out, { status, headers: { "content-type": type }, bytes });
  switch (form) {
    case "changed":
      if (right.record) out.bytes = encoder.encode(changed(r, right.record));
      else if (right.headers && chance(r, 0.7)) out.headers[r.pick(Object.keys(right.headers))] = header(r);
      else out.status = r.pick(statuses);
      break;
    case "refusal": refuse(r, out, key); break;
    case "garbage": out.bytes = encoder.encode(chance(r, 0.3) ? r.pick(["", "{", "<html>busy</html>", "nul", '{"error":{}}', '{"error":"no"}', "[]"]) : any(r)); break;
    case "other": chance(r, 0.5) ? become(200, "text/event-stream", stream(r, false)) : become(200, json, encoder.encode(`{"id":${string(r)},"status":"ready","data":${any(r)}}`)); break;
    case "head":
      out.headers["content-type"] = r.pick(types);
      out.headers["retry-after"] = r.pick(waits);
      out.headers["x-request-id"] = header(r);
      if (chance(r, 0.4)) out.status = r.pick(statuses);
      break;
    case "spoiled": out.bytes = spoiled(r, bytes); break;
    case "nonsense": out.bytes = stream(r, false); break;
    case "huge": out.bytes = huge(r, isStream); break;
    case "encoded": out.headers["content-encoding"] = r.pick(["gzip", "br", "x"]); break;
    case "hidden": out.cors = false; break;
    case "cut": case "short": case "silent": case "never": case "refused": out.end = form;
  }
  if (out.headers.location === undefined && out.status > 300 && out.status < 309) out.headers.location = "/elsewhere";
  if (bodyless(out.status)) {
    out.bytes = new Uint8Array(0);
    if (out.end === "cut" || out.end === "short" || out.end === "silent") out.end = "whole";
  }
  out.parts = parts(r, out.bytes, out.end === "cut" || out.end === "silent" ? r.below(out.bytes.length + 1) : out.bytes.length);
  return out;
}

const header = (r) => r.pick(["", "0", "bytes=0-0", "bytes=5-1", "bytes 0-99999999999999999999", "bytes=0-18446744073709551616", "-1", "1e9", "9007199254740993", '"', "http://", "//x", "é", "x".repeat(2000), String(r.below(700_000))]);

/** A refusal in any of the shapes about; some quote the key in spellings of their own. */
function refuse(r, out, key) {
  out.status = r.pick(statuses.filter((status) => status >= 400));
  const said = r.pick([quote(`no: ${key}`), `"${[...key].map((c) => `\\u00${c.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")}"`, string(r), any(r)]);
  const body = r.pick([`{"error":{"message":${said},"code":${string(r)},"type":${scalar(r)}}}`, `{"message":${said}}`, `{"detail":${said},"code":${said}}`, `{"error":${said}}`, said, `<html>${key}</html>`, ""]);
  Object.assign(out, { bytes: encoder.encode(body), headers: { "content-type": chance(r, 0.7) ? json : r.pick(types), ...(chance(r, 0.5) && { "retry-after": r.pick(waits) }) } });
}

/** Bodies that are long in one way: one string, many members, many items, white space. */
function huge(r, isStream) {
  const part = 1 << r.below(6);
  const structure = large.structure / part, length = large.string / part;
  const body = r.pick([
    () => `{"chat_id":"c","file_id":"f","status":"ready","x":"${"x".repeat(length)}"}`,
    () => `{"chat_id":"c","status":"ready","file_id":"f"${',"a":0'.repeat(structure / 6)}}`,
    () => `{"chat_id":"c","status":"ready","file_id":"f","a":[${"{},".repeat(structure / 3)}0]}`,
    () => `${" ".repeat(length)}{"chat_id":"c","file_id":"f","status":"ready"}`,
    () => "<".repeat(length),
  ])();
  return encoder.encode(isStream ? `data: ${body}\n\n` : body);
}

/** The first `length` bytes in pieces, some of them a while apart. */
function parts(r, bytes, length) {
  const out = [];
  const slow = chance(r, 0.2);
  const cuts = Array.from({ length: length > 0 ? r.below(slow ? 12 : 5) : 0 }, () => r.below(length)).sort((a, b) => a - b);
  let from = 0;
  for (const to of [...cuts, length]) {
    if (to > from) out.push({ wait: slow ? r.below(40) : r.below(3), bytes: bytes.subarray(from, to) });
    from = to;
  }
  return out;
}
