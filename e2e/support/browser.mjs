// A browser with a profile of its own, and pages that notice what goes wrong on them: Chromium, or in the suites of
// engines.mjs the engine that TURNWIRE_ENGINE names.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { engine } from "./engines.mjs";
import { called, note, outcome, WebKit } from "./webkit.mjs";

const slowing = ["--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"];

const launches = {
  chromium: ({ flags, peoples, extensions }) => ({
    command: "chromium",
    // Through a pipe and with leave to, for Chromium takes extensions from no command line any more.
    ...(extensions && { pipe: true, enableExtensions: true }),
    // Recorded traffic stays in the page's process, half a kilobyte a request: memory.test would measure that.
    networkEnabled: false,
    ignoreDefaultArgs: peoples ? ["--disable-back-forward-cache", ...slowing] : [],
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
      // A page that is not in front is a page all the same: its timers and frames must not be slowed.
      ...(peoples ? ["--enable-features=BackForwardCache"] : slowing),
      ...flags,
    ],
  }),
  firefox: ({ peoples }) => ({
    command: "firefox-esr",
    browser: "firefox",
    extraPrefsFirefox: peoples ? { "fission.bfcacheInParent": true, "browser.sessionhistory.max_total_viewers": -1 } : {},
  }),
};

export class Browser {
  #browser;
  #profile;
  #kill;

  /**
   * Starts one; flags are further ones of Chromium. With `peoples` it keeps pages and slows those in the back, as people's
   * do; with `extensions` it is a Chromium that takes them.
   */
  static async start(flags = [], { peoples = false, extensions = false } = {}) {
    if (engine !== "chromium" && flags.length > 0) throw new Error(`${engine} knows no ${flags}`);
    if (engine === "webkit") return WebKit.start();
    const { command, ...options } = launches[engine]({ flags, peoples, extensions });
    const executablePath = execFileSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" }).trim();
    const self = new Browser();
    self.#profile = mkdtempSync(join(tmpdir(), "turnwire-e2e-"));
    self.#browser = await puppeteer.launch({
      executablePath,
      headless: true,
      userDataDir: self.#profile,
      // A runner that gives up on this file sends SIGTERM: the exit below then ends the browser too.
      handleSIGTERM: false,
      ...options,
    });
    self.#kill = () => {
      self.#browser.process()?.kill("SIGKILL");
      self.#discard();
    };
    process.once("exit", self.#kill);
    process.once("SIGTERM", () => process.exit(143));
    return self;
  }

  /**
   * Opens a page in a context of its own and runs `before` on it ahead of any script, and `helpers`, which need not be
   * there as early: an engine's driver may have no such way. page.uncaught collects what
   * nobody caught there: exceptions and rejections. An extension is in the shared context alone.
   */
  async open(url, { before, helpers, viewport, shared = false } = {}) {
    const context = shared ? this.#browser.defaultBrowserContext() : await this.#browser.createBrowserContext();
    const page = await context.newPage();
    page.uncaught = [];
    if (engine === "firefox") await asText(page);
    else page.on("pageerror", (error) => page.uncaught.push(String(error?.message ?? error)));
    if (viewport) await page.setViewport(viewport);
    for (const script of [helpers, before]) if (script) await page.evaluateOnNewDocument(script);
    await page.goto(url);
    return page;
  }

  /** Takes the extension that lies unpacked in a folder, and gives its id. */
  install(path) {
    return this.#browser.installExtension(path);
  }

  async close() {
    await this.#browser.close();
    process.off("exit", this.#kill);
    this.#discard();
  }

  /** Processes that are just ending may still write to the profile. */
  #discard() {
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** WebDriver BiDi gives an object that two lists hold only once, and not every exception. */
async function asText(page) {
  await page.evaluateOnNewDocument(note);
  const evaluate = page.evaluate.bind(page);
  page.evaluate = async (run, ...args) => outcome(page, await evaluate(called(run, args)));
}
