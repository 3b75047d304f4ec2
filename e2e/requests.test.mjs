// What a call sends: chats, models, keys, headers, tries, and what the page is told of it.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

check("a chat is created in the client's workspace, or the call's", async ({ page }) => {
  const { chats, sent, refused } = await page.evaluate(async () => {
    const sent = [];
    const client = lab.client({ fetch: (url, init) => (sent.push([init.method, url, init.body]), fetch(url, init)) });
    const chats = [];
    for (const params of [undefined, {}, { isTemporary: true }, { isTemporary: false }]) {
      const chat = await client.chats.create(params);
      chats.push({ id: chat.id, raw: chat.raw, frozen: Object.isFrozen(chat.raw) });
    }
    const refused = await lab.refusal(() => client.chats.create({ workspaceId: "other place/50%", agentId: "assistant" }));
    return { chats, sent, refused };
  });
  const url = new URL("/v1/workspaces/demo/chats", page.url()).href;
  assert.deepEqual(sent.slice(0, 4), [
    ["POST", url, '{"agent_id":"assistant"}'],
    ["POST", url, '{"agent_id":"assistant"}'],
    ["POST", url, '{"agent_id":"assistant","is_temporary":true}'],
    ["POST", url, '{"agent_id":"assistant","is_temporary":false}'],
  ]);
  assert.deepEqual(chats.map(({ raw }) => raw.is_temporary), [false, false, true, false]);
  for (const { id, raw, frozen } of chats) {
    assert.equal(raw.chat_id, id);
    assert.deepEqual([raw.workspace_id, raw.agent_id, frozen], ["demo", "assistant", true]);
  }
  assert.match(sent[4][1], /\/v1\/workspaces\/other%20place%2F50%25\/chats$/);
  assert.deepEqual([refused.name, refused.code], ["NotFoundError", "workspace_not_found"]);
});

check("a temporary chat takes messages like any other", async ({ page }) => {
  const seen = await page.evaluate(async () => lab.follow((await lab.chat({}, { isTemporary: true })).send("2 + 3")));
  assert.match(seen.text, /\*\*5\*\*/);
  assert.equal(seen.status, "completed");
});

check("an opened chat goes on with what was said before", async ({ page }) => {
  const { opened, text } = await page.evaluate(async () => {
    const chat = await lab.chat();
    await chat.send("hello").done();
    const opened = lab.client().chats.open(chat.id);
    return { opened: { id: opened.id === chat.id, raw: opened.raw }, text: (await opened.send("and again").done()).text };
  });
  assert.deepEqual(opened, { id: true, raw: {} });
  assert.match(text, /message \*\*2\*\*/);
});

check("a model is overridden for one message only", async ({ page }) => {
  const models = await page.evaluate(async () => {
    const chat = await lab.chat();
    const models = [];
    for (const options of [{}, { model: "another-model" }, {}]) models.push((await chat.send("count to 1", options).done()).data.model);
    return models;
  });
  assert.deepEqual(models, ["turnwire-builtin-1", "another-model", "turnwire-builtin-1"]);
});

check("a message carries the caller's key, or a UUID of its own", async ({ page, service }) => {
  const { keys, replayed } = await page.evaluate(async () => {
    const chat = await lab.chat();
    const keys = [];
    for (const options of [{}, {}, { idempotencyKey: "order-66" }]) {
      const turn = chat.send("count to 2", options);
      keys.push(turn.idempotencyKey);
      await turn.done();
    }
    // The service shows a turn again to its key, and runs nothing.
    const replayed = await chat.send("count to 2", { idempotencyKey: "order-66" }).done();
    return { keys, replayed };
  });
  assert.match(keys[0], uuid);
  assert.match(keys[1], uuid);
  assert.notEqual(keys[0], keys[1]);
  assert.equal(keys[2], "order-66");
  assert.equal(replayed.text, "1 2");
  const turns = (await service.turns()).filter((turn) => keys.includes(turn.idempotency_key));
  assert.deepEqual(turns.map((turn) => [turn.idempotency_key, turn.requests]), [[keys[0], 1], [keys[1], 1], ["order-66", 2]]);
});

check("a key that is under way gives the turn under way, and sends nothing", async ({ page, service }) => {
  const { same, other, again, chat } = await page.evaluate(async () => {
    const chat = await lab.chat();
    const options = { idempotencyKey: crypto.randomUUID() };
    const turn = chat.send("count to 20", options);
    const same = chat.send("count to 20", options) === turn;
    const other = (await lab.chat()).send("count to 20", options) === turn;
    await turn.done();
    const again = chat.send("count to 20", options);
    await again.done();
    return { same, other, again: again === turn, chat: chat.id };
  });
  assert.deepEqual({ same, other, again }, { same: true, other: false, again: false });
  assert.deepEqual((await service.turns()).filter((turn) => turn.chat_id === chat).map((turn) => turn.requests), [2]);
});

