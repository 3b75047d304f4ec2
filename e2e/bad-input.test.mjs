// What a page gets wrong, and what answers that is not the service: the error says which field or what came instead,
// and where the fault is the page's own, nothing was sent.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

/** Which wrong values each option must refuse; refusals() makes them. */
const times = ["null", "NaN", "Infinity", "-1", "a string", "an object", "true"];
const tries = ["null", "NaN", "Infinity", "-1", "1.5", "a string", "an object", "true"];
const strings = ["null", "a number", "an empty string", "an array", "an object", "true", "a function"];
const functions = ["null", "a number", "a string", "an object", "true"];
const headers = [
  "null", "a number", "a string", "true", "a function", "a Set", "a promise", "a Date", "URLSearchParams", "an instance of a class", "an array of strings",
  "an array of an array of three", "a Map of numbers", "a Map with a bad name",
];

const clientOptions = {
  baseURL: strings,
  apiKey: ["null", "a number", "an empty string", "an object", "true"],
  workspaceId: strings,
  agentId: strings,
  headers,
  credentials: ["null", "a number", "a string", "an empty string"],
  maxRetries: tries,
  timeout: times,
  idleTimeout: times,
  pageHide: ["null", "a number", "a string", "an empty string", "true"],
  fetch: functions,
  onLog: functions,
};
const sendOptions = {
  signal: ["null", "a number", "a string", "an object", "true"],
  timeout: times,
  maxRetries: tries,
  headers,
  model: strings,
  idempotencyKey: strings,
  idleTimeout: times,
  resume: ["null", "a number", "a string", "an empty string", "true"],
  onEvent: functions,
};
const createParams = { workspaceId: strings, agentId: strings, isTemporary: ["null", "a number", "a string", "an object"] };

function refusals(page, call, table) {
  return page.evaluate(async (call, table) => {
    // Made here: not all of them would pass as JSON.
    const wrong = {
      null: null, "a number": 42, NaN, Infinity, "-1": -1, "1.5": 1.5, "an empty string": "", "a string": "text",
      "an array": [], "an object": {}, true: true, "a function": () => {},
      "a Set": new Set(), "a promise": Promise.resolve({}), "a Date": new Date(), URLSearchParams: new URLSearchParams(), "an instance of a class": new (class { a = "b"; })(),
      "an array of strings": ["ab"], "an array of an array of three": [["a", "b", "c"]], "a Map of numbers": new Map([["a", 1]]), "a Map with a bad name": new Map([["no spaces", "x"]]),
    };
    const run = {
      client: (field, value) => lab.client({ [field]: value }),
      send: (field, value) => lab.client().chats.open("chat_any").send("hello", { [field]: value }),
      create: (field, value) => lab.client().chats.create({ [field]: value }),
    }[call];
    const out = [];
    for (const [field, names] of Object.entries(table)) {
      for (const name of names) {
        const error = await lab.refusal(() => run(field, wrong[name]));
        out.push({ what: `${field}: ${name}`, field, name: error?.name, code: error?.code, message: error?.message });
      }
    }
    return out;
  }, call, table);
}

for (const [call, table] of [["client", clientOptions], ["send", sendOptions], ["create", createParams]]) {
  check(`${call}: an option of a wrong type is refused by its name, and nothing is sent`, async ({ page, service }) => {
    const before = await service.requests();
    for (const { what, field, name, code, message } of await refusals(page, call, table)) {
      assert.deepEqual([what, name, code], [what, "InvalidArgumentError", "invalid_argument"]);
      assert.ok(message.startsWith(`${field} must be `), `${what}: ${message}`);
    }
    assert.deepEqual(await service.requests(), before);
  });
}

