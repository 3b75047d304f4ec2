// close() ends what the page has, and lets what tells the service of an end go out. Whoever asks for an abort and does not
// wait for it gets no unhandled rejection, whatever the service answers.

import assert from "node:assert/strict";
import { elsewhere, testbed } from "./support/bed.mjs";

// A turn of two seconds: long enough to be stopped, short enough to show soon that it was not. From another origin the
// browser asks first whether it may: an abort that is cancelled meanwhile never leaves.
const check = testbed({ flags: ["-pace", "10ms"], at: elsewhere, before: underWay });

/** In the page: turns under way, and what nobody caught on the page. */
function underWay() {
  const unhandled = [];
  addEventListener("unhandledrejection", ({ reason }) => unhandled.push(lab.told(reason)));
  /** A turn with its chat, its client and what that logs; fault and signal are its message's, the rest are the client's options. */
  globalThis.begin = async ({ fault = "tag=none", signal, ...options } = {}) => {
    const records = [];
    let answer;
    // Resolves when the module has all of the answer to an abort, and everything has run that this can start.
    const answered = new Promise((resolve) => (answer = resolve)).then(async () => {
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve));
    });
    const own = async (url, init) => {
      const response = await fetch(url, init);
      if (!url.endsWith("/abort")) return response;
      const body = await response.arrayBuffer();
      answer();
      return new Response(response.status === 204 ? null : body, response);
    };
    const client = lab.client({ onLog: (record) => records.push(record), fetch: own, ...options });
    const chat = await client.chats.create();
    const turn = chat.send("count to 200", lab.fault(fault, { signal }));
    await new Promise((resolve) => turn.on("text_delta", resolve));
    return { client, chat, turn, records, answered, unhandled };
  };
  /** Closes the client, and waits for what somebody waits for; nobody does where nothing is given. */
  globalThis.closing = async ({ client, turn }, aborted) => {
    const told = lab.settled(Promise.resolve(aborted));
    client.close();
    const { error } = await told;
    return { chat: turn.chatId, status: turn.status, error: error && lab.told(error) };
  };
}

/** Declares a test of a way to stop a turn right before close(): the service hears of it once, and nobody of an error. */
function heard(name, stop, here = "cancelled") {
  check(name, async ({ page, service }) => {
    const seen = await page.evaluate(stop);
    const record = await service.over(seen.chat);
    assert.deepEqual([seen.error, seen.status, record.status, record.aborts], [undefined, here, "cancelled", 1]);
  });
}

heard("turn.abort() and then close(): the service hears the abort, and it resolves", async () => {
  const scene = await begin();
  return closing(scene, scene.turn.abort());
});

heard("turn.abort() that nobody awaits, and then close(), the clean-up of a component", async () => {
  const scene = await begin();
  scene.turn.abort();
  return closing(scene);
});

heard("a signal that is aborted, and then close()", async () => {
  const cancel = new AbortController();
  const scene = await begin({ signal: cancel.signal });
  cancel.abort();
  return closing(scene);
});

heard("leaving a loop early, and then close()", async () => {
  const scene = await begin();
  for await (const event of scene.turn) if (event.type === "text_delta") break;
  return closing(scene);
});

// Of its chat's abort a turn is not told: close() ends it.
heard("chat.abort() and then close(): the service hears it, and it resolves", async () => {
  const scene = await begin();
  return closing(scene, scene.chat.abort());
}, "interrupted");

heard("an abort whose key takes a request goes out after close()", async () => {
  const scene = await begin({ apiKey: async () => (await fetch("/lab.js"), "dev-key") });
  return closing(scene, scene.chat.abort());
}, "interrupted");

heard("an abort that is answered 503 is tried again after close()", async () => {
  const scene = await begin({ fault: "on=abort&times=1&status=503&retry_after=0", maxRetries: 2 });
  return closing(scene, scene.turn.abort());
});

check("an abort that is refused after close() tells its promise the service's answer", async ({ page }) => {
  const errors = await page.evaluate(async () => {
    const fault = "on=abort&status=403";
    const one = await begin({ fault });
    const refused = [closing(one, one.turn.abort())];
    const other = await begin({ headers: { "X-Fault": fault } });
    refused.push(closing(other, other.chat.abort()));
    return (await Promise.all(refused)).map(({ error }) => error);
  });
  for (const error of errors) assert.deepEqual([error?.name, error?.status, error?.code], ["AuthenticationError", 403, "fault"]);
});

for (const closed of [false, true]) {
  check(`an abort that is refused${closed ? " after close()" : ""} and that nobody awaits is logged, and is no unhandled rejection`, async ({ page, service }) => {
    const seen = await page.evaluate(async (closed) => {
      const { client, turn, records, answered, unhandled } = await begin({ fault: "on=abort&status=403" });
      turn.abort();
      if (closed) client.close();
      // Cancelled, it is never answered, and what nobody caught is there at once.
      await Promise.race([answered, new Promise((resolve) => addEventListener("unhandledrejection", resolve))]);
      const told = records.some(({ level, fields }) => (level === "warn" || level === "error") && fields.path?.endsWith("/abort"));
      return { chat: turn.chatId, told, unhandled };
    }, closed);
    assert.deepEqual(seen.unhandled, []);
    assert.ok(seen.told, "a record of the failure");
    await service.over(seen.chat);
  });
}

check("whoever asks again for an abort that was refused is told", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { turn, answered, unhandled } = await begin({ fault: "on=abort&status=403" });
    turn.abort();
    await answered;
    return { error: (await lab.refusal(() => turn.abort()))?.status, unhandled };
  });
  assert.deepEqual(seen, { error: 403, unhandled: [] });
});
