// What every suite stands on: one service and one browser a file, one page a test.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser } from "./browser.mjs";
import { reasonFor } from "./engines.mjs";
import { Proxy } from "./proxy.mjs";
import { Service, top } from "./service.mjs";

/** The page that most tests use: the package and the helpers of e2e/pages/lab.js, on the service's own origin. */
const blank = join(top, "e2e", "pages");

/** The address at which a page of the service lies at another origin than the service: its other name. */
export const elsewhere = (service) => `${service.origin.replace("127.0.0.1", "localhost")}/?base=${encodeURIComponent(service.origin)}`;

/**
 * Makes the function that declares a test: `check(name, async ({ page, service, browser, home, t }) => …)`. The page of a
 * test is open at the service's "/", or with `at` at the address that it makes of the service, and closed after it;
 * what is left in page.uncaught fails the test. flags may be a function too, of what runs only once the tests do;
 * chromium are further ones of the browser. A test may have options of its own, for itself and its page; those given
 * here, such as `before`, are every test's. With TURNWIRE_PROXY=1 the pages use turnwire-proxy, without the key; those that
 * a test opens elsewhere do not.
 */
export function testbed({ web = blank, flags = [], env = () => ({}), chromium = [], ...every } = {}) {
  const bed = {};
  before(async () => {
    bed.service = await Service.startWith(env(), "-web", web, ...(typeof flags === "function" ? flags() : flags));
    if (process.env.TURNWIRE_PROXY) bed.proxy = await Proxy.start(bed.service);
    bed.home = `${bed.service.origin}/${bed.proxy?.query ?? ""}`;
    bed.browser = await Browser.start(chromium);
  });
  after(async () => {
    await bed.browser?.close();
    await bed.proxy?.close();
    await bed.service?.close();
  });
  const usual = () => bed.home;
  return function check(name, run, own) {
    const options = { timeout: 120_000, at: usual, skip: reasonFor(name), ...every, ...own };
    test(name, options, async (t) => {
      const page = await bed.browser.open(options.at(bed.service), options);
      try {
        await run({ ...bed, page, t });
        assert.deepEqual(page.uncaught, [], "nobody caught these");
      } finally {
        await page.browserContext().close();
      }
    });
  };
}