check("an option that there is not is refused by its name, with the one that is near, and nothing is sent", async ({ page, service }) => {
  const before = await service.requests();
  const told = await page.evaluate(async () => {
    const chat = lab.client().chats.open("chat_any");
    const inherited = Object.create({ colour: "red" });
    const calls = {
      "client: baseUrl": () => lab.client({ baseUrl: "/" }),
      "client: api_key": () => lab.client({ api_key: "secret" }),
      "client: colour": () => lab.client({ colour: "red" }),
      "init: wasmUrl": () => lab.Turnwire.init({ wasmUrl: "/turnwire.wasm" }),
      "create: isTemporal": () => lab.client().chats.create({ isTemporal: true }),
      "create: options: signl": () => lab.client().chats.create({}, { signl: AbortSignal.timeout(1) }),
      "send: idletimeout": () => chat.send("hello", { idletimeout: 1 }),
      "send: onEvents": () => chat.send("hello", { onEvents() {} }),
      "send: toString": () => chat.send("hello", { toString: null }),
      "abort: timeOuts": () => chat.abort({ timeOuts: 1 }),
      "taken: undefined": () => void lab.client({ colour: undefined, baseUrl: undefined }),
      "taken: inherited": () => chat.send("hello", Object.assign(inherited, { signal: AbortSignal.abort() })).done(),
    };
    const told = {};
    for (const [what, call] of Object.entries(calls)) told[what] = (await lab.refusal(call)) ?? "taken";
    return told;
  });
  const said = Object.fromEntries(Object.entries(told).map(([what, error]) => [what, error.message ? `${error.name} ${error.code}: ${error.message}` : error]));
  const refused = (name, hint) => `InvalidArgumentError invalid_argument: ${name} must be left out, for there is no such option: ${hint}`;
  const known = {
    client: "baseURL, apiKey, workspaceId, agentId, headers, credentials, maxRetries, timeout, idleTimeout, pageHide, fetch, onLog",
    send: "signal, timeout, maxRetries, headers, model, idempotencyKey, idleTimeout, resume, onEvent",
  };
  assert.deepEqual(said, {
    "client: baseUrl": refused("baseUrl", "did you mean baseURL?"),
    "client: api_key": refused("api_key", "did you mean apiKey?"),
    "client: colour": refused("colour", `there are ${known.client}`),
    "init: wasmUrl": refused("wasmUrl", "did you mean wasmURL?"),
    "create: isTemporal": refused("isTemporal", "did you mean isTemporary?"),
    "create: options: signl": refused("signl", "did you mean signal?"),
    "send: idletimeout": refused("idletimeout", "did you mean idleTimeout?"),
    "send: onEvents": refused("onEvents", "did you mean onEvent?"),
    "send: toString": refused("toString", `there are ${known.send}`),
    "abort: timeOuts": refused("timeOuts", "did you mean timeout?"),
    "taken: undefined": "taken",
    "taken: inherited": "taken",
  });
  assert.deepEqual(await service.requests(), before);
});

check("values that look right but can't be are refused", async ({ page, service }) => {
  const before = await service.requests();
  const told = await page.evaluate(async () => {
    const chats = lab.client().chats;
    const chat = chats.open("chat_any");
    const calls = {
      "no options": () => new lab.Turnwire.AgentClient(),
      "baseURL ftp": () => lab.client({ baseURL: "ftp://example.org" }),
      "baseURL not an address": () => lab.client({ baseURL: "http://" }),
      "baseURL with a query": () => lab.client({ baseURL: "https://example.org/?key=1" }),
      "baseURL with a fragment": () => lab.client({ baseURL: "https://example.org/#a" }),
      "baseURL with a password": () => lab.client({ baseURL: "https://me:secret@example.org/" }),
      "apiKey with a line end": () => lab.client({ apiKey: "key\n" }),
      "apiKey with an umlaut": () => lab.client({ apiKey: "schlüssel" }),
      "headers with a bad name": () => lab.client({ headers: { "no spaces": "x" } }),
      "headers with a bad value": () => lab.client({ headers: { "x-a": "line\nend" } }),
      "headers with a number": () => lab.client({ headers: { "x-a": 1 } }),
      "idempotencyKey with a space": () => chat.send("hello", { idempotencyKey: "a b" }),
      "message missing": () => chat.send(),
      "message empty": () => chat.send(""),
      "message without parts": () => chat.send([]),
      "message a number": () => chat.send(42),
      "message part a string": () => chat.send(["hello"]),
      "message part without type": () => chat.send([{ text: "hello" }]),
      "message part without text": () => chat.send([{ type: "text" }]),
      "message part with empty text": () => chat.send([{ type: "text", text: "x" }, { type: "text", text: "" }]),
      "message a hole": () => chat.send([{ type: "text", text: "x" }, , { type: "text", text: "y" }]),
      "message of a class of the browser": () => chat.send([new Blob(["x"])]),
      "options a string": () => chat.send("hello", "now"),
      "listener missing": () => chat.send("hello", { signal: AbortSignal.abort() }).on("event"),
      "chatId missing": () => chats.open(),
      "chatId empty": () => chats.open(""),
      "chatId .": () => chats.open("."),
      "chatId ..": () => chats.open(".."),
      "workspaceId missing": () => lab.client({ workspaceId: undefined }).chats.create(),
      "workspaceId .": () => chats.create({ workspaceId: "." }),
      "workspaceId ..": () => lab.client({ workspaceId: ".." }).chats.create(),
      "agentId missing": () => lab.client({ agentId: undefined }).chats.create(),
      "params a string": () => chats.create("demo"),
    };
    const told = {};
    for (const [what, call] of Object.entries(calls)) told[what] = await lab.refusal(call);
    return told;
  });
  for (const [what, error] of Object.entries(told)) {
    const field = what.split(" ")[0] === "no" ? "options" : what.split(" ")[0];
    assert.deepEqual([what, error?.name, error?.code, error?.retryable], [what, "InvalidArgumentError", "invalid_argument", false]);
    assert.match(error.message, new RegExp(`^${field}(\\[\\d\\](\\.text)?)? must be `), what);
    assert.doesNotMatch(error.message, /secret|key\n/, "a message may hold no secret");
  }
  assert.deepEqual(await service.requests(), before);
});

