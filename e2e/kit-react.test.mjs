// The hooks in React 18 and 19, in real pages under StrictMode, against the reference service.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { kitPages } from "./support/kits.mjs";

const check = testbed({ web: await kitPages(["react"]), flags: ["-pace", "2ms"] });

/** Declares a test of both Reacts. */
const each = (name, run, { path = "", ...options } = {}) => {
  for (const version of ["18", "19"]) {
    check(`React ${version}: ${name}`, async (bed) => {
      await bed.page.waitForFunction(() => globalThis.kit?.show);
      assert.match(await bed.page.evaluate(() => kit.version), new RegExp(`^${version}\\.`));
      await run(bed);
    }, { at: ({ origin }) => `${origin}/react-react-${version}.html${path}`, ...options });
  }
};

/** Waits for the end of turn n, and gives what is on the page of it. */
async function ended(page, n = 0) {
  await page.waitForFunction((n) => /completed|failed|cancelled|interrupted/.test(document.querySelectorAll("article")[n]?.dataset.status), {}, n);
  return page.evaluate((n) => {
    const article = document.querySelectorAll("article")[n];
    const text = (name) => article.querySelector(name)?.textContent;
    return { status: article.dataset.status, text: text("p"), reasoning: text("details"), error: text("strong"), tools: [...article.querySelectorAll("li")].map((li) => li.textContent) };
  }, n);
}

const chatOf = (page) => page.waitForFunction(() => kit.chat.chatId).then((handle) => handle.jsonValue());

/** Every status that any render showed, in order, each once. */
const statuses = (page) => page.evaluate(() => kit.chats.map(({ status }) => status).filter((status, i, all) => status !== all[i - 1]));

each("a turn is rendered with its reasoning, tools and text", async ({ page, service }) => {
  await page.evaluate(async () => {
    kit.show({});
    void kit.chat.send("What is 17 × 23, and what time is it in Asia/Tokyo?");
  });
  const seen = await ended(page);
  assert.equal(seen.status, "completed");
  assert.match(seen.reasoning, /^This is message 1/);
  assert.match(seen.text, /\*\*391\*\*/);
  assert.deepEqual(seen.tools.map((tool) => tool.split(" ").slice(0, 2)), [["calculator", "finished"], ["clock", "finished"]]);
  assert.match(seen.tools[0], /391/);
  assert.deepEqual(await statuses(page), ["idle", "queued", "streaming", "completed"]);
  const turn = await service.over(await chatOf(page));
  assert.equal(turn.idempotency_key, await page.evaluate(() => kit.chat.turns[0].id));
});

each("what has not changed keeps its identity, and so do the functions", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    kit.show({});
    const { send, stop } = kit.chat;
    await send("count to 3");
    await kit.until(() => kit.chat.status === "completed");
    const [first] = kit.chat.turns;
    await send("count to 20");
    await kit.until(() => kit.chat.turns[1]?.status === "completed");
    const later = kit.chats.filter(({ turns }) => turns.length === 2);
    return { commits: later.length, same: later.every(({ turns }) => turns[0] === first), functions: kit.chats.every((chat) => chat.send === send && chat.stop === stop) };
  });
  assert.ok(seen.commits > 1);
  assert.deepEqual([seen.same, seen.functions], [true, true]);
});

each("stop stops the service", async ({ page, service }) => {
  await page.evaluate(async () => {
    kit.show({});
    void kit.chat.send("count to 100000");
    await kit.until(() => /\b1 2 3/.test(kit.chat.turns[0]?.text));
  });
  await page.click("#stop");
  const seen = await ended(page);
  assert.equal(seen.status, "cancelled");
  assert.match(seen.text, /^1 2 3/);
  assert.equal(seen.error, undefined);
  const turn = await service.over(await chatOf(page));
  assert.deepEqual([turn.status, turn.aborts], ["cancelled", 1]);
});

each("stopped before there is a chat, a message is never sent", async ({ page, service }) => {
  const { messages } = await service.requests();
  await page.evaluate(async () => {
    kit.show({});
    const sent = kit.chat.send("count to 3");
    await kit.chat.stop();
    await sent;
  });
  assert.equal((await ended(page)).status, "cancelled");
  assert.equal((await service.requests()).messages, messages);
  // The chat that was being created is the next message's.
  await page.evaluate(() => kit.chat.send("count to 2"));
  assert.deepEqual([(await ended(page, 1)).text, (await service.over(await chatOf(page))).requests], ["1 2", 1]);
});

