// The key is in no error and in no log record, however a service quotes it; and what a service says is given as it said it,
// also where the key stands in it. The service here quotes the key everywhere.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { Scripted } from "./support/scripted.mjs";

const check = testbed();

const key = "Zq7x/s3cret+Key9/end";
/** As a JSON encoder may write it, each "/" and "+" escaped. */
const escaped = key.replaceAll("/", "\\/").replaceAll("+", "\\u002B");

const stream = (...frames) => ({ type: "text/event-stream", body: frames.map((frame) => `data: ${frame}\n\n`).join("") });
const event = (type, data) => JSON.stringify({ type, data });
const complete = event("turn_complete", {});

/** Opens a service that gives each request the answer that `answers` has, or makes, for the last part of its path. */
async function serviceOf(t, answers) {
  const service = await Scripted.start((request, response) => {
    const answer = answers[request.path.split("/").at(-1)];
    const { status = 200, type = "application/json", headers = {}, body } = typeof answer === "function" ? answer(request) : answer;
    response.writeHead(status, { "content-type": type, ...headers }).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  t.after(() => service.close());
  return service.origin;
}

/** Follows a turn of a service whose answer to the message is this one. */
async function turnOf({ page, t }, answer, options = {}) {
  return page.evaluate(async (options) => {
    const records = [];
    const seen = await lab.follow(lab.client({ ...options, onLog: (record) => records.push(record) }).chats.open("c1").send("hello"));
    return { ...seen, records };
  }, { baseURL: await serviceOf(t, { messages: answer }), apiKey: key, ...options });
}

/** Fails where a text has the key in it in any spelling, or the beginning of it. */
function hides(value) {
  const text = JSON.stringify(value);
  for (const one of ["Zq7x", "s3cret", "Key9"]) assert.ok(!text.includes(one), `${one} in ${text.slice(0, 2_000)}`);
}

for (const apiKey of ["s", "a1", key]) {
  check(`with the key ${apiKey} every answer is given as it came`, async ({ page, t }) => {
    const address = `https://store.test/basic?sig=${encodeURIComponent("s/a1+")}&as=${key}`;
    const chat = { chat_id: "basic-a1", raw: ["s", key, address], [key]: key };
    const file = { file_id: "f-s", name: `as ${key}`, status: "ready", size: 3, download_url: address };
    const baseURL = await serviceOf(t, {
      chats: { status: 201, body: chat },
      messages: stream(
        event("text_delta", { chunk: `passes ${key} a1` }), event("reasoning_delta", { chunk: key }),
        event("tool_call", { id: "s", name: "search", arguments: { q: key } }), event("tool_result", { id: "s", result: [address] }),
        event("turn_complete", { usage: key }),
      ),
      "f-s": { body: file },
      "upload-url": { status: 500, body: {} },
    });
    const seen = await page.evaluate(async (options) => {
      const client = lab.client(options);
      const chat = await client.chats.create();
      const turn = await lab.follow(chat.send("hello"));
      const file = await client.files.get("f-s");
      return { chat: { id: chat.id, raw: chat.raw }, turn, file };
    }, { baseURL, apiKey });
    assert.deepEqual(seen.chat, { id: "basic-a1", raw: chat });
    assert.deepEqual([seen.turn.status, seen.turn.text, seen.turn.reasoning], ["completed", `passes ${key} a1`, key]);
    assert.deepEqual(seen.turn.toolCalls.map(({ name, arguments: given, result }) => [name, given, result]), [["search", { q: key }, [address]]]);
    assert.deepEqual(seen.turn.result.data, { usage: key });
    assert.deepEqual([seen.file.id, seen.file.name, seen.file.raw], ["f-s", `as ${key}`, file]);
  });
}

check("a signed address keeps what looks like the key", async ({ page }) => {
  const ends = await page.evaluate(async () => {
    const own = (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization: "Bearer dev-key" } });
    const ends = [];
    // Characters that are in every address.
    for (const apiKey of ["s", "e", "0"]) {
      const { value, error } = await lab.settled(lab.client({ apiKey, fetch: own }).files.upload(new Blob(["data"])).done());
      ends.push(error ? lab.told(error) : value.status);
    }
    return ends;
  });
  assert.deepEqual(ends, ["ready", "ready", "ready"]);
});

const bodies = {
  "JSON": { type: "application/json", body: JSON.stringify({ error: { message: `no ${key}`, code: `code-${key}`, [key]: [key] } }) },
  "JSON with escapes": { type: "application/json", body: `{"error": {"message": "no ${escaped}", "code": "code-${escaped}", "more": {"${escaped}": ["${escaped}"]}}}` },
  "plain text": { type: "text/plain", body: `the key ${key} is refused` },
  "text that quotes JSON": { type: "text/plain", body: `upstream said {"key": "${escaped}"}` },
  "a page": { type: "text/html", body: `<!doctype html><p>${key}</p><script>let k = "${escaped}"</script>` },
  "text cut within the key": { type: "text/plain", body: "x".repeat((64 << 10) - 9) + key },
  "a message cut within the key": { type: "text/plain", body: "x".repeat(490) + key },
};
for (const [what, { type, body }] of Object.entries(bodies)) {
  check(`a refusal that quotes the key hides it: ${what}`, async ({ page, t }) => {
    const refused = { status: 401, type, body };
    const baseURL = await serviceOf(t, { chats: refused, messages: refused });
    const seen = await page.evaluate(async (options) => {
      const records = [];
      const client = lab.client({ ...options, onLog: (record) => records.push(record) });
      const create = await lab.refusal(() => client.chats.create());
      const turn = await lab.follow(client.chats.open("c1").send("hello"));
      return { create, turn, records };
    }, { baseURL, apiKey: key });
    for (const error of [seen.create, seen.turn.error]) {
      assert.deepEqual([error.name, error.status], ["AuthenticationError", 401]);
      hides(error);
    }
    if (!what.includes("cut")) assert.match(JSON.stringify([seen.create.message, seen.create.body]), /\[apiKey\]/);
    assert.ok(seen.records.length >= 2);
    hides(seen.records);
  });
}

