// What is tried again and what is not, as the service's own record tells it: the same key on every try, and no turn or tool
// that ran twice.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { testbed } from "./support/bed.mjs";
import { Service } from "./support/service.mjs";

const check = testbed({ flags: ["-pace", "0s"] });

let idle;
before(async () => {
  idle = await Service.start("-pace", "0s");
});
after(() => idle?.close());

const message = "1+1, and what time is it in Asia/Tokyo?";

/** Sends the message under a fault; the turn as seen, the service's record of it, and the log. */
async function send(page, service, fault, options = {}, client = {}) {
  const seen = await page.evaluate(async (message, fault, options, client) => {
    const log = [];
    const chat = await lab.chat({ maxRetries: 2, ...client, onLog: (record) => log.push(record) });
    const began = performance.now();
    const seen = await lab.follow(chat.send(message, lab.fault(fault, options)));
    return { ...seen, log, ms: performance.now() - began };
  }, message, fault, options, client);
  const record = (await service.turns()).find((turn) => turn.chat_id === seen.chat);
  return { ...seen, record };
}

for (const status of [408, 425, 429, 500, 502, 503, 504]) {
  check(`${status} is tried again under the same key`, async ({ page, service }) => {
    const seen = await send(page, service, `times=2&status=${status}&retry_after=0`);
    assert.equal(seen.status, "completed", JSON.stringify(seen.error));
    assert.deepEqual([seen.record.idempotency_key, seen.record.requests, seen.record.tools.length], [seen.key, 3, 2]);
    const told = seen.log.filter(({ fields }) => fields.path?.endsWith("/messages") && fields.attempt).map(({ message, fields }) => [message, fields.attempt, fields.status]);
    assert.deepEqual(told, [["answered", 1, status], ["trying again", 1, status], ["answered", 2, status], ["trying again", 2, status], ["answered", 3, 200]]);
  });
}

for (const status of [400, 401, 403, 404, 409, 410, 422, 501]) {
  check(`${status} is not tried again`, async ({ page, service }) => {
    const { messages } = await service.requests();
    const seen = await send(page, service, `status=${status}`);
    assert.deepEqual([seen.status, seen.error.status], ["failed", status]);
    assert.equal((await service.requests()).messages - messages, 1);
    assert.equal(seen.log.some((record) => record.message === "trying again"), false);
  });
}

for (const [name, after, least] of [["seconds", () => "1", 1000], ["a date", () => new Date(Date.now() + 2500).toUTCString(), 1000]]) {
  check(`Retry-After is waited for: ${name}`, async ({ page, service }) => {
    const header = after();
    const seen = await send(page, service, `times=1&status=503&retry_after=${encodeURIComponent(header)}`);
    assert.equal(seen.status, "completed");
    if (name === "seconds") assert.ok(seen.ms >= least, `${seen.ms} ms`);
    // A date has whole seconds: the second try may not come before it.
    else assert.ok(Date.now() >= Date.parse(header), header);
    assert.equal(seen.record.requests, 2);
  });
}

for (const header of ["61", "3600", new Date(Date.now() + 600_000).toUTCString()]) {
  check(`Retry-After past a minute is the caller's to decide: ${header.replace(/\d\d:.*/, "in ten minutes")}`, async ({ page, service }) => {
    const { messages } = await service.requests();
    const { error, status } = await send(page, service, `status=429&retry_after=${encodeURIComponent(header)}`);
    assert.deepEqual([status, error.name], ["failed", "RateLimitError"]);
    if (/^\d+$/.test(header)) assert.equal(error.retryAfter, 1000 * header);
    else assert.ok(error.retryAfter > 60_000 && error.retryAfter <= 600_000, `${error.retryAfter}`);
    assert.equal((await service.requests()).messages - messages, 1);
  });
}

check("a refused connection is tried again for a message", async ({ page, service }) => {
  const seen = await send(page, service, "times=2&refuse=1");
  assert.equal(seen.status, "completed");
  assert.deepEqual([seen.record.requests, seen.record.tools.length], [3, 2]);
  assert.deepEqual(seen.log.filter(({ message }) => message === "no answer").map(({ fields }) => fields.attempt), [1, 2]);
});

for (const [fault, tries] of [["times=1&status=429&retry_after=0", 2], ["times=1&status=503&retry_after=0", 2], ["status=500", 1], ["status=502", 1], ["status=504", 1], ["status=408", 1], ["refuse=1", 1]]) {
  check(`making a chat under ${fault} takes ${tries === 1 ? "one try" : `${tries} tries`}`, async ({ page, service }) => {
    const { chats } = await service.requests();
    const error = await page.evaluate(async (fault) => lab.refusal(() => lab.client({ maxRetries: 4 }).chats.create({}, lab.fault(fault))), fault);
    assert.equal(error === undefined, tries === 2, JSON.stringify(error));
    assert.equal((await service.requests()).chats - chats, tries);
  });
}

for (const [name, client, call, tries] of [["the client's", 1, undefined, 2], ["the call's", 0, 3, 4], ["none of the call's", 3, 0, 1]]) {
  check(`maxRetries is ${name}`, async ({ page, service }) => {
    const { messages } = await service.requests();
    const seen = await send(page, service, "status=503&retry_after=0", { maxRetries: call }, { maxRetries: client });
    assert.deepEqual([seen.status, seen.error.status], ["failed", 503]);
    assert.equal((await service.requests()).messages - messages, tries);
  });
}

