// What every suite stands on: one service and one browser a file, one page a test.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser } from "./browser.mjs";
import { Service, top } from "./service.mjs";

/** The page that most tests use: the package and the helpers of e2e/pages/lab.js, on the service's own origin. */
const blank = join(top, "e2e", "pages");

/**
 * Makes the function that declares a test: `check(name, async ({ page, service, browser, t }) => …)`. The page of a
 * test is open at the service's "/" and closed after it; what is left in page.uncaught fails the test.
 */
export function testbed({ web = blank, flags = [] } = {}) {
  const bed = {};
  before(async () => {
    bed.service = await Service.start("-web", web, ...flags);
    bed.browser = await Browser.start();
  });
  after(async () => {
    await bed.browser?.close();
    await bed.service?.close();
  });
  return function check(name, run, options = {}) {
    test(name, { timeout: 120_000, ...options }, async (t) => {
      const page = await bed.browser.open(bed.service.origin + "/", options);
      try {
        await run({ ...bed, page, t });
        assert.deepEqual(page.uncaught, [], "nobody caught these");
      } finally {
        await page.browserContext().close();
      }
    });
  };
}
