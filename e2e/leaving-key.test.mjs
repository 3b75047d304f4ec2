// A page that goes away has no time to ask for a key: the abort carries the one that the message had.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";

const check = testbed({ flags: ["-pace", "5ms"] });

check("with a key that takes a request of its own, reloading the page stops the turn", async ({ page, service }) => {
  const chat = await page.evaluate(async () => {
    const apiKey = async () => (await fetch("/debug/requests"), "dev-key");
    const turn = (await lab.chat({ apiKey })).send("count to 100000");
    await new Promise((resolve) => turn.on("text_delta", resolve));
    return turn.chatId;
  });
  await page.reload();
  const record = await service.over(chat);
  assert.deepEqual([record.status, record.aborts], ["cancelled", 1]);
});

check("a key that has run out meanwhile is asked for again", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    const keys = ["dev-key", "dev-key", "dev-key"];
    let asked = 0;
    const sent = [];
    const client = lab.client({
      apiKey: async () => keys[asked++],
      fetch: (url, init) => {
        // The service has forgotten the key once the abort comes with it.
        const stale = url.endsWith("/abort") && sent.push(asked) === 1;
        return fetch(url, stale ? { ...init, headers: { ...init.headers, authorization: "Bearer stale-key" } } : init);
      },
    });
    const turn = (await client.chats.create()).send("count to 100000");
    await new Promise((resolve) => turn.on("text_delta", resolve));
    await turn.abort();
    return { chat: turn.chatId, sent };
  });
  assert.deepEqual(seen.sent, [2, 3], "the first abort asked for no key, the second for a new one");
  assert.deepEqual((await service.over(seen.chat)).status, "cancelled");
});
