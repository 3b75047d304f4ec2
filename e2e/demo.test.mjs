// The demo page as a person uses it: by what is on it, and by what the service sees.

import assert from "node:assert/strict";
import { join } from "node:path";
import { chatBed, ended, part, shown } from "./support/chat.mjs";
import { Service, top } from "./support/service.mjs";

const web = join(top, "web", "demo", "dist");
const check = chatBed({ web, flags: ["-pace", "4ms"] });

const wide = { viewport: { width: 1280, height: 800 } };

/** What is on the page around the element. */
const own = (name) => `[data-testid="${name}"]`;

/** Sends a message in place of whatever is in the field: one that failed goes back there. */
async function say(page, text) {
  await page.$eval(part("composer"), (field) => field.select());
  await page.type(part("composer"), text);
  await page.click(part("send"));
}

const text = (page, name) => page.$eval(part(name), (element) => element.innerText);

/** The chat of the newest turn that the service began. */
const newestChat = async (service) => (await service.newest())?.chat_id;

check("the first words are on the page before the turn is over, and stop ends it at the service", async ({ page, service }) => {
  await say(page, "count to 100000");
  await shown(page, () => /\b1 2 3 4 5\b/.test(part("answer")?.innerText));
  const chat = await newestChat(service);
  assert.equal(service.log.some((record) => record.msg === "turn finished" && record.chat === chat), false);
  assert.equal(await page.$eval(part("message-agent"), (element) => element.dataset.status), "streaming");

  await page.click(part("stop"));
  assert.equal(await ended(page), "cancelled");
  const record = await service.over(chat);
  assert.deepEqual([record.status, record.aborts], ["cancelled", 1]);
  await shown(page, () => /at the service/.test(part("turn-status").innerText));
  // What had come stays, and the next message goes through.
  assert.match(await text(page, "answer"), /1 2 3 4 5/);
  await say(page, "2 + 2");
  assert.equal(await ended(page, 2), "completed");
});

