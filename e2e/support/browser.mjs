// Chromium with a profile of its own, and pages that notice what goes wrong on them.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

export class Browser {
  #browser;
  #profile;
  #kill;

  /** Starts one; flags are further ones of Chromium. */
  static async start(flags = []) {
    const executablePath = execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
    const self = new Browser();
    self.#profile = mkdtempSync(join(tmpdir(), "turnwire-e2e-"));
    self.#browser = await puppeteer.launch({
      executablePath,
      headless: true,
      // Recorded traffic stays in the page's process, half a kilobyte a request: memory.test would measure that.
      networkEnabled: false,
      userDataDir: self.#profile,
      // A runner that gives up on this file sends SIGTERM: the exit below then ends the browser too.
      handleSIGTERM: false,
      args: [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
        // A page that is not in front is a page all the same: its timers and frames must not be slowed.
        "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
        ...flags,
      ],
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
   * Opens a page in a context of its own and runs `before` on it ahead of any script. page.uncaught collects what
   * nobody caught there: exceptions and rejections.
   */
  async open(url, { before, viewport } = {}) {
    const context = await this.#browser.createBrowserContext();
    const page = await context.newPage();
    page.uncaught = [];
    page.on("pageerror", (error) => page.uncaught.push(String(error?.message ?? error)));
    if (viewport) await page.setViewport(viewport);
    if (before) await page.evaluateOnNewDocument(before);
    await page.goto(url);
    return page;
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