for (const [fault, code] of [["cut_events=6", "stream_broken"], ["close_events=6", "stream_closed"]]) {
  each(`an answer that breaks off is shown as interrupted, never as completed: ${fault}`, async ({ page }) => {
    await page.evaluate(async (fault) => {
      kit.show({});
      void kit.chat.send("count to 100", { headers: { "X-Fault": fault } });
    }, fault);
    const seen = await ended(page);
    // Of a connection that is reset the browser may lose what had come last.
    if (fault === "close_events=6") assert.equal(seen.text, "1 2 3");
    else assert.ok("1 2 3".startsWith(seen.text), seen.text);
    assert.deepEqual([seen.status, seen.error], ["interrupted", code]);
    assert.deepEqual((await statuses(page)).filter((status) => !/idle|queued|streaming/.test(status)), ["interrupted"]);
  });
}

each("an error of the service, of a message and of the options is the turn's", async ({ page }) => {
  await page.evaluate(async () => {
    kit.show({});
    await kit.chat.send("count to 9", { headers: { "X-Fault": "error_events=4" } });
    await kit.chat.send("count to 9", { headers: { "X-Fault": "status=400" } });
    await kit.chat.send("count to 9", { idleTimeot: 5 });
  });
  const codes = [];
  for (const n of [0, 1, 2]) codes.push(((seen) => [seen.status, seen.error])(await ended(page, n)));
  assert.deepEqual(codes, [["failed", "model_overloaded"], ["failed", "fault"], ["failed", "invalid_argument"]]);
});

each("a chat that cannot be created fails the message, and the next one tries again", async ({ page }) => {
  await page.evaluate(async () => {
    let refused = 0;
    const client = kit.client({ fetch: (url, init) => (url.endsWith("/chats") && refused++ === 0 ? Promise.resolve(new Response("{}", { status: 403 })) : fetch(url, init)) });
    kit.show({ client });
    await Promise.all([kit.chat.send("count to 2"), kit.chat.send("count to 3")]);
    await kit.chat.send("count to 4");
  });
  const [first, second, third] = [await ended(page, 0), await ended(page, 1), await ended(page, 2)];
  assert.deepEqual([first.status, second.status, third.status, third.text], ["failed", "failed", "completed", "1 2 3 4"]);
});

each("a double click sends once", async ({ page, service }) => {
  const { messages, chats } = await service.requests();
  await page.evaluate(() => kit.show({}));
  await page.click("#send", { clickCount: 2 });
  assert.equal((await ended(page)).status, "completed");
  assert.equal(await page.$$eval("article", ({ length }) => length), 1);
  const now = await service.requests();
  assert.deepEqual([now.messages - messages, now.chats - chats], [1, 1]);
});

for (const layout of [false, true]) {
  each(`an effect${layout ? " of the layout" : ""} that StrictMode runs twice sends once, and its turn lives`, async ({ page, service }) => {
    const { messages } = await service.requests();
    await page.evaluate((layout) => kit.show({ greeting: { text: "count to 5", layout } }), layout);
    assert.deepEqual(((seen) => [seen.status, seen.text])(await ended(page)), ["completed", "1 2 3 4 5"]);
    assert.equal(await page.$$eval("article", ({ length }) => length), 1);
    assert.equal((await service.requests()).messages - messages, 1);
    assert.equal((await service.over(await chatOf(page))).aborts, 0);
  });
}

each("with a turn's id it is tried again in its place, and a completed one is left as it is", async ({ page, service }) => {
  const chat = await page.evaluate(async () => {
    kit.show({});
    await kit.chat.send("count to 9", { headers: { "X-Fault": "times=1&cut_events=5" } });
    await kit.until(() => kit.chat.status === "interrupted");
    const [{ id, message }] = kit.chat.turns;
    await kit.chat.send(message, { idempotencyKey: id });
    await kit.until(() => kit.chat.status === "completed");
    await kit.chat.send(message, { idempotencyKey: id });
    return kit.chat.chatId;
  });
  assert.deepEqual(await page.evaluate(() => kit.chat.turns.map(({ status, text, error }) => [status, text, error === undefined])), [["completed", "1 2 3 4 5 6 7 8 9", true]]);
  assert.equal((await service.over(chat)).requests, 2);
});

