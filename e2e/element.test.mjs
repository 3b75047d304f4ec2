// <turnwire-chat> in pages of its own: under the least policy that docs/policies.md names, and Trusted Types that let nothing
// through. Whatever a test does, the browser has nothing to report in the end.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folder as dist } from "./support/build.mjs";
import { chatBed, ended, part, shown } from "./support/chat.mjs";
import { Host, packaged } from "./support/host.mjs";
import { temporaryFolder } from "./support/server.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>A page with a chat</title>
<link rel="icon" href="/icon.png">
<script type="module" src="/page.js"></script>
<main><h1>A page with a chat</h1></main>
</html>
`;

const script = `
import * as turnwire from "/pkg/turnwire.mjs";
import { chatStrings } from "/pkg/element.mjs";
// No policy lets the worker's script pass.
turnwire.init({ workerURL: false });
const where = { baseURL: new URL(location).searchParams.get("base"), workspaceId: "demo", agentId: "assistant" };
Object.assign(globalThis, { turnwire, chatStrings, where });
globalThis.client = (options) => new turnwire.AgentClient({ ...where, apiKey: "dev-key", ...options });
globalThis.make = (properties) => {
  const chat = document.createElement("turnwire-chat");
  chat.heard = [];
  for (const type of ["turn", "turnend", "statechange", "file", "error"]) {
    chat.addEventListener(type, ({ detail }) => chat.heard.push({ ...detail, type, turn: detail?.turn?.status }));
  }
  Object.assign(chat, { ...where, apiKey: "dev-key", ...properties });
  document.querySelector("main").append(chat);
  return chat;
};
globalThis.ready = true;
`;

/** Ahead of the page: what the browser reports, and a fault for every message or file that follows. */
function lab() {
  globalThis.violations = [];
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => violations.push(`${effectiveDirective} ${blockedURI}`));
  globalThis.faults = {};
  const { fetch } = globalThis;
  globalThis.fetch = (url, init) => {
    const fault = faults[new URL(url).pathname.split("/").at(-1)];
    return fetch(url, fault ? { ...init, headers: { ...init.headers, "X-Fault": fault } } : init);
  };
}

let host;
before(async () => {
  host = await Host.start({});
});
after(() => host?.close());

const folder = temporaryFolder("element");
after(() => folder.remove());

const bed = chatBed({ flags: ["-pace", "2ms"], before: lab, viewport: { width: 900, height: 760 }, at: () => "about:blank" });

/** Declares a test in the page, once it is there. */
function check(name, run) {
  bed(name, async (bed) => {
    const { page, service } = bed;
    const policy = `default-src 'none'; img-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${service.origin}; require-trusted-types-for 'script'; trusted-types 'none'`;
    host.files = {
      "/": { headers: { "content-type": "text/html", "content-security-policy": policy }, body: html },
      "/page.js": { body: script }, "/icon.png": { headers: { "content-type": "image/png" } }, ...packaged(),
    };
    await page.goto(`${host.origin}/?base=${encodeURIComponent(service.origin)}`);
    await shown(page, () => globalThis.ready);
    await run(bed);
    assert.deepEqual(await page.evaluate(() => violations), [], "the policy had nothing to stop");
  });
}

/** Puts an element into the page; gives a handle. */
const make = (page, properties = {}) => page.evaluateHandle((properties) => globalThis.chat = make(properties), properties);

async function say(page, text) {
  await page.type(part("composer"), text);
  await page.keyboard.press("Enter");
}

check("a message is answered, with reasoning, tools and Markdown, and the page hears of it", async ({ page, service }) => {
  await make(page);
  await say(page, "What is 17 × 23, and what time is it in Asia/Tokyo?");
  assert.equal(await ended(page), "completed");
  const seen = await page.evaluate(() => ({
    tools: parts("tool-name").map((name) => name.innerText),
    reasoning: part("reasoning").dataset.status,
    bold: [...part("answer").querySelectorAll("strong")].map((strong) => strong.innerText),
    heard: chat.heard, running: chat.running, id: chat.chatId,
  }));
  assert.deepEqual([seen.tools, seen.reasoning, seen.running], [["calculator", "clock"], "thought", false]);
  assert.ok(seen.bold.includes("391"), `bold: ${seen.bold}`);
  const message = "What is 17 × 23, and what time is it in Asia/Tokyo?";
  assert.deepEqual(seen.heard, [
    { type: "statechange" }, { type: "turn", message, turn: "queued" }, { type: "statechange" }, { type: "statechange" },
    { type: "turnend", message, turn: "completed", status: "completed" },
  ].map((heard) => ({ turn: undefined, ...heard })).map(({ turn, ...heard }) => (turn ? { ...heard, turn } : heard)));
  assert.equal((await service.over(seen.id)).status, "completed");
});

check("a missing or wrong attribute is named, with what it should be, and nothing is sent until it is right", async ({ page, service }) => {
  const before = await service.requests();
  const cases = [
    [{ baseURL: "" }, "base-url", /The attribute base-url of <turnwire-chat> is missing: it must be the address of the service/],
    [{ baseURL: "ftp://service.example" }, "base-url", /base-url .* is no http\(s\) address: it must be/],
    [{ baseURL: "https://service.example/?key=1" }, "base-url", /base-url .* without query, fragment or password/],
    [{ workspaceId: "" }, "workspace-id", /workspace-id .* is missing: it must be the identifier of a workspace, such as "demo"/],
    [{ agentId: "" }, "agent-id", /agent-id .* is missing: it must be the identifier of an agent/],
    [{ apiKey: "two words" }, "apiKey", /A property .* apiKey must be of visible ASCII characters/],
  ];
  for (const [wrong, name, expected] of cases) {
    const chat = await make(page, wrong);
    await shown(page, () => part("problem") && !part("problem").hidden);
    const told = await page.evaluate(() => ({ text: part("problem").innerText, heard: chat.heard.map(({ type, name, error }) => [type, name, error.message]) }));
    assert.match(told.text, expected);
    assert.deepEqual(told.heard, [["error", name, told.heard[0]?.[2]]]);
    assert.ok(told.text.includes(told.heard[0][2]), "the event says what the element says");
    await say(page, "hello");
    assert.equal(await page.evaluate(() => part("composer").value), "hello", "it stays in the field");
    assert.equal(await page.$(part("message-user")), null);
    assert.equal(await chat.evaluate((chat) => (chat.addFiles([new File(["x"], "x.txt")]), parts("file").length)), 0);
    await chat.evaluate((chat) => chat.remove());
  }
  await make(page, { agentId: "" });
  await shown(page, () => !part("problem").hidden);
  assert.deepEqual(await service.requests(), before);
  assert.deepEqual(await page.evaluate(() => [["client", {}], ["dropTarget", null]].map(([name, value]) => {
    try {
      chat[name] = value;
    } catch (error) {
      return error.message;
    }
  })), ["client of <turnwire-chat> must be an AgentClient", "dropTarget of <turnwire-chat> must be an element or the document"]);
  await page.evaluate(() => chat.setAttribute("agent-id", "assistant"));
  await shown(page, () => part("problem").hidden);
  await say(page, "2 + 2");
  assert.equal(await ended(page), "completed");
});

check("the keyboard sends, stops, retries, attaches and removes", async ({ page, service }) => {
  await make(page, { keep: "" });
  const tabTo = async (name) => {
    for (let i = 0; i < 30 && (await page.evaluate(() => held())) !== name; i++) await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => held()), name, `${name} can be reached with Tab`);
  };
  await tabTo("composer");
  await page.keyboard.type("count to 100000");
  await page.keyboard.press("Enter");
  await shown(page, () => /1 2 3/.test(part("answer")?.innerText));
  await tabTo("stop");
  await page.keyboard.press("Enter");
  assert.equal(await ended(page), "cancelled");
  assert.equal((await service.over(await page.evaluate(() => chat.chatId))).status, "cancelled");
  assert.equal(await page.evaluate(() => held()), "composer", "the focus is not lost with the button");
  await page.keyboard.type("count to 100000");
  await page.keyboard.press("Enter");
  await shown(page, () => parts("answer").length === 2);
  await page.keyboard.press("Escape");
  assert.equal(await ended(page, 2), "cancelled");

  await page.evaluate(() => (faults.messages = "close_events=10"));
  await page.keyboard.type("count to 30");
  await page.keyboard.press("Enter");
  assert.equal(await ended(page, 3), "interrupted");
  await page.evaluate(() => (faults = {}));
  await page.keyboard.down("Shift");
  const again = () => page.evaluate(() => holder().innerText === "Pick up again");
  for (let i = 0; i < 30 && !(await again()); i++) await page.keyboard.press("Tab");
  await page.keyboard.up("Shift");
  assert.ok(await again(), "the retry can be reached");
  await page.keyboard.press("Enter");
  await shown(page, () => parts("message-agent")[2].dataset.status === "completed");
  assert.equal((await service.turns()).at(-1).requests, 2, "one turn, asked for twice");

  const path = join(folder.path, "notes.txt");
  writeFileSync(path, "spoken words");
  // Asked for first: the browser has to know of it by the time the key comes.
  const choosing = page.waitForFileChooser();
  await tabTo("attach");
  await page.keyboard.press("Enter");
  await (await choosing).accept([path]);
  await shown(page, () => part("file")?.dataset.state === "ready");
  await page.keyboard.down("Shift");
  for (let i = 0; i < 30 && (await page.evaluate(() => held())) !== "remove"; i++) await page.keyboard.press("Tab");
  await page.keyboard.up("Shift");
  await page.keyboard.press("Enter");
  await shown(page, () => !part("file"));
  assert.equal(await page.evaluate(() => held()), "attach", "the focus is not lost with the file");
});

check("taken out of the page its turn and uploads end as the client says, and put in again the chat goes on", async ({ page, service }) => {
  const begin = (properties) => page.evaluate(async (properties) => {
    faults["upload-url"] = "stall_bytes=0&on=blob";
    const { pageHide, ...rest } = properties;
    globalThis.chat = make({ ...rest, ...(pageHide && { client: client({ pageHide }) }) });
    const began = new Promise((resolve) => chat.addEventListener("turn", ({ detail: { turn } }) => turn.on("event", resolve)));
    const uploading = new Promise((resolve) => chat.addEventListener("file", ({ detail: { state } }) => state === "uploading" && resolve()));
    chat.addFiles([new File(["x".repeat(100)], "left.txt")]);
    chat.send("count to 300");
    await Promise.all([began, uploading]);
    return chat.chatId;
  }, properties);

  const stopped = await begin({});
  // One that is moved goes on.
  await page.evaluate(async () => (document.body.append(chat), await null, document.querySelector("main").append(chat)));
  assert.equal(await page.evaluate(() => chat.running), true);
  const ends = await page.evaluate(() => (chat.remove(), chat.settled().then(() => [chat.heard.find(({ type }) => type === "turnend").status, chat.heard.findLast(({ type }) => type === "file").state])));
  assert.deepEqual(ends, ["cancelled", "cancelled"]);
  assert.equal((await service.over(stopped)).status, "cancelled");
  await page.evaluate(() => ((faults = {}), document.querySelector("main").append(chat), chat.send("good evening")));
  assert.equal(await ended(page, 2), "completed");
  assert.match(await page.evaluate(() => parts("answer").at(-1).innerText), /message 2 of this chat/);
  assert.equal(await page.evaluate(() => chat.chatId), stopped);
  await page.evaluate(() => chat.remove());

  const left = await begin({ pageHide: "disconnect" });
  await page.evaluate(() => chat.remove());
  const record = await service.over(left);
  assert.deepEqual([record.status, record.aborts], ["completed", 0], "the service was told nothing");
  assert.equal(await page.evaluate(() => part("message-agent", chat).dataset.status), "interrupted");
});

check("two on one page do not mix", async ({ page }) => {
  await page.evaluate(async () => {
    globalThis.one = make({});
    globalThis.two = make({ strings: { placeholder: "Fragen Sie …" } });
    const give = (chat, name) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([name], name, { type: "text/plain" }));
      part("composer", chat).dispatchEvent(new DragEvent("drop", { bubbles: true, composed: true, cancelable: true, dataTransfer }));
    };
    one.send("1 + 1");
    two.send("2 + 2");
    give(one, "one.txt");
    give(two, "two.txt");
  });
  await shown(page, () => [one, two].every((chat) => part("message-agent", chat)?.dataset.status === "completed" && part("file", chat)?.dataset.state === "ready"));
  const seen = await page.evaluate(() => [one, two].map((chat) => [parts("message-user", chat), parts("file-name", chat)].map((all) => all.map((each) => each.innerText).join())));
  assert.deepEqual(seen, [["1 + 1", "one.txt"], ["2 + 2", "two.txt"]]);
  const [first, second] = await page.evaluate(() => [one.chatId, two.chatId]);
  assert.notEqual(first, second);
  assert.deepEqual(await page.evaluate(() => [part("composer", one).placeholder, part("composer", two).placeholder]), ["Ask the agent…", "Fragen Sie …"]);
  await page.evaluate(() => (one.send("count to 100000"), one.focus()));
  await shown(page, () => parts("answer", one).length === 2);
  await page.evaluate(() => two.stop());
  assert.equal(await page.evaluate(() => one.running), true);
  await page.keyboard.press("Escape");
  await shown(page, () => !one.running);
});

check("a page replaces its words, and a word that there is not is refused", async ({ page }) => {
  const refused = await page.evaluate(() => {
    const chat = make({});
    return [{ sent: "x" }, { send: 1 }, { answer: "x" }, null].map((strings) => {
      try {
        chat.strings = strings;
      } catch (error) {
        return `${error.name}: ${error.message}`.slice(0, 75);
      }
    });
  });
  assert.deepEqual(refused, [
    "TypeError: strings.sent must be left out, for there is no such string: there are ".slice(0, 75),
    "TypeError: strings.send must be a string, not 1",
    "TypeError: strings.answer must be a function that gives a string, not x",
    "TypeError: strings must be an object of ChatStrings",
  ]);
  await page.evaluate(() => {
    document.querySelector("turnwire-chat").strings = {
      send: "Senden", completed: (took, events) => `Fertig, ${events}`, events: (n) => `${n} Ereignisse`,
      explain: (error, where) => ({ ...chatStrings.explain(error, where), message: `Fehler ${error.code}` }),
    };
  });
  await say(page, "2 + 2");
  assert.equal(await ended(page), "completed");
  assert.match(await page.evaluate(() => part("turn-status").innerText), /^Fertig, \d+ Ereignisse$/);
  assert.equal(await page.$eval(part("send"), (button) => button.ariaLabel), "Senden");
  await page.evaluate(() => (faults.messages = "status=400"));
  await say(page, "2 + 2");
  assert.equal(await ended(page, 2), "failed");
  assert.match(await page.evaluate(() => parts("turn-status").at(-1).innerText), /^Failed: Fehler \w+$/);
});

check("nothing of an answer is taken for HTML", async ({ page }) => {
  const attack = [
    "<img src=x onerror=\"hacked.push('img')\">", "<b onclick=\"hacked.push('b')\">text</b> and <b>bold</b> and x<sup>2</sup>", "[link](javascript:hacked.push('link')) [own](/page.js)",
    "![image](https://example.org/x.png)", "a &lt;b&gt; &amp; &#x263A; &nosuch; `&amp;`", "<script>hacked.push('script')</script>", "| a | b |\n|:-:|--:|\n| 1 | **2** |", "- [x] done\n- [ ] open", "the end",
  ].join("\n\n");
  const seen = await page.evaluate(async (attack) => {
    globalThis.hacked = [];
    const event = (type, data) => `data: ${JSON.stringify({ type, data })}\n\n`;
    const { fetch } = globalThis;
    const body = [...attack].map((chunk) => event("text_delta", { chunk })).join("") + event("turn_complete", {});
    globalThis.chat = make({ client: client({ fetch: (url, init) => (String(url).endsWith("/messages") ? new Response(body, { headers: { "content-type": "text/event-stream" } }) : fetch(url, init)) }) });
    const over = new Promise((resolve) => chat.addEventListener("turnend", resolve));
    chat.send("attack");
    await over;
  }, attack).then(() => shown(page, () => /the end/.test(part("answer")?.innerText) && part("message-agent").dataset.status === "completed")).then(() => page.evaluate(() => {
    const answer = part("answer");
    for (const element of answer.querySelectorAll("*")) element.click();
    return {
      hacked, text: answer.innerText, tags: [...new Set([...answer.querySelectorAll("*")].map(({ localName }) => localName))].sort(),
      links: [...answer.querySelectorAll("a")].map((a) => [a.innerText, a.getAttribute("href")]), handlers: answer.querySelectorAll("[onclick], [onerror], [style]").length,
    };
  }));
  assert.deepEqual([seen.hacked, seen.handlers], [[], 0]);
  assert.deepEqual(seen.links, [["link", null], ["own", null], ["Image: image", "https://example.org/x.png"]]);
  assert.deepEqual(seen.tags, ["a", "b", "code", "div", "li", "p", "sup", "table", "tbody", "td", "th", "thead", "tr", "strong", "ul"].sort());
  assert.match(seen.text, /<img src=x onerror="hacked\.push\('img'\)">/);
  assert.match(seen.text, /a <b> & ☺ &nosuch; &amp;/);
  assert.match(seen.text, /☑ done\n☐ open/);
});

async function violations(page) {
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

check("no accessibility violations: light and dark, left to right and right to left, with trouble", async ({ page }) => {
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await make(page);
  await page.evaluate(() => chat.addFiles([new File(["spoken words"], "words.txt", { type: "text/plain" })]));
  await say(page, "What is 17 × 23, 1/0, and what time is it in Asia/Tokyo?");
  assert.equal(await ended(page), "completed");
  await page.evaluate(() => (faults.messages = "status=400"));
  await say(page, "2 + 2");
  assert.equal(await ended(page, 2), "failed");
  await shown(page, () => part("file")?.dataset.state === "ready" && parts("ask").length > 0);
  await page.evaluate(() => {
    // Of two on one page each has a name of its own.
    globalThis.chat = make({ baseURL: "", strings: { conversation: "Second conversation", message: "Second message" } });
    for (const { style } of document.querySelectorAll("turnwire-chat")) style.height = "30rem";
  });
  await shown(page, () => part("problem", chat).innerText);
  await page.evaluate(axe);
  const found = {};
  for (const scheme of ["light", "dark"]) {
    for (const dir of ["ltr", "rtl"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
      await page.evaluate((dir) => (document.documentElement.dir = dir), dir);
      found[`${scheme} ${dir}`] = await violations(page);
    }
  }
  assert.deepEqual(found, { "light ltr": [], "light rtl": [], "dark ltr": [], "dark rtl": [] });
  // The wire is where the line begins, whichever side that is.
  const sides = await page.evaluate(() => ["ltr", "rtl"].map((dir) => {
    document.documentElement.dir = dir;
    const [message, send] = [part("message-user").firstElementChild, part("send")].map((element) => element.getBoundingClientRect());
    const box = part("message-user").getBoundingClientRect();
    return [Math.round(message.left - box.left) > 0, Math.round(box.right - message.right) > 0, send.left > box.left + box.width / 2];
  }));
  assert.deepEqual(sides, [[true, false, true], [false, true, false]]);
  assert.equal(await page.evaluate(() => chat.shadowRoot.getAnimations().length), 0, "nothing moves for who wants no motion");
});

check("with forced colours everything that only a background shows is still there", async ({ page }) => {
  await make(page);
  await page.evaluate(() => (faults["upload-url"] = "stall_bytes=0&on=blob", chat.addFiles([new File(["x".repeat(5)], "x.txt")])));
  await say(page, "2 + 2");
  assert.equal(await ended(page), "completed");
  const cdp = await page.createCDPSession();
  await cdp.send("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }] });
  const seen = await page.evaluate(() => {
    const style = (element, pseudo) => getComputedStyle(element, pseudo);
    const back = style(part("form")).backgroundColor;
    return {
      forced: matchMedia("(forced-colors: active)").matches,
      meter: style(part("meter").firstElementChild).backgroundColor !== back,
      wire: style(part("message-user"), "::after").backgroundColor !== back,
      send: style(part("send")).borderTopColor !== back && style(part("send")).borderTopStyle,
    };
  });
  assert.deepEqual(seen, { forced: true, meter: true, wire: true, send: "solid" });
});

test("importing it on a server does nothing, and its types declare what it exports", async () => {
  const exported = Object.keys(await import(join(dist, "element.mjs")));
  const types = readFileSync(join(dist, "element.d.ts"), "utf8");
  const declared = [...types.matchAll(/^export (?:declare )?(?:class|function|const) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(declared.sort(), exported.sort());
  assert.equal("customElements" in globalThis, false);
});
