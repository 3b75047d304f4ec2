// Where the key is: in the Authorization header to the service, and nowhere else. A canary for a key, every class of error,
// and a look at all that a page, its network and its console show.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { testbed } from "./support/bed.mjs";
import { Service } from "./support/service.mjs";

const check = testbed({ flags: ["-pace", "0s"] });

const canary = "canary-5c1f8e9a7b";
const found = (text) => text.includes(canary) || text.includes(Buffer.from(canary).toString("base64").slice(0, 12)) || text.includes(encodeURIComponent(canary));

let guarded, elsewhere, stray;
before(async () => {
  guarded = await Service.start("-pace", "0s", "-key", canary);
  stray = [];
  elsewhere = createServer((request, response) => {
    stray.push({ url: request.url, headers: request.headers });
    response.writeHead(200, { "access-control-allow-origin": "*", "access-control-allow-headers": "*, authorization" }).end();
  });
  await new Promise((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
});
after(async () => {
  await guarded?.close();
  elsewhere?.close();
});

/** All that the browser says of the page's network and console, as text, the Authorization headers apart. */
async function watch(page) {
  const cdp = await page.createCDPSession();
  const seen = { texts: [], authorized: [], urls: new Map() };
  const strip = (headers = {}, id) => {
    const rest = {};
    for (const [name, value] of Object.entries(headers)) {
      if (name.toLowerCase() === "authorization") seen.authorized.push({ id, value });
      else rest[name] = value;
    }
    return rest;
  };
  cdp.on("Network.requestWillBeSent", ({ requestId, request, redirectResponse }) => {
    seen.urls.set(requestId, request.url);
    seen.texts.push(JSON.stringify({ ...request, headers: strip(request.headers, requestId), redirect: redirectResponse?.url }));
  });
  cdp.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => seen.texts.push(JSON.stringify(strip(headers, requestId))));
  cdp.on("Network.responseReceived", ({ response }) => seen.texts.push(JSON.stringify({ ...response, requestHeaders: undefined })));
  cdp.on("Log.entryAdded", ({ entry }) => seen.texts.push(JSON.stringify(entry)));
  page.on("console", (message) => seen.texts.push(message.text()));
  await cdp.send("Network.enable");
  await cdp.send("Log.enable");
  return seen;
}

for (const [form, asFunction] of [["a string", false], ["a function", true]]) {
  check(`a key that is ${form} is in no error, log, address or property`, async ({ page }) => {
    const seen = await watch(page);
    const told = await page.evaluate(async (canary, baseURL, asFunction) => {
      const { Stub, text, frame } = await import("/stub.js");
      const logs = [];
      const options = { apiKey: asFunction ? async () => canary : canary, onLog: (record) => logs.push(record) };
      const client = lab.client({ ...options, baseURL, maxRetries: 1 });
      const chat = await client.chats.create();
      const roots = { client, chats: client.chats, chat };
      const keep = async (name, call) => {
        const { value, error } = await lab.settled((async () => call())());
        roots[name] = error ?? value;
      };
      const turn = async (name, fault, options = {}, message = "1 + 1") => {
        const own = await client.chats.create();
        const turn = (roots[`turn ${name}`] = own.send(message, lab.fault(fault, options)));
        await keep(name, () => turn.done());
      };
      // Every class of error.
      await turn("completed", "pace_ms=0");
      for (const status of [400, 401, 403, 404, 409, 429, 500]) await turn(`APIError ${status}`, `status=${status}&retry_after=0`);
      await turn("APIError html", "status=503&error_body=html&retry_after=0");
      await turn("TurnError", "error_events=3");
      await turn("ConnectionError", "refuse=1");
      await turn("ConnectionError cut", "cut_events=3");
      await turn("TimeoutError", "delay_ms=60000", { timeout: 50 });
      await turn("TimeoutError idle", "stall_events=2", { idleTimeout: 50 });
      await turn("ProtocolError", "broken_json=2");
      await turn("ProtocolError type", "content_type=text/html");
      await turn("ReplayMismatchError", "times=1&close_events=12&differ=1&no_ids=1", { resume: "replay" }, "count to 30");
      await keep("InvalidArgumentError", () => chat.send(""));
      await keep("InvalidArgumentError key", () => lab.client({ apiKey: `${canary}\n` }));
      await keep("InvalidArgumentError key of the call", () => chat.send("hello", { headers: { Authorization: `${canary}\u2603` } }));
      await keep("bad base", () => lab.client({ ...options, baseURL: `http://user:${canary}@host/?key=${canary}` }));
      await keep("ProtocolError chat", () => client.chats.create({}, lab.fault("chat_body=none")));
      await keep("key function", () => lab.client({ ...options, apiKey: () => 42 }).chats.create());
      const stub = new Stub({ messages: (request) => request.open().push(text("a"), frame("tool_call", { id: "c", name: "clock" })) });
      const open = (roots["turn open"] = lab.client({ ...options, fetch: stub.fetch }).chats.open("open").send("hello"));
      await new Promise((resolve) => open.on("tool_call", resolve));
      open.disconnect();
      await keep("disconnected", () => open.done());
      const quoting = async (url, { headers }) => Response.json({ error: { message: `no such key: ${new Headers(headers).get("authorization")}` } }, { status: 403 });
      await keep("quoted by the service", () => lab.client({ ...options, fetch: quoting }).chats.create());
      client.close();
      await keep("closed", () => client.chats.create());

      const shown = [];
      const walked = new Set();
      const walk = (value, path) => {
        if (typeof value === "string") shown.push([path, value]);
        if (value === null || (typeof value !== "object" && typeof value !== "function") || walked.has(value) || value === globalThis) return;
        walked.add(value);
        if (typeof value === "function") shown.push([`${path} source`, Function.prototype.toString.call(value)]);
        for (const name of Reflect.ownKeys(value)) {
          shown.push([path, String(name)]);
          let member;
          try {
            member = value[name];
          } catch {
            continue;
          }
          walk(member, `${path}.${String(name)}`);
        }
        for (let up = Object.getPrototypeOf(value); up && up !== Object.prototype && up !== Function.prototype; up = Object.getPrototypeOf(up)) walk(up, `${path} prototype`);
      };
      for (const [name, root] of Object.entries(roots)) {
        walk(root, name);
        shown.push([`JSON of ${name}`, JSON.stringify(root) ?? ""]);
        shown.push([`string of ${name}`, String(root)]);
        try {
          walk(structuredClone(root), `clone of ${name}`);
        } catch {
          // A turn has functions: it can't be cloned, and so leaks nothing that way.
        }
      }
      shown.push(["logs", JSON.stringify(logs)], ["package", JSON.stringify(lab.Turnwire)]);
      walk(lab.Turnwire, "package");
      for (const store of [localStorage, sessionStorage]) shown.push(["storage", JSON.stringify({ ...store })]);
      shown.push(["cookies", document.cookie], ["page", document.documentElement.outerHTML], ["address", location.href]);
      shown.push(["timing", JSON.stringify(performance.getEntries())]);
      for (const name of Object.getOwnPropertyNames(globalThis)) if (typeof globalThis[name] === "string") shown.push([`global ${name}`, globalThis[name]]);
      const classes = Object.entries(roots).filter(([, root]) => root instanceof Error).map(([, root]) => root.name);
      return { shown, classes: [...new Set(classes)].sort(), logs: logs.length };
    }, canary, guarded.origin, asFunction);
    for (const [path, text] of told.shown) assert.ok(!found(text), `${path} shows the key: ${text.slice(0, 300)}`);
    assert.deepEqual(told.classes, ["APIError", "AgentError", "AuthenticationError", "ConflictError", "ConnectionError", "InvalidArgumentError", "NotFoundError", "ProtocolError", "RateLimitError", "ReplayMismatchError", "TimeoutError", "TurnError"]);
    assert.ok(told.shown.length > 1000 && told.logs > 40 && seen.texts.length > 40, `${told.shown.length} ${told.logs} ${seen.texts.length}`);
    for (const text of seen.texts) assert.ok(!found(text), text.slice(0, 500));
    assert.ok(seen.authorized.length > 20);
    for (const { id, value } of seen.authorized) {
      // A preflight has an id of its own, and no key.
      const url = seen.urls.get(id);
      assert.ok(url?.startsWith(guarded.origin + "/v1/"), url);
      assert.equal(value, `Bearer ${canary}`);
    }
    assert.ok(!guarded.log.some((record) => found(JSON.stringify(record))));
  });
}

check("a redirect gets nothing, wherever it points", async ({ page }) => {
  const target = `http://127.0.0.1:${elsewhere.address().port}/stolen`;
  const errors = await page.evaluate(async (canary, baseURL, target) => {
    const client = lab.client({ apiKey: canary, baseURL });
    const chat = await client.chats.create();
    const fault = lab.fault(`redirect=${encodeURIComponent(target)}`);
    const refused = (url) => lab.refusal(() => chat.send("hello", lab.fault(`redirect=${encodeURIComponent(url)}`)).done());
    return [await lab.refusal(() => client.chats.create({}, fault)), await lab.refusal(() => chat.abort(fault)), await refused(target), await refused(`${baseURL}/v1/other`)];
  }, canary, guarded.origin, target);
  assert.deepEqual(errors.map((error) => error?.name), Array(4).fill("ConnectionError"));
  for (const error of errors) assert.ok(!found(JSON.stringify(error)));
  assert.deepEqual(stray, [], "the other server was asked for nothing, not even a preflight");
  assert.equal(guarded.log.some((record) => record.path === "/v1/other"), false);
});
