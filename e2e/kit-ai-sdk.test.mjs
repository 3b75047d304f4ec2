// useChat of the AI SDK over the transport, in a real page under StrictMode, against the reference service.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { kitBed } from "./support/kits.mjs";
import { temporaryFolder } from "./support/server.mjs";

const check = await kitBed("ai-sdk");

check("a turn is rendered with its reasoning, tools and text", async ({ page, service }) => {
  const seen = await page.evaluate(async () => {
    kit.show({});
    await kit.chat.sendMessage({ text: "What is 17 × 23, and what time is it in Asia/Tokyo?" });
    await kit.until(() => kit.chat.status === "ready");
    const all = (selector) => [...document.querySelectorAll(`.assistant ${selector}`)].map(({ textContent, dataset }) => [dataset.state, textContent]);
    return { statuses: kit.statuses, ends: kit.ends, key: kit.chat.messages[0].id, reasoning: all(".reasoning"), tools: all(".dynamic-tool"), text: all(".text") };
  });
  assert.deepEqual(seen.statuses, ["ready", "submitted", "streaming", "ready"]);
  assert.deepEqual(seen.ends, [{ isAbort: false, isDisconnect: false, isError: false }]);
  assert.match(seen.reasoning[0].join(), /^done,This is message 1/);
  assert.deepEqual(seen.tools.map(([state, text]) => [state, text.split(" ")[0]]), [["output-available", "calculator"], ["output-available", "clock"]]);
  assert.match(seen.tools[0][1], /391/);
  assert.match(seen.text.at(-1).join(), /^done,[^]*\*\*391\*\*/);
  const turn = await service.newest();
  assert.deepEqual([turn.status, turn.idempotency_key], ["completed", seen.key]);
});

check("stop stops the service", async ({ page, service }) => {
  await page.evaluate(async () => {
    kit.show({});
    void kit.chat.sendMessage({ text: "count to 100000" });
    await kit.until(() => kit.text().startsWith("1 2 3"));
  });
  await page.click("#stop");
  const seen = await page.evaluate(async () => {
    await kit.until(() => kit.ends.length > 0 && kit.chat.status === "ready");
    return { ends: kit.ends, error: String(kit.chat.error) };
  });
  assert.deepEqual(seen, { ends: [{ isAbort: true, isDisconnect: false, isError: false }], error: "undefined" });
  const turn = await service.over((await service.newest()).chat_id);
  assert.deepEqual([turn.status, turn.aborts], ["cancelled", 1]);
});

for (const fault of ["cut_events=6", "close_events=6"]) {
  check(`an answer that breaks off is a disconnect, and never done: ${fault}; sent again, it is the replay of the same turn`, async ({ page, service }) => {
    const seen = await page.evaluate(async (fault) => {
      kit.show({});
      await kit.chat.sendMessage({ text: "count to 9" }, { headers: { "X-Fault": fault } });
      await kit.until(() => kit.chat.status === "error");
      const seen = { text: kit.text(), error: kit.chat.error.name, cause: kit.chat.error.cause.name, ends: [...kit.ends], statuses: [...kit.statuses] };
      await kit.chat.sendMessage({ text: "count to 9", messageId: kit.chat.messages[0].id });
      await kit.until(() => kit.chat.status === "ready");
      return { ...seen, again: kit.text() };
    }, fault);
    // Of a connection that is reset the browser may lose what had come last.
    if (fault === "close_events=6") assert.equal(seen.text, "1 2 3");
    else assert.ok("1 2 3".startsWith(seen.text), seen.text);
    assert.deepEqual([seen.error, seen.cause], ["TypeError", "ConnectionError"]);
    assert.deepEqual(seen.ends, [{ isAbort: false, isDisconnect: true, isError: true }]);
    assert.deepEqual(seen.statuses.filter((status) => status !== "streaming"), ["ready", "submitted", "error"]);
    assert.equal(seen.again, "1 2 3 4 5 6 7 8 9");
    assert.equal((await service.newest()).requests, 2);
  });
}

check("the service's error is shown, and so is a refusal", async ({ page }) => {
  const seen = await page.evaluate(async () => {
    kit.show({});
    const errors = [];
    for (const fault of ["error_events=4", "status=403"]) {
      await kit.chat.sendMessage({ text: "count to 9" }, { headers: { "X-Fault": fault } });
      await kit.until(() => kit.chat.status === "error");
      errors.push([kit.chat.error.name, document.querySelector("strong").textContent]);
    }
    await kit.chat.regenerate();
    await kit.until(() => /regenerate/.test(kit.chat.error?.message));
    return { errors, ends: kit.ends };
  });
  assert.deepEqual(seen.errors.map(([name]) => name), ["Error", "AuthenticationError"]);
  assert.match(seen.errors[0][1], /overloaded/);
  assert.deepEqual(seen.ends, Array(3).fill({ isAbort: false, isDisconnect: false, isError: true }));
});

check("a file that is chosen is uploaded, then sent", async ({ page, service }) => {
  const { path } = temporaryFolder("kit-file");
  writeFileSync(join(path, "handbook.txt"), "Holidays are in June.");
  await page.evaluate(() => kit.show({ upload: { purpose: "rag" } }));
  const input = await page.$("input");
  await input.uploadFile(join(path, "handbook.txt"));
  const { uploadURLs } = await service.requests();
  await page.click("#send");
  await page.evaluate(() => kit.until(() => kit.ends.length > 0 && kit.chat.status === "ready"));
  assert.match(await page.$eval(".assistant .reasoning", ({ textContent }) => textContent), /parts of the type file/);
  assert.equal((await service.requests()).uploadURLs - uploadURLs, 1);
  const { file } = await service.logged({ msg: "file ready" });
  const { name, size, status } = await service.file(file);
  assert.deepEqual([name, size, status], ["handbook.txt", 21, "ready"]);
});

check("two messages of the kit's chat are of one chat of the service", async ({ page, service }) => {
  const { chats } = await service.requests();
  await page.evaluate(async () => {
    kit.show({});
    await kit.chat.sendMessage({ text: "count to 3" });
    await kit.until(() => kit.chat.status === "ready");
    await kit.chat.sendMessage({ text: "count to 4" });
    await kit.until(() => kit.chat.status === "ready");
  });
  assert.equal((await service.requests()).chats - chats, 1);
});

check("at most one render a frame, however fast the stream is", async ({ page }) => {
  const { events, frames, text } = await page.evaluate(async () => {
    let events = 0;
    kit.show({ send: { onEvent: () => events++ } });
    await kit.chat.sendMessage({ text: "count to 500" }, { headers: { "X-Fault": "pace_ms=1" } });
    await kit.until(() => kit.chat.status === "ready");
    return { events, frames: kit.frames, text: kit.text() };
  });
  assert.match(text, / 500$/);
  assert.ok(frames.length > 1 && events > frames.length, `${events} events, ${frames.length} renders`);
  assert.deepEqual(frames, [...new Set(frames)], "renders of one frame");
});
