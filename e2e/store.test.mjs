// What web/src/store.ts tells of one request to a store, by XMLHttpRequest and by fetch.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { bundle } from "../web/build.mjs";
import { Browser } from "./support/browser.mjs";

const { outputFiles: [{ text: script }] } = await bundle({ entryPoints: ["src/store.ts"], write: false, format: "esm", sourcemap: false });
const { isOwn, isRedirected } = await import(`data:text/javascript,${encodeURIComponent(script)}`);

test("what is upgraded to https is no redirect, and may be the page's own", () => {
  const redirects = [
    ["https://store.test/a?sig=1", "https://store.test/a?sig=1", false],
    ["http://store.test/a?sig=1", "http://store.test/a?sig=1", false],
    ["http://store.test/a?sig=1", "https://store.test/a?sig=1", false],
    ["http://store.test:80/a#part", "https://store.test/a", false],
    ["http://store.test:8080/a", "https://store.test:8080/a", false],
    ["https://store.test/a", "http://store.test/a", true],
    ["http://store.test/a", "https://store.test/b", true],
    ["http://store.test/a", "https://store.test/a?more", true],
    ["http://store.test/a", "https://other.test/a", true],
    ["http://store.test:8080/a", "https://store.test/a", true],
    ["https://store.test/a", "", true],
  ];
  for (const [asked, answered, redirected] of redirects) assert.equal(isRedirected(new URL(asked), answered), redirected, `${asked} → ${answered}`);
  const own = [
    ["https://page.test/a", "https://page.test", true],
    ["http://page.test/a", "https://page.test", true],
    ["http://page.test:8443/a", "https://page.test:8443", true],
    ["http://page.test/a", "http://page.test", true],
    ["https://page.test/a", "http://page.test", false],
    ["http://page.test:8080/a", "https://page.test", false],
    ["http://store.test/a", "https://page.test", false],
    ["https://page.test/a", "null", false],
  ];
  for (const [url, origin, is] of own) assert.equal(isOwn(new URL(url), origin), is, `${url} of ${origin}`);
});

/** A store whose answers a test writes, and the page that asks it. */
class Store {
  #server;
  /** Of each path, what answers it. */
  answers = {
    "/": (_, response) => response.setHeader("content-type", "text/html").end("<!doctype html><link rel=icon href=data:,>"),
    "/store.mjs": (_, response) => response.setHeader("content-type", "text/javascript").end(script),
  };

