// The documentation as it is served: found, read and searched by a person, and nothing asked of any other host.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { testbed } from "./support/bed.mjs";
import { top } from "./support/service.mjs";

const built = join(top, ".cache", "docs");
const check = testbed({
  viewport: { width: 1280, height: 900 },
  before: () => {
    window.violations = [];
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => window.violations.push(`${violatedDirective} ${blockedURI}`));
  },
  at: ({ origin }) => `${origin}/docs/`,
});

const heading = (page, text) => page.waitForFunction((text) => [...document.querySelectorAll("h1")].some((h1) => h1.textContent === text), {}, text);

/** Clicks what is called so in a part of the page, once it is there. */
async function click(page, part, text) {
  const link = await page.waitForFunction(
    (part, text) => [...document.querySelectorAll(`${part} a`)].find((link) => link.textContent.trim() === text), {}, part, text,
  );
  await link.click();
}

/** What the page's policy refused, and what it asked of others. */
const strange = (page) => page.evaluate(() => [
  ...window.violations,
  ...performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => new URL(name).origin !== location.origin),
]);

check("from the index to a page, and on to a class", async ({ page }) => {
  await heading(page, "Documentation");
  assert.deepEqual(await strange(page), []);
  await click(page, ".col-content", "Turns");
  await heading(page, "Turns");
  assert.deepEqual(await strange(page), []);
  await click(page, ".site-menu", "turnwire");
  await click(page, ".col-content", "AgentClient");
  await heading(page, "Class AgentClient");
  assert.match(await page.$eval(".col-content", (content) => content.textContent), /Resolves when the module runs/);
  assert.deepEqual(await strange(page), []);
});

check("by search", async ({ page }) => {
  await page.click("#tsd-search-trigger");
  await page.waitForSelector("#tsd-search[open] input");
  await page.type("#tsd-search-input", "idleTimeout");
  const found = await page.waitForSelector("#tsd-search-results a[href*='#idletimeout']");
  await found.evaluate((link) => link.click());
  await heading(page, "Interface ClientOptions");
  assert.match(page.url(), /#idletimeout$/);
  assert.deepEqual(await strange(page), []);
});

test("every link within it leads somewhere", () => {
  const pages = readdirSync(built, { recursive: true }).filter((name) => name.endsWith(".html"));
  assert.ok(pages.length > 60, `${pages.length} pages`);
  const read = new Map(pages.map((name) => [join(built, name), readFileSync(join(built, name), "utf8")]));
  const ids = new Map([...read].map(([path, html]) => [path, new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id))]));
  const lost = new Set();
  for (const [path, html] of read) {
    for (const [, attribute, address] of html.matchAll(/ (href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(address)) {
        if (attribute === "src") lost.add(`${path} loads ${address}`);
        continue;
      }
      const [file, id] = address.split("#");
      const to = file ? resolve(dirname(path), decodeURI(file)) : path;
      if (!existsSync(to) || (id && ids.has(to) && !ids.get(to).has(decodeURIComponent(id)))) lost.add(`${path}: ${address}`);
    }
  }
  assert.deepEqual([...lost], []);
});