check("a part that JSON would change is refused, by its place", async ({ page, service }) => {
  const before = await service.requests();
  const told = await page.evaluate(async () => {
    const chat = lab.client().chats.open("chat_any");
    const loop = {};
    loop.inner = [loop];
    const deep = {};
    for (let at = deep, i = 0; i < 100_000; i++) at = at.d = {};
    const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    class Hidden {
      #url = "x";
      get url() { return this.#url; }
    }
    const values = {
      ".x: a Blob": new Blob(["x"]), ".x: a File": new File(["x"], "a"), ".x: a Map": new Map([["a", 1]]), ".x: a Set": new Set([1]), ".x: another frame's Map": new frame.Map(),
      ".x: a function": () => {}, ".x: a symbol": Symbol("x"), ".x: a bigint": 1n, ".x: NaN": NaN, ".x: Infinity": -Infinity,
      ".x: bytes": new Uint8Array(3), ".x: a buffer": new ArrayBuffer(3), ".x: a promise": Promise.resolve(1), ".x: an error": new Error("x"), ".x: a regular expression": /x/,
      ".x.inner[0]: a loop": loop, [`.x${".d".repeat(18)}: too deep`]: deep,
      ".x[1]: a hole": [1, , 3], ".x[0]: undefined in an array": [undefined], ".x.more: a named member of an array": Object.assign([1], { more: 2 }),
      ".x.y[2].z: deep inside": { y: [0, 1, { z: new Blob() }] }, '.x["a b"]: another name': { "a b": NaN },
      ".x.y: an accessor": { get y() { return 1; } }, ".x.url: an accessor of a class": new Hidden(),
      ".x[0]: toJSON that gives nothing in an array": [{ toJSON() {} }], ".x: toJSON that gives a Map": { toJSON: () => new Map() },
    };
    const told = {};
    for (const [what, x] of Object.entries(values)) told[what] = (await lab.refusal(() => chat.send([{ type: "text", text: "a" }, { type: "image", x }]))) ?? "taken";
    told[": toJSON that throws"] = await lab.refusal(() => chat.send([{ type: "text", text: "a" }, { type: "x", toJSON() { throw new Error("thrown by the page"); } }]));
    return told;
  });
  for (const [what, error] of Object.entries(told)) {
    assert.deepEqual([what, error?.name, error?.code], [what, "InvalidArgumentError", "invalid_argument"]);
    // What throws does so before anybody can look where it lies.
    const place = what.endsWith("that throws") ? "message" : `message[1]${what.slice(0, what.indexOf(": "))}`;
    assert.ok(error.message.startsWith(`${place} must be what JSON can say, no `), `${what}: ${error.message.slice(0, 200)}`);
  }
  assert.deepEqual(await service.requests(), before);
});

check("parts are sent as JSON says them, and read once", async ({ page }) => {
  const sent = await page.evaluate(async () => {
    let sent;
    const chat = await lab.chat({ fetch: (url, init) => (sent = init.body, fetch(url, init)) });
    let reads = 0;
    const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    class Image {
      type = "image_ref";
      constructor(id) { this.file_id = id; }
      describe() { return this.file_id; }
    }
    const shared = { a: 1 };
    await chat.send([
      { type: "text", text: "hello", left: undefined, when: new Date(0), url: new URL("https://example.org/") },
      new Image("file_1"), frame.JSON.parse('{"type":"far","__proto__":[1,{"b":null}]}'),
      { type: "twice", one: shared, two: shared, bare: Object.assign(Object.create(null), { c: "" }), zero: -0, none: { toJSON() {} }, last: { toJSON: (key) => `${key} ${++reads}` } },
    ]).done();
    return JSON.parse(sent).parts.map((part) => JSON.stringify(part));
  });
  assert.deepEqual(sent, [
    '{"type":"text","text":"hello","when":"1970-01-01T00:00:00.000Z","url":"https://example.org/"}',
    '{"type":"image_ref","file_id":"file_1"}', '{"type":"far","__proto__":[1,{"b":null}]}',
    '{"type":"twice","one":{"a":1},"two":{"a":1},"bare":{"c":""},"zero":0,"last":"last 1"}',
  ]);
});

check("headers reach the service in every form, those given twice together", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    const forms = {
      "an object": { "X-Own": "a", "x-team": "b" }, "an object without a prototype": Object.assign(Object.create(null), { "X-Own": "a", "x-team": "b" }),
      Headers: new Headers({ "X-Own": "a", "x-team": "b" }), "another frame's Headers": new frame.Headers({ "X-Own": "a", "x-team": "b" }),
      "a Map": new Map([["X-Own", "a"], ["x-team", "b"]]), "another frame's Map": new frame.Map([["X-Own", "a"], ["x-team", "b"]]),
      "an array": [["X-Own", "a"], ["x-team", "b"]], "another frame's object": frame.JSON.parse('{"X-Own":"a","x-team":"b"}'),
      "an array that says one twice": [["X-Own", "a"], ["x-team", "b"], ["x-own", "c"]], "an empty array": [], "empty Headers": new Headers(),
    };
    const seen = {};
    for (const [what, headers] of Object.entries(forms)) {
      const sent = [];
      const fetch = async (url, init) => {
        const given = new Headers(init.headers);
        sent.push(`${given.get("x-own")} ${given.get("x-team")}`);
        return url.endsWith("/chats") ? new Response('{"id":"c"}') : new Response('data: {"type":"turn_complete","data":{}}\n\n', { headers: { "content-type": "text/event-stream" } });
      };
      await lab.client({ headers, fetch }).chats.create();
      await lab.client({ fetch }).chats.create({}, { headers });
      await lab.client({ fetch }).chats.open("c").send("hello", { headers }).done();
      seen[what] = [...new Set(sent)].join(" | ");
    }
    return seen;
  });
  assert.deepEqual(seen, {
    "an object": "a b", "an object without a prototype": "a b", Headers: "a b", "another frame's Headers": "a b", "a Map": "a b", "another frame's Map": "a b",
    "an array": "a b", "another frame's object": "a b", "an array that says one twice": "a, c b", "an empty array": "null null", "empty Headers": "null null",
  });
});

