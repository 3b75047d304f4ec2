// WebKitGTK by plain WebDriver, with those operations of Puppeteer's pages that the suites of engines.mjs use.
// https://www.w3.org/TR/webdriver2/

import { execFileSync, spawn } from "node:child_process";
import { freePort } from "./server.mjs";

/** How long a command may take: only a failure takes this long. */
const patience = 120_000;

const element = "element-6066-11e4-a52e-4f735466cecf";
const keys = { Tab: "\uE004", Enter: "\uE007", Escape: "\uE00C", Shift: "\uE008" };

/** MiniBrowser lies among the library's own programs, in no folder of commands. */
function miniBrowser() {
  const files = execFileSync("dpkg", ["-L", "libwebkit2gtk-4.1-0"], { encoding: "utf8" });
  return files.split("\n").find((file) => file.endsWith("/MiniBrowser"));
}

export class WebKit {
  #process;
  #kill;
  #base;
  #session;
  #turn = Promise.resolve();
  /** The window that commands are for. */
  #at;
  /** A window that no page has; the last one's end would be the session's. */
  #home;
  #free = [];
  #origins = new Set();

  static async start() {
    const self = new WebKit();
    const port = await freePort();
    // A group of its own, so that what it starts ends with it.
    const child = (self.#process = spawn("xvfb-run", ["-a", "WebKitWebDriver", "--host=127.0.0.1", `--port=${port}`], { stdio: "ignore", detached: true }));
    self.#kill = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch (error) {
        if (error.code !== "ESRCH") throw error;
      }
    };
    process.once("exit", self.#kill);
    process.once("SIGTERM", () => process.exit(143));
    self.#base = `http://127.0.0.1:${port}`;
    const giveUp = AbortSignal.timeout(patience);
    while (!(await self.command("GET", "/status").catch(() => undefined))?.ready) {
      if (giveUp.aborted || child.exitCode !== null) throw new Error("WebKitWebDriver does not answer");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { sessionId } = await self.command("POST", "/session", {
      capabilities: { alwaysMatch: { browserName: "MiniBrowser", "webkitgtk:browserOptions": { binary: miniBrowser(), args: ["--automation"] } } },
    });
    self.#session = `/session/${sessionId}`;
    await self.command("POST", `${self.#session}/timeouts`, { script: patience, pageLoad: patience });
    self.#home = self.#at = await self.command("GET", `${self.#session}/window`);
    return self;
  }

  async command(method, path, body) {
    const response = await fetch(this.#base + path, { method, body: body && JSON.stringify(body) });
    const { value } = await response.json();
    if (!response.ok) throw Object.assign(new Error(`${value.error}: ${value.message}`), { code: value.error });
    return value;
  }

  /** Gives commands for a window, one after the other: a session has one window at a time. */
  in(handle, commands) {
    const run = this.#turn.then(async () => {
      if (this.#at !== handle) await this.command("POST", `${this.#session}/window`, { handle });
      this.#at = handle;
      return commands((method, path, body) => this.command(method, this.#session + path, body));
    });
    this.#turn = run.catch(() => {});
    return run;
  }

  /** Opens a page, with none of what earlier ones of its origin have stored. */
  async open(url, { before, helpers, viewport } = {}) {
    if (before) throw new Error("WebDriver runs nothing ahead of a page's scripts");
    const page = await this.page();
    page.helpers = helpers;
    if (viewport) await page.setViewport(viewport);
    const { origin } = new URL(url);
    if (this.#origins.has(origin)) {
      await page.goto(`${origin}/favicon.ico`);
      await page.evaluate(clear);
    }
    this.#origins.add(origin);
    await page.goto(url);
    return page;
  }

  async page(pages) {
    return new Page(this, this.#free.pop() ?? (await this.in(this.#home, (ask) => ask("POST", "/window/new", { type: "window" }))).handle, pages);
  }

  /** Takes the window of a page that is no longer wanted. */
  take(handle) {
    this.#free.push(handle);
  }

  async close() {
    await this.command("DELETE", this.#session);
    const exited = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill();
    await exited;
    this.#kill();
    process.off("exit", this.#kill);
  }
}

async function clear() {
  localStorage.clear();
  sessionStorage.clear();
  const settled = (request) => new Promise((resolve, reject) => Object.assign(request, { onsuccess: resolve, onerror: () => reject(request.error) }));
  for (const { name } of await indexedDB.databases()) await settled(indexedDB.deleteDatabase(name));
}

/** What a selector finds; behind " >>> " it looks in the shadow tree of what was found ahead of it, as Puppeteer's do. */
const all = (selector) => selector.split(" >>> ").reduce((roots, part) => roots.flatMap((root) => [...(root.shadowRoot ?? root).querySelectorAll(part)]), [document]);

const loaded = async () => document.readyState !== "complete" && new Promise((resolve) => addEventListener("load", () => resolve(), { once: true }));

/** In the page: notes what nobody caught from here on. */
export function note() {
  globalThis.uncaught = [];
  addEventListener("error", ({ error, message }) => uncaught.push(String(error?.message ?? message)));
  addEventListener("unhandledrejection", ({ reason }) => uncaught.push(String(reason?.message ?? reason)));
}

/**
 * Runs in the page, and gives what the function gives, as text, with what nobody caught meanwhile: no two protocols have the
 * same values, and Firefox tells of a part of the exceptions only.
 */
export const called = (run, args) => `(async () => {
  const take = () => (globalThis.uncaught ?? []).splice(0);
  try {
    const text = JSON.stringify(await (${run})(...${JSON.stringify(args)}));
    return { text, uncaught: take() };
  } catch (error) {
    return { message: String(error?.message ?? error), stack: String(error?.stack ?? ""), uncaught: take() };
  }
})()`;

/** What such a call gave, or throws; page gets what nobody caught. */
export function outcome(page, { text, message, stack, uncaught }) {
  page.uncaught.push(...uncaught);
  if (message !== undefined) throw new Error(`${message}\n${stack}`);
  return text && JSON.parse(text);
}

class Page {
  #browser;
  #handle;
  #url = "about:blank";
  #contexts;
  uncaught = [];
  /** A function that is run in each document of the page, once it is loaded. */
  helpers;

  constructor(browser, handle, pages = []) {
    this.#browser = browser;
    this.#handle = handle;
    this.#contexts = pages;
    pages.push(this);
  }

  #in(commands) {
    return this.#browser.in(this.#handle, commands);
  }

  async #arrive(path, body = {}) {
    this.#url = await this.#in(async (ask) => {
      await ask("POST", path, body);
      // The command may be answered while the document is still being loaded.
      await ask("POST", "/execute/async", { script: `(${loaded})().then(arguments[0])`, args: [] });
      await ask("POST", "/execute/sync", { script: `(${note})(); (${this.helpers ?? "() => {}"})();`, args: [] });
      return ask("GET", "/url");
    });
  }

  goto(url) {
    return this.#arrive("/url", { url });
  }

  reload() {
    return this.#arrive("/refresh");
  }

  goBack() {
    return this.#arrive("/back");
  }

  url() {
    return this.#url;
  }

  async evaluate(run, ...args) {
    return outcome(this, await this.#in((ask) => ask("POST", "/execute/async", { script: `${called(run, args)}.then(arguments[0])`, args: [] })));
  }

  /** Asks again and again in the page itself until the answer is truthy. */
  async waitForFunction(predicate, _, ...args) {
    const value = await this.evaluate(`async (...args) => {
      for (;;) {
        const value = await (${predicate})(...args);
        if (value) return value;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }`, ...args);
    return { jsonValue: async () => value };
  }

  $eval(selector, run, ...args) {
    return this.evaluate(`(selector, ...args) => (${run})((${all})(selector)[0], ...args)`, selector, ...args);
  }

  $$eval(selector, run, ...args) {
    return this.evaluate(`(selector, ...args) => (${run})((${all})(selector), ...args)`, selector, ...args);
  }

  /** The first element that fits, or null. */
  async $(selector) {
    const [found] = await this.$$(selector);
    return found ?? null;
  }

  async $$(selector) {
    const found = await this.#in((ask) => (selector.startsWith("xpath/")
      ? ask("POST", "/elements", { using: "xpath", value: selector.slice("xpath/".length) })
      : ask("POST", "/execute/sync", { script: `return (${all})(arguments[0])`, args: [selector] })));
    return found.map(({ [element]: id }) => ({
      click: () => this.#in((ask) => ask("POST", `/element/${id}/click`, {})),
      type: (text) => this.#in((ask) => ask("POST", `/element/${id}/value`, { text })),
      uploadFile: (...paths) => this.#in((ask) => ask("POST", `/element/${id}/value`, { text: paths.join("\n") })),
    }));
  }

  async click(selector) {
    await (await this.$(selector)).click();
  }

  async type(selector, text) {
    await (await this.$(selector)).type(text);
  }

  #press(actions) {
    return this.#in((ask) => ask("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] }));
  }

  keyboard = {
    down: (key) => this.#press([{ type: "keyDown", value: keys[key] }]),
    up: (key) => this.#press([{ type: "keyUp", value: keys[key] }]),
    press: (key) => this.#press([{ type: "keyDown", value: keys[key] }, { type: "keyUp", value: keys[key] }]),
    type: (text) => this.#press([...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }])),
  };

  setViewport({ width, height }) {
    return this.#in((ask) => ask("POST", "/window/rect", { width, height }));
  }

  async screenshot() {
    return Buffer.from(await this.#in((ask) => ask("GET", "/screenshot")), "base64");
  }

  /** Closes the window, as a person does. */
  async close() {
    const handle = this.#handle;
    this.#handle = undefined;
    await this.#browser.in(handle, (ask) => ask("DELETE", "/window"));
  }

  async #leave() {
    if (!this.#handle) return;
    await this.#in((ask) => ask("POST", "/url", { url: "about:blank" }));
    this.#browser.take(this.#handle);
  }

  browserContext() {
    return {
      newPage: () => this.#browser.page(this.#contexts),
      close: async () => {
        for (const page of this.#contexts) await page.#leave();
      },
    };
  }
}