check("reasoning and tool cards go through their states", async ({ page }) => {
  // Slow enough that every state is drawn, also on a machine that draws few frames.
  const service = await Service.start("-web", web, "-pace", "150ms");
  try {
    await page.goto(service.origin + "/");
    await page.evaluate(() => {
      globalThis.states = {};
      new MutationObserver(() => {
        const cards = [...(document.querySelector("turnwire-chat")?.shadowRoot.querySelectorAll('[part="tool-card"], [part="reasoning"]') ?? [])];
        cards.forEach((card, i) => {
          const seen = (states[i] ??= []);
          if (seen.at(-1) !== card.dataset.status) seen.push(card.dataset.status);
        });
      }).observe(document.querySelector("turnwire-chat").shadowRoot, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-status"] });
    });
    await say(page, "What is 17 × 23, and what time is it in Asia/Tokyo?");
    assert.equal(await ended(page), "completed");
    const states = Object.values(await page.evaluate(() => states));
    assert.deepEqual(states, [["thinking", "thought"], ["building", "running", "finished"], ["building", "running", "finished"]]);
    const cards = await page.$$eval(part("tool-card"), (cards) => cards.map((card) => card.innerText));
    assert.match(cards[0], /calculator[^]*17 \* 23[^]*391/);
    assert.match(cards[1], /clock[^]*Asia\/Tokyo[^]*09:00/);
    assert.match(await text(page, "answer"), /391/);
    await page.click(`${part("reasoning")} summary`);
    assert.match(await text(page, "reasoning"), /one calculation|17 \* 23/);
  } finally {
    await service.close();
  }
});

check("an answer is drawn as Markdown", async ({ page }) => {
  await say(page, "1 + 1, 2 + 2 and 3 + 3");
  assert.equal(await ended(page), "completed");
  const cells = await page.$$eval(`${part("answer")} table td`, (cells) => cells.map((cell) => cell.innerText.trim()));
  assert.deepEqual(cells, ["1 + 1", "2", "2 + 2", "4", "3 + 3", "6"]);
});

check("wrong settings are said where they are wrong, and corrected ones work", async ({ page }) => {
  const fill = async (name, value) => {
    await page.$eval(own(name), (input) => input.select());
    await page.type(own(name), value);
  };
  await page.click(own("settings-toggle"));
  await fill("set-base-url", "ftp://example.org");
  await page.click(own("settings-apply"));
  assert.equal(await page.$eval(own("set-base-url"), (input) => input.getAttribute("aria-invalid")), "true");
  await fill("set-base-url", new URL(page.url()).origin);
  await fill("set-api-key", "wrong-key");
  await page.click(own("settings-apply"));
  await shown(page, () => !document.querySelector('[data-testid="settings"]').open);

  await say(page, "2 + 2");
  assert.equal(await ended(page), "failed");
  const told = await text(page, "message-agent");
  assert.match(told, /key/);
  assert.match(told, /Open settings/);
  assert.doesNotMatch(told, /wrong-key/);
  assert.doesNotMatch(await page.evaluate(() => JSON.stringify(localStorage)), /wrong-key/, "the key stays with the tab");

  await page.click(own("settings-toggle"));
  await fill("set-api-key", "dev-key");
  await page.click(own("settings-apply"));
  await say(page, "2 + 2");
  assert.equal(await ended(page), "completed");
  assert.match(await text(page, "answer"), /4/);
});

check("the inspector lists every event, and opens and filters them", async ({ page }) => {
  await page.click(own("inspector-toggle"));
  await say(page, "2 * 21");
  assert.equal(await ended(page), "completed");
  await shown(page, () => [...document.querySelectorAll('[data-testid="inspector-row"]')].some((row) => row.innerText.includes("turn_complete")));
  const total = await page.$eval("#inspector-summary", (summary) => Number(/of (\d+) events/.exec(summary.innerText)[1]));
  const status = await text(page, "turn-status");
  assert.match(status, new RegExp(`\\b${total} events`));

  await page.click('#inspector-filter [data-type="tool_result"]');
  await shown(page, () => document.querySelectorAll('[data-testid="inspector-row"]').length === 1);
  await page.click(`${own("inspector-row")} button`);
  const row = await shown(page, () => document.querySelector('[data-testid="inspector-row"] pre')?.innerText);
  assert.equal(JSON.parse(await row.jsonValue()).result.value, 42);
}, wide);

check("the inspector follows its end when several events come in a frame", async ({ page }) => {
  await page.click(own("inspector-toggle"));
  await say(page, "count to 300");
  assert.equal(await ended(page), "completed");
  await shown(page, () => [...document.querySelectorAll('[data-testid="inspector-row"]')].some((row) => row.innerText.includes("turn_complete")));
}, wide);

/** Ahead of the page: notes the bodies of what it posts. */
function noteBodies() {
  const { fetch } = globalThis;
  globalThis.posted = [];
  globalThis.fetch = (url, init) => {
    if (init?.body) posted.push([new URL(url, location).pathname.split("/").at(-1), JSON.parse(init.body)]);
    return fetch(url, init);
  };
}

check("temporary and model go into the requests", async ({ page }) => {
  await page.$eval(own("temporary"), (box) => box.click());
  await page.type(own("model"), "another-model");
  await say(page, "hello there");
  assert.equal(await ended(page), "completed");
  assert.deepEqual(await page.evaluate(() => posted), [
    ["chats", { agent_id: "assistant", is_temporary: true }],
    ["messages", { parts: [{ type: "text", text: "hello there" }], model: "another-model" }],
  ]);
  assert.equal(await page.$eval(own("temporary"), (box) => box.disabled), true, "decided by the first message");
  await page.click(own("new-chat"));
  assert.equal(await page.$(part("message-agent")), null);
  assert.equal(await page.$eval(own("temporary"), (box) => box.disabled), false);
}, { before: noteBodies });

check("an interrupted answer says so and is picked up with the same key", async ({ page, service }) => {
  await say(page, "count to 30");
  assert.equal(await ended(page), "interrupted");
  await page.evaluate(() => (globalThis.faulty = false));
  const again = await page.$("turnwire-chat >>> [part~=actions] >>> ::-p-text(Pick up again)");
  assert.ok(again, "there is a way to go on");
  await again.click();
  await shown(page, () => part("message-agent").dataset.status === "completed");
  assert.match(await text(page, "answer"), /29 30/);
  const record = (await service.turns()).findLast((turn) => turn.requests > 1);
  assert.deepEqual([record.status, record.requests], ["completed", 2], "one turn, asked for twice");
}, {
  before: () => {
    const { fetch } = globalThis;
    globalThis.faulty = true;
    globalThis.fetch = (url, init) => fetch(url, faulty && String(url).endsWith("/messages") ? { ...init, headers: { ...init.headers, "X-Fault": "close_events=10" } } : init);
  },
});

check("a chat survives a reload", async ({ page }) => {
  await say(page, "2 + 3");
  assert.equal(await ended(page), "completed");
  await page.reload();
  await shown(page, () => part("answer")?.innerText.includes("5"));
  await say(page, "good evening");
  assert.equal(await ended(page, 2), "completed");
  assert.match(await page.$$eval(part("answer"), (answers) => answers.at(-1).innerText), /message 2 of this chat/);
});

check("everything works by keyboard alone", async ({ page, service }) => {
  const focused = () => page.evaluate(() => held());
  const tabTo = async (name) => {
    for (let i = 0; i < 40 && (await focused()) !== name; i++) await page.keyboard.press("Tab");
    assert.equal(await focused(), name, `${name} can be reached with Tab`);
  };
  /** Behind the last field Firefox goes to its own toolbar. */
  const tabBackTo = async (name) => {
    await page.keyboard.down("Shift");
    await tabTo(name);
    await page.keyboard.up("Shift");
  };
  assert.equal(await focused(), "composer", "a reader can type at once");
  await page.keyboard.type("count to 100000");
  await page.keyboard.press("Enter");
  await shown(page, () => /1 2 3/.test(part("answer")?.innerText));
  await page.keyboard.press("Escape");
  assert.equal(await ended(page), "cancelled");
  assert.equal((await service.over(await newestChat(service))).status, "cancelled");

  await tabTo("composer");
  await page.keyboard.type("count to 100000");
  await tabTo("send");
  await page.keyboard.press("Enter");
  await shown(page, () => parts("answer").length === 2);
  await tabTo("stop");
  await page.keyboard.press("Enter");
  assert.equal(await ended(page, 2), "cancelled");

  await tabBackTo("settings-toggle");
  await page.keyboard.press("Enter");
  await shown(page, () => document.querySelector('[data-testid="settings"]').open);
  await page.keyboard.press("Escape");
  await shown(page, () => !document.querySelector('[data-testid="settings"]').open);
  assert.equal(await focused(), "settings-toggle", "the focus comes back");

  await tabBackTo("inspector-toggle");
  await page.keyboard.press("Enter");
  await shown(page, () => document.querySelectorAll('[data-testid="inspector-row"]').length > 5);
  await page.keyboard.press("Escape");
  assert.equal(await focused(), "inspector-toggle", "the focus comes back");

  await tabTo("composer");
  await page.keyboard.down("Shift");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Shift");
  assert.equal(await page.$eval(part("composer"), (field) => field.value), "\n", "Shift+Enter breaks the line");
}, wide);