check("milliseconds: a fraction is none of none, and the largest number is one", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    // A service that never answers.
    const silent = (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const fraction = await lab.refusal(() => lab.client({ timeout: 0.9, fetch: silent }).chats.create());
    const most = await lab.follow((await lab.chat({ timeout: Number.MAX_VALUE, idleTimeout: Number.MAX_VALUE })).send("count to 3"));
    return { fraction, most: [most.status, most.text] };
  });
  assert.deepEqual([seen.fraction?.name, seen.fraction?.code], ["TimeoutError", "response_timeout"], JSON.stringify(seen.fraction));
  assert.match(seen.fraction.message, /\b1 ms\b/);
  assert.deepEqual(seen.most, ["completed", "1 2 3"]);
});

check("a listener that another one takes away is not called any more", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const seen = [];
    const turn = (await lab.chat()).send("count to 3");
    const last = () => seen.push("last");
    turn.on("text_delta", () => (seen.push("first"), turn.off("text_delta", last)));
    turn.on("text_delta", last);
    turn.on("end", () => seen.push("end"));
    await turn.done();
    return seen;
  });
  assert.ok(seen.includes("first") && !seen.includes("last"), String(seen));
});

check("a part type that this version does not know is passed through", async ({ page }) => {
  const { sent, text } = await page.evaluate(async () => {
    let sent;
    const chat = await lab.chat({ fetch: (url, init) => (sent = init.body, fetch(url, init)) });
    const parts = [{ type: "text", text: "hello" }, { type: "image_ref", file_id: "file_1", nested: { é: ["\u2028", null] } }];
    const { text } = await chat.send(parts).done();
    return { sent: JSON.parse(sent), text };
  });
  assert.deepEqual(sent, { parts: [{ type: "text", text: "hello" }, { type: "image_ref", file_id: "file_1", nested: { é: ["\u2028", null] } }] });
  assert.match(text, /left aside what I can't read: image\\_ref/);
});

check("an identifier with any character reaches the service as one segment", async ({ page }) => {
  const urls = await page.evaluate(async () => {
    const urls = [];
    const client = lab.client({ fetch: (url) => (urls.push(new URL(url).pathname), Promise.reject(new Error("enough"))) });
    for (const id of ["a/b", "a b", "../x", "%2e%2e", "é😀", "a?b#c", "...", "a\\b"]) await lab.settled(client.chats.open(id).send("hello").done());
    return urls;
  });
  assert.deepEqual(urls.map((path) => path.split("/")[3]), ["a%2Fb", "a%20b", "..%2Fx", "%252e%252e", "%C3%A9%F0%9F%98%80", "a%3Fb%23c", "...", "a%5Cb"]);
  for (const path of urls) assert.equal(path.split("/").length, 5, path);
});

check("a chat's identifier is found in every shape that the profile names", async ({ page }) => {
  const ids = await page.evaluate(async () => {
    const ids = [];
    for (const body of ["chat_body=id", "chat_body=nested"]) ids.push((await lab.client().chats.create({}, lab.fault(body))).id);
    const answers = ['{"data":{"id":"c-3"}}', '{"id":"c-4","data":{"id":"x"}}', '{"chat_id":"","id":"c-5"}', '\n {"chat":{"id":"c-6"},"more":[1]} '];
    for (const text of answers) ids.push((await lab.client({ fetch: async () => new Response(text) }).chats.create()).id);
    return ids;
  });
  assert.match(ids[0], /^chat_/);
  assert.match(ids[1], /^chat_/);
  assert.deepEqual(ids.slice(2), ["c-3", "c-4", "c-5", "c-6"]);
});

check("a created chat that can't be read is a ProtocolError that shows what came", async ({ page }) => {
  const told = await page.evaluate(async () => ({
    none: await lab.refusal(() => lab.client().chats.create({}, lab.fault("chat_body=none"))),
    html: await lab.refusal(() => lab.client().chats.create({}, lab.fault("chat_body=html"))),
    dots: await lab.refusal(() => lab.client({ fetch: async () => new Response('{"id":".."}') }).chats.create()),
    empty: await lab.refusal(() => lab.client({ fetch: async () => new Response(null, { status: 204 }) }).chats.create()),
  }));
  assert.deepEqual([told.none.name, told.none.code], ["ProtocolError", "chat_without_id"]);
  assert.match(told.none.message, /workspace_id/);
  assert.deepEqual([told.html.name, told.html.code], ["ProtocolError", "chat_not_json"]);
  assert.match(told.html.message, /A page from something in between|doctype html/);
  assert.deepEqual([told.empty.name, told.empty.code], ["ProtocolError", "chat_not_json"]);
  assert.equal(told.dots?.name, "ProtocolError");
  assert.match(told.dots.message, /"\.\."/);
});

check("a page instead of the stream is a ProtocolError that shows its beginning", async ({ page }) => {
  const told = await page.evaluate(async () => {
    const turn = (await lab.chat()).send("hello", lab.fault("content_type=text/html%3B%20charset%3Dutf-8"));
    return lab.refusal(() => turn.done());
  });
  assert.deepEqual([told.name, told.code], ["ProtocolError", "not_an_event_stream"]);
  assert.match(told.message, /text\/html; charset=utf-8 .*baseURL.*<title>Not the service/);
});

check("a service that is not there is a ConnectionError that says what to check", async ({ page }) => {
  // A port that was free a moment ago: nobody listens on it.
  const closed = createServer();
  await new Promise((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address();
  await new Promise((resolve) => closed.close(resolve));
  const { create, turn } = await page.evaluate(async (baseURL) => {
    const client = lab.client({ baseURL });
    return { create: await lab.refusal(() => client.chats.create()), turn: await lab.follow(client.chats.open("chat_any").send("hello")) };
  }, `http://127.0.0.1:${port}`);
  for (const error of [create, turn.error]) {
    assert.deepEqual([error.name, error.code, error.retryable], ["ConnectionError", "connection_failed", true]);
    assert.match(error.message, /baseURL.*CORS/);
  }
  assert.equal(turn.status, "interrupted");
});

check("a redirect is not followed with the key", async ({ page, service }) => {
  const before = await service.requests();
  const error = await page.evaluate(() => lab.refusal(() => lab.client().chats.create({}, lab.fault("redirect=/v1/workspaces/demo/chats"))));
  assert.deepEqual([error.name, error.code], ["ConnectionError", "connection_failed"]);
  assert.equal((await service.requests()).chats - before.chats, 1);
});

check("a fetch of the page's own that fails is the call's error and no crash", async ({ page }) => {
  const stream = { headers: { "content-type": "text/event-stream" } };
  const told = await page.evaluate(async (stream) => {
    const told = {};
    const fetches = {
      throwing: () => {
        throw new RangeError("thrown by the page's fetch");
      },
      rejecting: () => Promise.reject(new TypeError("rejected by the page's fetch")),
      "with nothing": () => Promise.reject(undefined),
      "giving no Response": async () => ({ ok: true }),
      "giving undefined": async () => undefined,
      "with a body of strings": async () => new Response(new ReadableStream({ start: (c) => c.enqueue("data: {}\n\n") }), stream),
      "with a failing body": async () => new Response(new ReadableStream({ pull: (c) => c.error(new Error("torn by the page")) }), stream),
      "without a body": async () => new Response(null, stream),
      "with a locked body": async () => {
        const response = new Response("data: {}\n\n", stream);
        response.body.getReader();
        return response;
      },
    };
    for (const [how, fetch] of Object.entries(fetches)) {
      const seen = await lab.follow(lab.client({ fetch }).chats.open("chat_any").send("hello"));
      told[how] = [seen.status, seen.error?.name, seen.error?.code, seen.error?.message];
    }
    // The instance still runs.
    told.after = [(await lab.follow((await lab.chat()).send("count to 2"))).text];
    return told;
  }, stream);
  const ends = Object.fromEntries(Object.entries(told).map(([how, [status, name, code]]) => [how, `${status} ${name} ${code}`]));
  assert.deepEqual(ends, {
    throwing: "interrupted ConnectionError connection_failed",
    rejecting: "interrupted ConnectionError connection_failed",
    "with nothing": "interrupted ConnectionError connection_failed",
    "giving no Response": "interrupted ConnectionError connection_failed",
    "giving undefined": "interrupted ConnectionError connection_failed",
    "with a body of strings": "interrupted ConnectionError stream_broken",
    "with a failing body": "interrupted ConnectionError stream_broken",
    "without a body": "interrupted ConnectionError stream_closed",
    "with a locked body": "interrupted ConnectionError stream_broken",
    after: "1 2 undefined undefined",
  });
  assert.match(told.throwing[3], /thrown by the page's fetch/);
  assert.match(told.rejecting[3], /rejected by the page's fetch/);
  assert.match(told["giving no Response"][3], /must resolve with a Response/);
  assert.match(told["with a failing body"][3], /torn by the page/);
});