  static async start() {
    const store = new Store();
    store.#server = createServer((request, response) => {
      response.setHeader("access-control-allow-origin", "*").setHeader("access-control-allow-methods", "PUT").setHeader("access-control-allow-headers", "*");
      if (request.method === "OPTIONS") return response.end();
      request.resume();
      store.answers[new URL(request.url, store.origin).pathname](request, response);
    });
    await new Promise((resolve) => store.#server.listen(0, "127.0.0.1", resolve));
    store.origin = `http://127.0.0.1:${store.#server.address().port}`;
    return store;
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Sends one request in the page, of bytes unless it says what; how it ended, and when it was told of life. */
const ask = (page, url, more) => page.evaluate(async (url, more) => {
  const { send } = await import("/store.mjs");
  const alive = [];
  const started = performance.now();
  const end = await new Promise((resolve) => {
    const sink = {
      progress: () => {},
      alive() {
        alive.push(performance.now() - started);
        fetch(`/alive?${alive.length}`);
      },
      answered: ({ status, body }) => resolve({ status, length: body.length, body: body.slice(-40) }),
      failed: (detail) => resolve({ failed: detail }),
    };
    const controller = new AbortController();
    send({ method: "PUT", url, base: location.href, headers: [], body: new Blob(["data"]), want: [], ...more }, sink, controller.signal);
    if (more?.stop) setTimeout(() => window.stop());
    if (more?.cancel) setTimeout(() => (controller.abort(), setTimeout(resolve)));
  });
  return { ...end, alive, took: performance.now() - started };
}, url, more);

describe("in a page", () => {
  let store, browser, page;
  before(async () => {
    store = await Store.start();
    browser = await Browser.start();
    page = await browser.open(`${store.origin}/`);
  });
  after(async () => {
    await browser?.close();
    await store?.close();
  });

  const elsewhere = () => store.origin.replace("127.0.0.1", "localhost");
  for (const [by, origin, more] of [["fetch", () => store.origin], ["XMLHttpRequest", elsewhere], ["fetch, of text to another origin", elsewhere, { body: "text" }]]) {
    test(`by ${by}: bytes of the answer are life`, async () => {
      // White space until the page has been told three times, as S3 sends it while it puts parts together.
      let told = 0;
      store.answers["/alive"] = (_, response) => (told++, response.end());
      store.answers["/slow"] = (_, response) => {
        // Without nosniff Chromium shows an XMLHttpRequest nothing before there is enough to tell what it is.
        response.writeHead(200, { "content-type": "application/xml", ...(by === "XMLHttpRequest" && { "x-content-type-options": "nosniff" }) });
        let written = 0;
        const timer = setInterval(() => {
          if (told < 3 && written++ < 200) return response.write(" ");
          clearInterval(timer);
          response.end("<done/>");
        }, 50);
        response.on("close", () => clearInterval(timer));
      };
      const { status, body, alive, took } = await ask(page, `${origin()}/slow`, more);
      assert.deepEqual([status, body.trim()], [200, "<done/>"]);
      assert.ok(alive.length >= 3 && alive.length <= 1 + took / 250, `told ${alive.length} times in ${took} ms`);
      assert.ok(alive.every((at, i) => i === 0 || at - alive[i - 1] >= 250), String(alive));
    });

    test(`by ${by}: an answer without bytes is no life`, async () => {
      store.answers["/empty"] = (_, response) => response.writeHead(201).end();
      const { status, length, alive } = await ask(page, `${origin()}/empty`, more);
      assert.deepEqual([status, length, alive], [201, 0, []]);
    });

    test(`by ${by}: what is stopped by the page has failed, what is cancelled is not told`, async () => {
      store.answers["/never"] = () => {};
      const stopped = await ask(page, `${origin()}/never`, { ...more, stop: true });
      assert.equal(typeof stopped.failed, "string", JSON.stringify(stopped));
      const cancelled = await ask(page, `${origin()}/never`, { ...more, cancel: true });
      assert.deepEqual([cancelled.failed, cancelled.status], [undefined, undefined]);
    });

    test(`by ${by}: a redirect is a failure`, async () => {
      store.answers["/there"] = (_, response) => response.end("there");
      store.answers["/moved"] = (_, response) => response.writeHead(307, { location: "/there" }).end();
      const { failed } = await ask(page, `${origin()}/moved`, more);
      assert.equal(typeof failed, "string");
    });

    test(`by ${by}: an address is in no failure's text`, async () => {
      const { port, hostname } = new URL(origin());
      for (const url of [`http://user:secret@${hostname}:${port}/there?sig=secret`, `http://${hostname}:${port}1234/?sig=secret`, "http://[secret/", "blob:secret"]) {
        const { failed } = await ask(page, url, { ...more, method: "GET" });
        assert.doesNotMatch(failed ?? "", /secret/, url);
      }
    });
  }

  test("by fetch: of an endless answer the beginning is enough", async () => {
    let closed;
    const gone = new Promise((resolve) => (closed = resolve));
    store.answers["/alive"] = (_, response) => response.end();
    store.answers["/endless"] = (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = () => {
        while (!response.destroyed && response.write("é".repeat(10_000)));
      };
      response.on("drain", more).on("close", closed);
      more();
    };
    const { status, length } = await ask(page, `${store.origin}/endless`);
    assert.deepEqual([status, length], [200, 64 << 10]);
    await gone;
  });

  test("an address that is none is named, and not quoted", async () => {
    // In Firefox the error of new URL quotes what it was given.
    await page.evaluate(() => {
      const Native = URL;
      globalThis.URL = class extends Native {
        constructor(url, base) {
          try {
            super(url, base);
          } catch {
            throw new TypeError(`URL constructor: ${url} is not a valid URL.`);
          }
        }
      };
    });
    const { failed } = await ask(page, "http://[secret?sig=secret");
    assert.equal(failed, "the signed address is not a valid address");
  });
});