for (const fault of ["times=1&refuse=1", "times=2&status=503&retry_after=0", "times=1&status=429&retry_after=0&error_body=html"]) {
  check(`a message is tried again with the same key: ${fault}`, async ({ page, service }) => {
    const seen = await page.evaluate(async (fault) => {
      const chat = await lab.chat({ maxRetries: 2 });
      return lab.follow(chat.send("count to 4", lab.fault(fault)));
    }, fault);
    assert.deepEqual([seen.status, seen.text], ["completed", "1 2 3 4"]);
    const record = await service.over(seen.chat);
    assert.equal(record.idempotency_key, seen.key);
    assert.equal(record.requests, fault.startsWith("times=2") ? 3 : 2);
  });
}

check("what cannot help is not tried again", async ({ page, service }) => {
  const before = await service.requests();
  const errors = await page.evaluate(async () => {
    const chat = await lab.chat({ maxRetries: 5 });
    const errors = [];
    for (const fault of ["status=400", "status=404", "status=409", "status=422", "status=501", "close_events=3", "status=503&retry_after=61"]) {
      errors.push(await lab.refusal(() => chat.send("count to 9", lab.fault(`${fault}&pace_ms=0`)).done()));
    }
    return errors;
  });
  assert.deepEqual(errors.map((error) => error.status ?? error.code), [400, 404, 409, 422, 501, "stream_closed", 503]);
  assert.equal(errors.at(-1).retryAfter, 61_000);
  const after = await service.requests();
  assert.equal(after.messages - before.messages, errors.length);
});

check("creating a chat is repeated only where the service said that it made none", async ({ page, service }) => {
  const count = async (fault) => {
    const before = await service.requests();
    const result = await page.evaluate(async (fault) => {
      const result = await lab.settled(lab.client({ maxRetries: 1 }).chats.create({}, lab.fault(fault)));
      return result.error ? lab.told(result.error).code : "created";
    }, fault);
    return [result, (await service.requests()).chats - before.chats];
  };
  assert.deepEqual(await count("times=1&status=503&retry_after=0&error_body=empty"), ["created", 2]);
  assert.deepEqual(await count("times=1&status=429&retry_after=0&error_body=json"), ["created", 2]);
  assert.deepEqual(await count("times=1&status=500&error_body=empty"), ["server_error", 1]);
  assert.deepEqual(await count("times=1&refuse=1"), ["connection_failed", 1]);
});

check("headers of the client and of the call are sent, and never replace the protocol's own", async ({ page }) => {
  const sent = await page.evaluate(async () => {
    const sent = [];
    const headers = { "X-Team": "client", "x-both": "client", Authorization: "Bearer stolen", "idempotency-key": "mine" };
    const recording = (url, init) => {
      sent.push(Object.fromEntries(new Headers(init.headers)));
      return fetch(url, init);
    };
    const client = lab.client({ headers, fetch: recording });
    const chat = await client.chats.create({}, { headers: { "X-Both": "call" } });
    const turn = chat.send("count to 100000", { idempotencyKey: "k-1", headers: { "X-Both": "call", "content-type": "text/plain" } });
    await new Promise((resolve) => turn.on("text_delta", resolve));
    await turn.abort();
    return sent;
  });
  assert.equal(sent.length, 3);
  for (const headers of sent) {
    assert.deepEqual([headers["x-team"], headers["x-both"], headers.authorization], ["client", "call", "Bearer dev-key"]);
  }
  assert.deepEqual([sent[1]["content-type"], sent[1]["idempotency-key"], sent[1].accept], ["application/json", "k-1", "text/event-stream"]);
});

check("an apiKey may be a string, a function, or left out", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(async () => {
    const answer = async (apiKey) => {
      const result = await lab.settled(lab.chat({ apiKey }));
      return result.error ? lab.told(result.error) : "created";
    };
    let asked = 0;
    return {
      string: await answer("dev-key"),
      sync: await answer(() => "dev-key"),
      async: await answer(async () => "dev-key"),
      renewed: await answer(async () => (asked++ === 0 ? "stale-key" : "dev-key")),
      asked,
      stale: await answer(() => "stale-key"),
      out: await answer(undefined),
      throwing: await answer(() => {
        throw new RangeError("the login is over");
      }),
      rejecting: await answer(() => Promise.reject(new Error("offline"))),
      number: await answer(() => 42),
      broken: await answer(() => "two\nlines"),
    };
  });
  for (const how of ["string", "sync", "async", "renewed"]) assert.equal(seen[how], "created", JSON.stringify(seen[how]));
  assert.equal(seen.asked, 2, "a key that was refused is asked for once more");
  assert.deepEqual([seen.stale.name, seen.stale.code], ["AuthenticationError", "invalid_api_key"]);
  assert.deepEqual([seen.out.name, seen.out.code], ["AuthenticationError", "missing_api_key"]);
  for (const [how, says] of [["throwing", /login is over/], ["rejecting", /offline/], ["number", /a number, not a key/], ["broken", /not a key/]]) {
    assert.deepEqual([how, seen[how].name, seen[how].code], [how, "AgentError", "api_key_failed"]);
    assert.match(seen[how].message, says);
  }
  // Four created, one of them after a refusal; stale is tried twice; without a key once. The rest sent nothing.
  assert.equal((await service.requests()).chats - before.chats, 8);
});