check("a key that a function gave is hidden, of each request its own", async ({ page, t }) => {
  const baseURL = await serviceOf(t, { chats: ({ headers }) => ({ status: 401, body: { message: `not ${headers.authorization}` } }) });
  const seen = await page.evaluate(async (baseURL, key) => {
    const keys = [];
    const refused = await lab.refusal(() => lab.client({ baseURL, apiKey: () => (keys.push(`${key}-${keys.length}`), keys.at(-1)) }).chats.create());
    return { refused, keys: keys.length };
  }, baseURL, key);
  assert.deepEqual([seen.refused.status, seen.keys], [401, 2]);
  assert.match(seen.refused.message, /not Bearer \[apiKey\]/);
  hides(seen.refused);
});

check("a request id that quotes the key hides it", async ({ page, t }) => {
  const baseURL = await serviceOf(t, { chats: { status: 404, body: {}, headers: { "x-request-id": `req-${key}` } } });
  const seen = await page.evaluate(async (options) => {
    const records = [];
    const refused = await lab.refusal(() => lab.client({ ...options, onLog: (record) => records.push(record) }).chats.create());
    return { refused, records };
  }, { baseURL, apiKey: key });
  assert.equal(seen.refused.requestId, "req-[apiKey]");
  assert.deepEqual(seen.records.map(({ fields }) => fields.requestId), ["req-[apiKey]"]);
});

const ends = {
  "an error event": { answer: stream(event("error", { code: `bad ${key}`, message: `no ${key}`, more: [{ [key]: key }] })), name: "TurnError" },
  "an error event with escapes": { answer: stream(`{"type":"error","data":{"code":"bad ${escaped}","message":"no ${escaped}","more":[{"key":"${escaped}"}]}}`), name: "TurnError" },
  "an event that is no JSON": { answer: stream(`oops ${key}`), name: "ProtocolError" },
  "an event that is almost JSON": { answer: stream(`{"key":"${escaped}",}`), name: "ProtocolError" },
  "an excerpt cut within the key": { answer: stream("x".repeat(188) + key), name: "ProtocolError" },
  "an excerpt cut within the escaped key": { answer: stream("x".repeat(186) + escaped), name: "ProtocolError" },
  "another type of answer": { answer: { type: "text/html", body: `<p>${key}</p><p>${escaped}</p>` }, name: "ProtocolError" },
  "a type that quotes it": { answer: { type: `text/plain; x="${key}"`, body: "hello" }, name: "ProtocolError" },
};
for (const [what, { answer, name }] of Object.entries(ends)) {
  check(`a turn that ends with ${what} hides the key`, async (bed) => {
    const seen = await turnOf(bed, answer);
    assert.equal(seen.error?.name, name);
    hides(seen.error);
    hides(seen.records);
    assert.ok(seen.sameError);
  });
}

check("the partial result of an error hides the key, and the turn keeps what was said", async (bed) => {
  const said = [
    event("text_delta", { chunk: `text ${key}` }), event("reasoning_delta", { chunk: `why ${key}` }),
    `{"type":"tool_call","data":{"id":"t-${escaped}","name":"look","arguments":{"q":"${escaped}"}}}`,
  ];
  for (const last of [[], [event("error", { message: "over" })], ["no JSON"]]) {
    const seen = await turnOf(bed, stream(...said, ...last));
    assert.deepEqual([seen.text, seen.reasoning, seen.toolCalls[0].arguments], [`text ${key}`, `why ${key}`, { q: key }]);
    assert.equal(seen.error.partial.text, "text [apiKey]");
    assert.equal(seen.error.partial.toolCalls.length, 1);
    hides(seen.error);
  }
});

check("a file's error hides the key in its record", async ({ page, t }) => {
  const file = { file_id: "f1", status: "processing_failed", name: key, error: `no ${key}` };
  const baseURL = await serviceOf(t, { f1: { body: JSON.stringify(file).replaceAll("/", "\\/") } });
  const { error, got } = await page.evaluate(async (options) => {
    const { files } = lab.client(options);
    return { error: await lab.refusal(() => files.wait("f1")), got: (await files.get("f1")).raw };
  }, { baseURL, apiKey: key });
  assert.equal(error.name, "FileError");
  hides(error);
  assert.deepEqual(got, file);
});

check("a record about a chat whose name holds the key hides it", async (bed) => {
  const { page, t } = bed;
  const baseURL = await serviceOf(t, { messages: stream(complete) });
  const records = await page.evaluate(async (options, name) => {
    const records = [];
    await lab.client({ ...options, onLog: (record) => records.push(record) }).chats.open(name).send("hello").done();
    return records;
  }, { baseURL, apiKey: "Zq7x-s3cret-Key9" }, "chat-Zq7x-s3cret-Key9");
  assert.ok(records.length >= 2);
  hides(records);
});
