// The service: answers each request of the module, rightly or not.

import { answer, rights } from "../../../e2e/hostile/answers.mjs";
import { kindOf } from "../../../e2e/hostile/requests.mjs";
import { chance } from "../../../e2e/hostile/values.mjs";

/** The most bytes of an answer where memory is looked at. */
const modestMost = 10_000;

export const bases = ["https://service.example", "http://service.example:8080/below/here"];

/** hostility is how much of what is answered is right, as of answers.mjs; tickets gives the record for an upload-url request. */
export function addService(world, { hostility, tickets }) {
  const { r } = world;
  /** Under way, by the module's numbers. */
  const requests = new Map();

  /** Does something in a while, unless the module let go of the request. */
  const later = (number, request, ms, run) => world.after(ms, () => requests.get(number) === request && run());

  function fail(number) {
    requests.delete(number);
    world.tell("requestFailed", number, r.pick(["TypeError: Failed to fetch", "", "AbortError", "TypeError: NetworkError \ud83d\ude00"]));
  }

  world.has({
    fetch(number, client, { url, method, body }) {
      const base = bases.find((base) => url.startsWith(`${base}/v1/`));
      const kind = kindOf(method, url.slice(base.length));
      const request = { kind };
      requests.set(number, request);
      const right = () => (rights[kind] ?? rights.file)(r, { key: "key", size: 3, ticket: kind === "upload-url" ? tickets(JSON.parse(body)) : undefined });
      do request.answer = answer(r, right(), { key: "key", calm: world.calm ? 1e9 : hostility });
      while (world.modest && request.answer.bytes.length > modestMost);
      const { status, headers, end, cors } = request.answer;
      // Most answers of the hostile service are of a kind that is not tried again; these are.
      const busy = chance(r, 0.08) && !world.calm;
      if (world.surroundings.offline || !cors || end === "refused") later(number, request, world.soon(60), () => fail(number));
      else if (end !== "never") {
        later(number, request, world.soon(chance(r, 0.05) ? 100_000 : 300), () => world.tell("answered", number, {
          status: busy ? r.pick([429, 500, 502, 503, 504]) : status, contentType: headers["content-type"] ?? "",
          requestId: r.pick(["", "", "req-1", "r\u00e9q"]), retryAfter: headers["retry-after"] ?? (busy ? r.pick(["", "1", "3", "120", "soon"]) : ""),
        }));
      }
    },
    readBody(number, limit) {
      const request = requests.get(number);
      const { parts, end } = request.answer;
      // As the page reads it.
      const decoder = new TextDecoder();
      let text = "", left = limit, wait = 0;
      for (const part of parts) {
        if (left <= 0) break;
        text += decoder.decode(part.bytes.subarray(0, left), { stream: true });
        left -= part.bytes.length;
        wait += part.wait;
      }
      if (left > 0) text += decoder.decode();
      if (end === "silent") return;
      later(number, request, wait + world.soon(20), () => {
        if ((end === "cut" || end === "short") && left > 0) return fail(number);
        requests.delete(number);
        world.tell("bodyRead", number, text);
      });
    },
    cancel: (number) => requests.delete(number),
  });
  world.endings.push({
    end: () => {
      for (const [number, request] of requests) if (!request.opened) later(number, request, 1, () => fail(number));
    },
    left: () => requests.size > 0 && `requests ${[...requests.keys()]}`,
  });
  return requests;
}