check("a turn whose key cannot be had fails, and nothing is sent", async ({ page, service }) => {
  const before = await service.requests();
  const seen = await page.evaluate(() => lab.follow(lab.client({ apiKey: () => Promise.reject(new Error("offline")) }).chats.open("chat_any").send("hello")));
  assert.deepEqual([seen.status, seen.error.name, seen.error.code, seen.sameError], ["failed", "AgentError", "api_key_failed", true]);
  assert.deepEqual(await service.requests(), before);
});

check("requests at once share one asking for the key", async ({ page }) => {
  const { asked, statuses } = await page.evaluate(async () => {
    let asked = 0;
    const client = lab.client({ apiKey: async () => (asked++, "dev-key") });
    const chats = await Promise.all([1, 2, 3].map(() => client.chats.create()));
    const before = asked;
    const turns = chats.map((chat) => chat.send("count to 3"));
    const statuses = await Promise.all(turns.map(async (turn) => (await turn.done()).status));
    return { asked: [before, asked], statuses };
  });
  assert.deepEqual(asked, [1, 2]);
  assert.deepEqual(statuses, ["completed", "completed", "completed"]);
});

check("records tell of every request and turn, and never hold the key", async ({ page }) => {
  const { records, frozen } = await page.evaluate(async () => {
    const records = [];
    const chat = await lab.chat({ maxRetries: 1, onLog: (record) => records.push(record) });
    const fault = lab.fault("times=1&status=503&retry_after=0");
    await chat.send("count to 3", fault).done();
    await lab.settled(lab.chat({ apiKey: "secret-key-1", onLog: (record) => records.push(record) }));
    return { records, frozen: records.every((record) => Object.isFrozen(record.fields)) };
  });
  assert.ok(frozen);
  const told = records.map(({ level, message, fields }) => [level, message, fields.method, fields.path?.replace(/chat_[\w-]+/, "ID"), fields.status, fields.attempt]);
  const create = "/v1/workspaces/demo/chats", send = "/v1/chats/ID/messages";
  assert.deepEqual(told, [
    ["debug", "answered", "POST", create, 201, 1],
    ["debug", "answered", "POST", send, 503, 1],
    ["warn", "trying again", "POST", send, 503, 1],
    ["debug", "answered", "POST", send, 200, 2],
    ["info", "turn ended", undefined, send, "completed", undefined],
    ["debug", "answered", "POST", create, 401, 1],
  ]);
  for (const { message, fields } of records.filter(({ message }) => message === "answered")) {
    assert.equal(typeof fields.ms, "number", message);
    assert.match(fields.requestId, /^req_/);
  }
  assert.doesNotMatch(JSON.stringify(records), /dev-key|secret-key/);
});

check("the key is in no property, no error and no JSON of the client's objects", async ({ page }) => {
  const found = await page.evaluate(async () => {
    const apiKey = "secret-key-1";
    const client = lab.client({ apiKey });
    const error = (await lab.settled(client.chats.create())).error;
    const chat = client.chats.open("chat_any");
    const turn = chat.send("hello");
    const failure = (await lab.settled(turn.done())).error;
    const found = [];
    const seen = new Set();
    const look = (value, path) => {
      if (typeof value === "string" && value.includes(apiKey)) found.push(path);
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
      seen.add(value);
      for (const name of Reflect.ownKeys(value)) look(value[name], `${path}.${String(name)}`);
    };
    for (const [name, value] of Object.entries({ client, chats: client.chats, chat, turn, error, failure })) {
      look(value, name);
      if (JSON.stringify(value).includes(apiKey)) found.push(`JSON of ${name}`);
    }
    return found;
  });
  assert.deepEqual(found, []);
});

check("calls made before the module is loaded wait for it", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const create = client.chats.create();
    const early = client.chats.open("chat_unknown").send("hello");
    const status = early.status;
    const chat = await create;
    return { status, early: await lab.refusal(() => early.done()), text: (await chat.send("count to 2").done()).text };
  });
  assert.deepEqual([seen.status, seen.early.code, seen.text], ["queued", "chat_not_found", "1 2"]);
});
