// The same idempotencyKey twice on a chat, as a double click or a framework's second effect sends it.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "1ms"] });

for (const [when, load] of [["once the module runs", true], ["before the module is loaded", false]]) {
  check(`a key under way gives its turn, and nothing is sent: ${when}`, async ({ page, service }) => {
    const { messages } = await service.requests();
    const seen = await page.evaluate(async (load) => {
      const first = await lab.chat();
      const client = load ? lab.client() : undefined;
      await client?.ready();
      const chat = load ? client.chats.open(first.id) : first;
      const turn = chat.send("count to 50", { idempotencyKey: "click" });
      const again = [chat.send("count to 50", { idempotencyKey: "click" })];
      // In the listener: the end may come in the same chunk.
      turn.on("text_delta", () => again.push(chat.send("count to 50", { idempotencyKey: "click" })));
      const followed = await lab.follow(turn);
      return { ...followed, times: again.length, same: again.every((other) => other === turn) };
    }, load);
    assert.deepEqual([seen.status, seen.times, seen.same], ["completed", 51, true]);
    assert.equal((await service.requests()).messages - messages, 1);
    assert.equal((await service.over(seen.chat)).requests, 1);
  });
}

check("a key whose turn has ended is a new turn, which the service replays", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const chat = await lab.chat();
    const turns = [];
    const results = [];
    for (let i = 0; i < 3; i++) {
      turns.push(chat.send("3 + 4", { idempotencyKey: "click" }));
      results.push(await turns[i].done());
    }
    return { chat: chat.id, results, distinct: new Set(turns).size };
  });
  assert.equal(seen.distinct, 3);
  assert.deepEqual(seen.results[1], seen.results[0]);
  assert.deepEqual(seen.results[2], seen.results[0]);
  const record = await service.over(seen.chat);
  assert.deepEqual([record.requests, record.tools.length], [3, 1]);
});

check("in the end event of a turn its key is free again", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const chat = await lab.chat();
    const turn = chat.send("3 + 4", { idempotencyKey: "click" });
    const next = await new Promise((resolve) => turn.on("end", () => resolve(chat.send("3 + 4", { idempotencyKey: "click" }))));
    return { chat: chat.id, distinct: next !== turn, text: (await next.done()).text === turn.text };
  });
  assert.deepEqual([seen.distinct, seen.text], [true, true]);
  assert.equal((await service.over(seen.chat)).requests, 2);
});

check("one key on two chats, or of two clients, is two operations", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const [one, other] = await Promise.all([client.chats.create(), client.chats.create()]);
    const turns = [one, other].map((chat) => chat.send("count to 30", { idempotencyKey: "click" }));
    const elsewhere = lab.client().chats.open(one.id).send("count to 30", { idempotencyKey: "click" });
    const results = await Promise.all([...turns, elsewhere].map((turn) => turn.done()));
    return { chats: [one.id, other.id], distinct: new Set([...turns, elsewhere]).size, statuses: results.map(({ status }) => status) };
  });
  assert.deepEqual([seen.distinct, seen.statuses], [3, ["completed", "completed", "completed"]]);
  // The service shows the turn to the second client, and runs it once.
  assert.equal((await service.over(seen.chats[0])).requests, 2);
  assert.equal((await service.over(seen.chats[1])).requests, 1);
});

check("two chat objects of one client and one id share what is under way", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const client = lab.client();
    const chat = await client.chats.create();
    const turn = chat.send("count to 30", { idempotencyKey: "click" });
    const same = client.chats.open(chat.id).send("count to 30", { idempotencyKey: "click" }) === turn;
    await turn.done();
    return { chat: chat.id, same };
  });
  assert.ok(seen.same);
  assert.equal((await service.over(seen.chat)).requests, 1);
});
