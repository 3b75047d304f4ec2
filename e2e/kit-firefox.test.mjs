// The doors in Firefox: a turn through each, with the kit's own packages.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import puppeteer from "puppeteer-core";
import { kitPages } from "./support/kits.mjs";
import { Service } from "./support/service.mjs";

/** By kit: shows a chat, sends it a message, and gives the answer that is on the page in the end. */
const turns = {
  react: async (message) => {
    kit.show({});
    await kit.chat.send(message);
    await kit.until(() => kit.chat.status === "completed");
    return document.querySelector("article p").textContent;
  },
  "ai-sdk": async (message) => {
    kit.show({});
    await kit.chat.sendMessage({ text: message });
    await kit.until(() => kit.chat.status === "ready");
    return [...document.querySelectorAll(".assistant .text")].at(-1).textContent;
  },
  "ag-ui": async (message) => {
    kit.show({});
    await kit.say(message, "m1");
    await kit.until(() => /391/.test(kit.texts("assistant").at(-1)));
    return kit.texts("assistant").at(-1);
  },
};

let service, browser;

before(async () => {
  service = await Service.start("-web", await kitPages(Object.keys(turns), ["react-19"]), "-pace", "2ms");
  browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: execFileSync("sh", ["-c", "command -v firefox-esr"], { encoding: "utf8" }).trim(),
    headless: true,
  });
}, { timeout: 120_000 });

after(async () => {
  await browser?.close();
  await service?.close();
});

for (const [kit, turn] of Object.entries(turns)) {
  test(`a turn with tools is rendered in Firefox: ${kit}`, { timeout: 120_000 }, async (t) => {
    const page = await browser.newPage();
    t.after(() => page.close());
    const uncaught = [];
    page.on("pageerror", ({ message }) => {
      // The kits' own schemas try whether they may, and do without.
      if (!/blocked a JavaScript eval/.test(message)) uncaught.push(message);
    });
    await page.goto(`${service.origin}/${kit}-react-19.html`);
    await page.waitForFunction(() => globalThis.kit?.show);
    assert.match(await page.evaluate(turn, "What is 17 × 23, and what time is it in Asia/Tokyo?"), /\*\*391\*\*/);
    assert.deepEqual([(await service.newest()).status, uncaught], ["completed", []]);
  });
}
