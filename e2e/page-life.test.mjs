// A page that goes away, comes back out of the back/forward cache, or lies in the background.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { testbed } from "./support/bed.mjs";
import { Browser } from "./support/browser.mjs";
import { engine, reasonFor } from "./support/engines.mjs";
import { Service, top } from "./support/service.mjs";

const check = testbed({ flags: ["-pace", "3ms"] });

for (const [pageHide, status, aborts] of [["abort", "cancelled", 1], ["disconnect", "completed", 0]]) {
  check(`pageHide: "${pageHide}" with a turn under way sends ${aborts === 1 ? "one abort" : "nothing"}`, async ({ page, service }) => {
    const chat = await page.evaluate(async (pageHide) => {
      const chat = await lab.chat({ pageHide });
      const turn = chat.send("count to 1000");
      await new Promise((resolve) => turn.on("text_delta", resolve));
      return chat.id;
    }, pageHide);
    await page.goto("about:blank");
    const record = await service.over(chat);
    assert.deepEqual([record.status, record.aborts], [status, aborts]);
  });
}

check("the abort on pagehide is sent within the event, once a turn, by a request that outlives the page", async ({ page, service }) => {
  const { chats, requests } = await page.evaluate(async () => {
    const requests = (globalThis.requests = []);
    const { fetch } = globalThis;
    globalThis.fetch = (url, init) => (requests.push([String(url), init?.keepalive ?? false]), fetch(url, init));
    const client = lab.client();
    const chats = await Promise.all([1, 2, 3].map(() => client.chats.create()));
    const turns = chats.map((chat) => chat.send("count to 1000"));
    await Promise.all(turns.map((turn) => new Promise((resolve) => turn.on("text_delta", resolve))));
    // The event alone, so that what it sent can be looked at.
    dispatchEvent(new PageTransitionEvent("pagehide"));
    dispatchEvent(new PageTransitionEvent("pagehide"));
    return { chats: chats.map((chat) => chat.id), requests: requests.filter(([url]) => url.endsWith("/abort")) };
  });
  assert.deepEqual(requests.map(([, keepalive]) => keepalive), [true, true, true], "sent within the event, and once a turn");
  for (const chat of chats) assert.deepEqual(((record) => [record.status, record.aborts])(await service.over(chat)), ["cancelled", 1]);
});

// The rest needs a browser that keeps pages and slows those in the back, as people's do.
let service, browser;
before(async () => {
  service = await Service.start("-web", join(top, "e2e", "pages"), "-pace", "3ms");
  browser = await Browser.start([], { peoples: true });
});
after(async () => {
  await browser?.close();
  await service?.close();
});

const kept = (name, run) => test(name, { timeout: 120_000, skip: reasonFor(name) }, run);

/** Opens a page whose helpers are there. */
async function open() {
  const page = await browser.open(`${service.origin}/`);
  await page.waitForFunction(() => "lab" in globalThis);
  return page;
}

/** Leaves the page and comes back to it; says whether it was restored, and why not. */
async function awayAndBack(page) {
  const reasons = [];
  const cdp = engine === "chromium" && (await page.createCDPSession());
  if (cdp) await cdp.send("Page.enable");
  if (cdp) cdp.on("Page.backForwardCacheNotUsed", ({ notRestoredExplanations }) => reasons.push(...notRestoredExplanations.map(({ reason, type }) => `${reason} (${type})`)));
  await page.evaluate(() => {
    globalThis.restored = new Promise((resolve) => addEventListener("pageshow", ({ persisted }) => resolve(persisted)));
  });
  // Another site of the same process would do too, but must not be about:blank: that is never left for a kept page.
  await page.goto(`${service.origin}/lab.js`);
  await page.goBack().catch(() => {});
  const persisted = await page.evaluate(() => globalThis.restored ?? false);
  return { persisted, reasons };
}

const states = {
  "an empty page": async () => {},
  "an idle client": () => void (globalThis.kept = lab.client()),
  "a finished turn": async () => {
    globalThis.kept = lab.client();
    await (await kept.chats.create()).send("count to 3").done();
  },
  "an aborted turn": async () => {
    globalThis.kept = lab.client();
    const turn = (await kept.chats.create()).send("count to 1000");
    await new Promise((resolve) => turn.on("text_delta", resolve));
    await turn.abort();
  },
};

kept("a page is kept in the back/forward cache", async (t) => {
  for (const [name, prepare] of Object.entries(states)) {
    const page = await open();
    await page.evaluate(prepare);
    if (name !== "an empty page") await page.evaluate(() => kept.ready());
    const { persisted, reasons } = await awayAndBack(page);
    t.diagnostic(`${name}: ${persisted ? "restored" : `not restored: ${reasons.join(", ")}`}`);
    assert.ok(persisted, `${name} was not restored: ${reasons}`);
    const text = await page.evaluate(async () => (await (await (globalThis.kept ?? lab.client()).chats.create()).send("count to 3").done()).text);
    assert.equal(text, "1 2 3");
    assert.deepEqual(page.uncaught, []);
    await page.browserContext().close();
  }
});

kept("a turn under way when the page is kept is over when it comes back, and its client works", async (t) => {
  const page = await open();
  const chat = await page.evaluate(async () => {
    globalThis.chat = await lab.chat();
    globalThis.turn = chat.send("count to 1000");
    await new Promise((resolve) => turn.on("text_delta", resolve));
    return chat.id;
  });
  const { persisted, reasons } = await awayAndBack(page);
  t.diagnostic(persisted ? "restored" : `not restored: ${reasons.join(", ")}`);
  assert.deepEqual(((record) => [record.status, record.aborts])(await service.over(chat)), ["cancelled", 1]);
  if (persisted) {
    const seen = await page.evaluate(async () => [turn.status, (await turn.done()).status, (await chat.send("count to 3").done()).text]);
    assert.deepEqual(seen, ["cancelled", "cancelled", "1 2 3"]);
  }
  await page.browserContext().close();
});

kept("a tab in the back, whose timers are slowed, reads its turn to the end", async () => {
  const page = await open();
  await page.evaluate(async () => {
    const chat = await lab.chat({ maxRetries: 2, idleTimeout: 1500 });
    globalThis.followed = lab.follow(chat.send("count to 300", { resume: "replay", headers: { "X-Fault": "times=2&close_events=40&pace_ms=10" } }));
  });
  const front = await page.browserContext().newPage();
  await front.goto("about:blank");
  await front.bringToFront();
  const hidden = await page.evaluate(() => document.visibilityState);
  const seen = await page.evaluate(() => followed);
  assert.equal(hidden, "hidden");
  assert.deepEqual([seen.status, seen.taken.filter(({ type }) => type === "text_delta").length], ["completed", 300]);
  await page.browserContext().close();
});