for (const [pageHide, status, aborts] of [["abort", "cancelled", 1], ["disconnect", "completed", 0]]) {
  each(`a component that goes away, pageHide "${pageHide}": the turn is ${status} at the service`, async ({ page, service }) => {
    const chat = await page.evaluate(async (pageHide) => {
      kit.show({ client: kit.client({ pageHide }) });
      void kit.chat.send("count to 500");
      await kit.until(() => kit.chat.turns[0]?.text);
      kit.show();
      return kit.chat.chatId;
    }, pageHide);
    const turn = await service.over(chat);
    assert.deepEqual([turn.status, turn.aborts], [status, aborts]);
  });
}

each("sent when the component has gone, a message is stopped before it leaves", async ({ page, service }) => {
  const { messages } = await service.requests();
  await page.evaluate(async () => {
    kit.show({});
    const { send } = kit.chat;
    kit.show();
    await send("count to 500");
  });
  assert.equal((await service.requests()).messages, messages);
});

each("the created chat's id, given back, goes on; another id is another chat, and none a new one", async ({ page, service }) => {
  const [first, second, lengths] = await page.evaluate(async () => {
    kit.show({});
    await kit.chat.send("count to 2");
    await kit.until(() => kit.chat.status === "completed");
    const { chatId } = kit.chat;
    const lengths = [];
    const show = (props) => {
      kit.show(props);
      lengths.push(kit.chat.turns.length);
    };
    show({ chatId });
    void kit.chat.send("count to 500");
    await kit.until(() => kit.chat.turns[1]?.text);
    const other = await kit.current.chats.create();
    show({ chatId: other.id });
    await kit.chat.send("count to 3");
    await kit.until(() => kit.chat.status === "completed");
    show({ chatId: other.id });
    show({});
    return [chatId, other.id, lengths];
  });
  assert.deepEqual(lengths, [1, 0, 1, 0]);
  await service.logged({ msg: "turn aborted", chat: first });
  const statuses = (await service.turns()).filter(({ chat_id }) => [first, second].includes(chat_id)).map(({ chat_id, status, aborts }) => [chat_id, status, aborts]);
  assert.deepEqual(statuses, [[first, "completed", 0], [first, "cancelled", 1], [second, "completed", 0]]);
});

each("at most one render a frame, however fast the stream is", async ({ page }) => {
  const { events, frames, text } = await page.evaluate(async () => {
    kit.show({});
    // What is rendered by now is no stream's.
    kit.frames = [];
    let events = 0;
    await kit.chat.send("count to 2000", { headers: { "X-Fault": "pace_ms=0&byte_by_byte=1" }, onEvent: () => events++ });
    await kit.until(() => kit.chat.status === "completed");
    return { events, frames: kit.frames, text: kit.chat.turns[0].text };
  });
  assert.match(text, / 2000$/);
  assert.ok(events > 2 * frames.length, `${events} events, ${frames.length} renders`);
  assert.deepEqual(frames, [...new Set(frames)], "renders of one frame");
});

/** In the page, ahead of its scripts: it can be hidden, and has no frames then. */
function hideable() {
  let hidden = false;
  const waiting = new Map();
  const { requestAnimationFrame: request, cancelAnimationFrame: cancel } = globalThis;
  globalThis.requestAnimationFrame = (run) => {
    const id = request((time) => {
      if (!waiting.has(id)) return;
      waiting.get(id).late = () => run(time);
      if (!hidden) shown();
    });
    waiting.set(id, {});
    return id;
  };
  globalThis.cancelAnimationFrame = (id) => {
    waiting.delete(id);
    cancel(id);
  };
  const shown = () => {
    for (const [id, { late }] of [...waiting]) {
      if (!late || !waiting.delete(id)) continue;
      late();
    }
  };
  Object.defineProperty(document, "hidden", { get: () => hidden });
  globalThis.hide = (now) => {
    hidden = now;
    document.dispatchEvent(new Event("visibilitychange"));
    if (!hidden) shown();
  };
}

each("a page that is hidden ends up right, and so does one that is hidden and shown meanwhile", async ({ page }) => {
  const texts = await page.evaluate(async () => {
    const commits = (test) => new Promise((resolve) => {
      const look = () => (test() ? resolve() : setTimeout(look, 5));
      look();
    });
    kit.show({});
    hide(true);
    void kit.chat.send("count to 300");
    await commits(() => kit.chat.status === "completed");
    hide(false);
    void kit.chat.send("count to 301");
    // While a frame is waited for.
    await kit.until(() => kit.chat.turns[1]?.text);
    hide(true);
    await commits(() => kit.chat.status === "completed");
    void kit.chat.send("count to 302");
    await commits(() => kit.chat.turns[2]?.text);
    hide(false);
    await commits(() => kit.chat.status === "completed" && kit.chat.turns.length === 3);
    return kit.chat.turns.map(({ text }) => text.split(" ").at(-1));
  });
  assert.deepEqual(texts, ["300", "301", "302"]);
}, { before: hideable });