check("an abort during the wait sends no further message", async ({ page, service }) => {
  const { messages } = await service.requests();
  const seen = await page.evaluate(async () => {
    let waiting;
    const backOff = new Promise((resolve) => (waiting = resolve));
    const client = lab.client({ maxRetries: 5, onLog: ({ message }) => message === "trying again" && waiting() });
    const turn = (await client.chats.create()).send("hello", lab.fault("on=messages&status=503&retry_after=1"));
    const followed = lab.follow(turn);
    await backOff;
    await turn.abort();
    // Past the moment of the next try, were there one.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return followed;
  });
  assert.equal(seen.status, "cancelled");
  assert.equal((await service.requests()).messages - messages, 1);
});

check("no answer within timeout is a TimeoutError, and is not tried again", async ({ page, service }) => {
  const { messages } = await service.requests();
  const seen = await send(page, service, "delay_ms=600000", { timeout: 200 });
  assert.deepEqual([seen.status, seen.error.name, seen.error.code, seen.error.retryable], ["interrupted", "TimeoutError", "response_timeout", true]);
  assert.equal((await service.requests()).messages - messages, 1);
});

check("comments are life: a stream that only says it lives is not timed out", async ({ page, service }) => {
  const { seen, silent } = await page.evaluate(async () => {
    const follow = async (fault) => lab.follow((await lab.chat()).send("count to 2", lab.fault(fault, { idleTimeout: 1000 })));
    // Events are further apart than the limit: comments come between where they are asked for.
    const [seen, silent] = await Promise.all([follow("pace_ms=1600&heartbeat_ms=100"), follow("pace_ms=1600&heartbeat_ms=0")]);
    return { seen, silent };
  });
  assert.deepEqual([seen.status, seen.text], ["completed", "1 2"]);
  assert.deepEqual([silent.status, silent.error.name, silent.error.code], ["interrupted", "TimeoutError", "idle_timeout"]);
  assert.equal((await service.over(silent.chat)).status, "completed");
});

check("no idleTimeout is no limit", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const turn = (await lab.chat({ idleTimeout: 50 })).send("count to 2", lab.fault("stall_events=1", { idleTimeout: 0 }));
    await new Promise((resolve) => turn.on("event", resolve));
    await new Promise((resolve) => setTimeout(resolve, 400));
    const during = turn.status;
    await turn.abort();
    return { during, status: turn.status };
  });
  assert.deepEqual(seen, { during: "streaming", status: "cancelled" });
});

check("a key's function is asked for each request, and once more after a 401", async ({ page, service }) => {
  const { messages } = await service.requests();
  const seen = await page.evaluate(async () => {
    const keys = ["dev-key", "dev-key", "stale-1", "dev-key", "stale-2", "stale-3", "never-asked-for"];
    let asked = 0;
    const client = lab.client({ maxRetries: 3, apiKey: () => keys[asked++] });
    const chat = await client.chats.create();
    const counts = [asked];
    for (let i = 0; i < 2; i++) {
      await chat.send("count to 1").done();
      counts.push(asked);
    }
    const refused = await lab.refusal(() => chat.send("count to 1").done());
    return { counts, asked, refused };
  });
  assert.deepEqual(seen.counts, [1, 2, 4]);
  assert.equal(seen.asked, 6);
  assert.deepEqual([seen.refused.name, seen.refused.status, seen.refused.code], ["AuthenticationError", 401, "invalid_api_key"]);
  assert.equal((await service.requests()).messages - messages, 5);
});

check("requests at once share one pending key, and its failure", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    let asked = 0, give;
    const client = lab.client({ apiKey: () => (asked++, new Promise((resolve, reject) => (give = { resolve, reject }))) });
    await client.ready();
    const first = [1, 2, 3].map(() => client.chats.create());
    while (!give) await new Promise(requestAnimationFrame);
    const before = asked;
    give.resolve("dev-key");
    const chats = await Promise.all(first);
    give = undefined;
    const turns = chats.map((chat) => lab.follow(chat.send("hello")));
    const create = lab.refusal(() => client.chats.create());
    while (!give) await new Promise(requestAnimationFrame);
    give.reject(new Error("the login is over"));
    return { before, asked, turns: await Promise.all(turns), create: await create };
  });
  assert.deepEqual([seen.before, seen.asked], [1, 2]);
  for (const error of [...seen.turns.map((turn) => turn.error), seen.create]) {
    assert.deepEqual([error.name, error.code, error.retryable], ["AgentError", "api_key_failed", true]);
    assert.match(error.message, /the login is over/);
  }
});

check("a service that is gone is told as such after all tries", async ({ page }) => {
  const { origin } = idle;
  await idle.close();
  const seen = await page.evaluate(async (baseURL) => {
    const log = [];
    const client = lab.client({ baseURL, maxRetries: 2, onLog: ({ message }) => log.push(message) });
    return { ...(await lab.follow(client.chats.open("chat_any").send("hello"))), log };
  }, origin);
  assert.deepEqual([seen.status, seen.error.name, seen.error.code, seen.error.retryable], ["interrupted", "ConnectionError", "connection_failed", true]);
  assert.deepEqual(seen.log, ["no answer", "trying again", "no answer", "trying again", "no answer", "turn ended"]);
});