each("a file is uploaded, then sent with a message", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    kit.show({});
    const file = await kit.upload.upload(new File(["Holidays are in June."], "handbook.txt", { type: "text/plain" }), { purpose: "rag", wait: true });
    await kit.until(() => kit.upload.stage === "done");
    await kit.chat.send([{ type: "text", text: "hello" }, { type: "file", file_id: file.id }]);
    return { file, state: kit.upload, stages: kit.uploads.map(({ stage }) => stage), loaded: kit.uploads.map(({ progress }) => progress?.loadedBytes ?? 0) };
  });
  assert.deepEqual([seen.stages[0], seen.state.stage, seen.state.file, seen.state.progress.loadedBytes, seen.state.error], ["idle", "done", seen.file, 21, undefined]);
  assert.deepEqual(seen.loaded, seen.loaded.toSorted((a, b) => a - b), "progress that goes back");
  assert.equal((await service.file(seen.file.id)).status, "ready");
  assert.match((await ended(page)).reasoning, /parts of the type file/);
});

each("an upload is paused, goes on, and the same data again is the same upload", async ({ page, service }) => {
  const { uploadURLs } = await service.requests();
  const seen = await page.evaluate(async () => {
    kit.show({});
    const data = new Blob([new Uint8Array(3 << 20)]);
    const options = { blockSize: 1 << 20, concurrency: 1, headers: { "X-Fault": "bytes_per_s=2000000&on=block" } };
    const first = kit.upload.upload(data, options);
    const again = kit.upload.upload(data, options);
    await kit.until(() => kit.upload.progress?.loadedBytes > 0);
    kit.upload.pause();
    await kit.until(() => kit.upload.stage === "paused");
    kit.upload.resume();
    const [file, same] = await Promise.all([first, again]);
    await kit.until(() => kit.upload.stage === "done");
    return { id: file.id, same: file === same, shown: kit.upload.file === file };
  });
  assert.deepEqual([seen.same, seen.shown], [true, true]);
  assert.equal((await service.requests()).uploadURLs - uploadURLs, 1);
});

each("an upload that is aborted has no error, one that fails has", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    kit.show({});
    const seen = [];
    const over = async (sent, stage) => {
      const file = await sent;
      await kit.until(() => kit.upload.stage === stage);
      seen.push([stage, String(kit.upload.error?.name), String(file)]);
    };
    const slow = kit.upload.upload(new Blob([new Uint8Array(2 << 20)]), { blockSize: 1 << 20, headers: { "X-Fault": "bytes_per_s=200000&on=block" } });
    await kit.until(() => kit.upload.progress?.loadedBytes > 0);
    await kit.upload.abort();
    await over(slow, "aborted");
    await over(kit.upload.upload(new Blob(["x"]), { headers: { "X-Fault": "status=400&on=upload-url" } }), "failed");
    await over(kit.upload.upload(new Blob(["x"])), "done");
    await over(kit.upload.upload("no data"), "failed");
    return seen;
  });
  assert.deepEqual(seen, [["aborted", "undefined", "undefined"], ["failed", "APIError", "undefined"], ["done", "undefined", "[object Object]"], ["failed", "InvalidArgumentError", "undefined"]]);
});

for (const [how, client, options, status] of [
  ["is aborted", {}, {}, "upload_failed"],
  ['goes on with pageHide "disconnect"', { pageHide: "disconnect" }, {}, "ready"],
  ["goes on with a resumeKey", {}, { resumeKey: "handbook" }, "ready"],
]) {
  each(`the upload of a component that goes away ${how}`, async ({ page, service }) => {
    const id = await page.evaluate(async (client, options) => {
      kit.show({ client: kit.client(client) });
      let id;
      const fetched = globalThis.fetch;
      globalThis.fetch = async (...args) => {
        const response = await fetched(...args);
        if (String(args[0]).endsWith("/upload-url")) id = (await response.clone().json()).file_id;
        return response;
      };
      void kit.upload.upload(new Blob([new Uint8Array(2 << 20)]), { ...options, blockSize: 1 << 20, headers: { "X-Fault": "bytes_per_s=2000000&on=block" } });
      await kit.until(() => kit.upload.progress?.loadedBytes > 0);
      kit.show();
      return id;
    }, client, options);
    assert.equal((await service.fileOnce(id, status)).status, status);
  });
}
