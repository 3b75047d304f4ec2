// What the demo page promises beside working: accessible, smooth, and safe from what an answer holds.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chatBed, part, shown } from "./support/chat.mjs";
import { top } from "./support/service.mjs";
import { sum, taskTimes } from "./support/tasks.mjs";

const check = chatBed({ web: join(top, "web", "demo", "dist"), flags: ["-pace", "1ms"] });

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const completed = (page) => shown(page, () => part("message-agent")?.dataset.status === "completed");

async function say(page, text) {
  await page.type(part("composer"), text);
  await page.keyboard.press("Enter");
}

async function violations(page) {
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

const wide = { width: 1280, height: 800 };
const phone = { width: 360, height: 740, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

for (const [size, viewport] of [["wide", wide], ["on a phone", phone]]) {
  for (const scheme of ["light", "dark"]) {
    check(`no accessibility violations: ${size}, ${scheme}`, async ({ page }) => {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
      await page.evaluate(axe);
      const found = {};
      const look = async (state) => (found[state] = await violations(page));
      await look("empty");
      await say(page, "What is 17 × 23, 1/0, and what time is it in Asia/Tokyo?");
      await completed(page);
      await page.click(`${part("reasoning")} summary`);
      await look("filled");
      await page.click('[data-testid="inspector-toggle"]');
      await shown(page, () => document.querySelectorAll('[data-testid="inspector-row"]').length > 5);
      await page.click('[data-testid="inspector-row"] button');
      await look("inspector");
      await page.click("#inspector-close");
      await page.click('[data-testid="settings-toggle"]');
      await page.$eval('[data-testid="set-base-url"]', (input) => (input.value = ""));
      await page.click('[data-testid="settings-apply"]');
      await look("settings with a problem");
      assert.deepEqual(found, { empty: [], filled: [], inspector: [], "settings with a problem": [] });
    }, { viewport });
  }
}

check("nothing is wider than a phone", async ({ page }) => {
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(await overflow(), 0);
  await say(page, "What is 17 × 23, 123456789 * 987654321 * 123456789, and what time is it in Asia/Tokyo?");
  await completed(page);
  assert.equal(await overflow(), 0);
}, { viewport: phone });

/** Ahead of the page: page.faults holds an X-Fault for each file whose name has it, page.give drops files. */
function fileLab() {
  localStorage.setItem("turnwire-demo-connection", JSON.stringify({ baseURL: location.origin, blockSize: "0.25", concurrency: "2" }));
  globalThis.faults = {};
  const { fetch } = globalThis;
  globalThis.fetch = (url, init) => {
    const fault = typeof init?.body === "string" && String(url).endsWith("/upload-url") && faults[JSON.parse(init.body).name];
    return fetch(url, fault ? { ...init, headers: { ...init.headers, "X-Fault": fault } } : init);
  };
  globalThis.make = (name, size) => new File(["spoken words, ".repeat(size / 14)], name, { type: "text/plain", lastModified: 1 });
  globalThis.give = (files) => {
    const dataTransfer = new DataTransfer();
    for (const file of files) dataTransfer.items.add(file instanceof File ? file : make(...file));
    document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
  };
  globalThis.stateOf = (name) => parts("file").find((row) => row.innerText.includes(name))?.dataset.state;
}

/** Puts a file of every state on the page. */
async function everyState(page) {
  const state = (name, wanted) => shown(page, (name, wanted) => stateOf(name) === wanted, name, wanted);
  const press = (name, action) => page.evaluate((name, action) =>
    parts("file").find((row) => row.innerText.includes(name)).querySelector(`[data-action="${action}"]`).click(), name, action);
  await page.evaluate(() => {
    faults["refused.txt"] = "status=400&on=blob";
    for (const name of ["left.txt", "a document with a rather long name that nobody would choose by himself.txt", "second.txt", "paused.txt"]) faults[name] = "stall_bytes=0&on=block";
    give([["refused.txt", 1_400], ["ready.txt", 1_400], ["left.txt", 1_400_000]]);
  });
  await state("refused.txt", "failed");
  await state("ready.txt", "ready");
  await state("left.txt", "uploading");
  await page.reload();
  await state("left.txt", "left");
  await page.evaluate(() => {
    faults["refused.txt"] = "status=400&on=blob";
    for (const name of ["a document with a rather long name that nobody would choose by himself.txt", "second.txt", "paused.txt"]) faults[name] = "stall_bytes=0&on=block";
    give([["refused.txt", 1_400], ["also ready.txt", 1_400], ["paused.txt", 1_400_000]]);
  });
  await state("refused.txt", "failed");
  await state("also ready.txt", "ready");
  await state("paused.txt", "uploading");
  await press("paused.txt", "pause");
  await page.evaluate(() => give([["a document with a rather long name that nobody would choose by himself.txt", 1_400_000], ["second.txt", 1_400_000], ["waiting.txt", 1_400], ["cancelled.txt", 1_400]]));
  await state("second.txt", "uploading");
  await press("cancelled.txt", "cancel");
  await state("cancelled.txt", "cancelled");
  await shown(page, () => parts("ask").length > 0);
  assert.deepEqual(await page.$$eval(part("file"), (rows) => rows.map((row) => row.dataset.state)),
    ["ready", "left", "failed", "ready", "paused", "uploading", "uploading", "waiting", "cancelled"]);
}

for (const [size, viewport] of [["wide", wide], ["on a phone", phone]]) {
  for (const scheme of ["light", "dark"]) {
    check(`no accessibility violations among files: ${size}, ${scheme}`, async ({ page }) => {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
      await everyState(page);
      await page.evaluate(axe);
      assert.deepEqual(await violations(page), []);
      await page.$eval(`${part("file")} .reference summary`, (summary) => summary.click());
      await page.click('[data-testid="settings-toggle"]');
      await page.click('[data-testid="set-advanced"] summary');
      assert.deepEqual(await violations(page), [], "the settings of uploads");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, "nothing is wider than the page");
    }, { viewport, before: fileLab });
  }
}

check("a thousand events a second leave the page responsive", async ({ page, t }) => {
  await page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
  });
  let ms;
  const times = await taskTimes(page, async () => {
    await say(page, "write 3000 words");
    const began = Date.now();
    await completed(page);
    ms = Date.now() - began;
  });
  const { long, words } = await page.evaluate(() => ({ long, words: part("answer").innerText.split(/\s+/).length }));

  const most = Math.max(...times), total = sum(times), slow = times.filter((time) => time > 50);
  t.diagnostic(`${words} words in ${ms} ms; ${times.length} tasks took ${total.toFixed(0)} ms of the thread's time, the longest ${most.toFixed(1)} ms; longtask entries: ${long.join(", ") || "none"}`);
  assert.ok(words >= 3000, `${words} words are shown`);
  // Drawing the whole answer with each word would take more time than there is.
  assert.ok(slow.length <= 3 && most < 150, `tasks over 50 ms of thread time: ${slow}`);
  assert.ok(total < 4_500, `${total} ms of thread time for an answer that takes 3 s at least`);
});

check("files on their way leave the page responsive, and are drawn once a frame", async ({ page, t }) => {
  await page.evaluate(() => {
    globalThis.made = ["one.txt", "two.txt", "three.txt"].map((name) => make(name, 14e6));
    globalThis.frames = globalThis.drawings = 0;
    const frame = () => (frames++, requestAnimationFrame(frame));
    requestAnimationFrame(frame);
    new MutationObserver(() => drawings++).observe(part("files"), { subtree: true, childList: true, attributes: true, characterData: true });
    part("composer").focus();
  });
  const letters = "a question about the files, written while they are on their way";
  const times = await taskTimes(page, async () => {
    await page.evaluate(() => give(made));
    // Who writes meanwhile is not disturbed.
    await page.keyboard.type(letters);
    await shown(page, () => ["one.txt", "two.txt", "three.txt"].every((name) => ["processing", "ready"].includes(stateOf(name))));
  });
  const { frames, drawings, written } = await page.evaluate(() => ({ frames, drawings, written: part("composer").value }));
  assert.equal(written, letters);
  const most = Math.max(...times), total = sum(times), slow = times.filter((time) => time > 50);
  t.diagnostic(`42 MB in 162 blocks: ${drawings} drawings in ${frames} frames; ${times.length} tasks took ${total.toFixed(0)} ms of the thread's time, the longest ${most.toFixed(1)} ms`);
  // A button that is pressed or questions that are offered are drawn by themselves.
  assert.ok(drawings <= frames + 10, `${drawings} drawings in ${frames} frames`);
  assert.ok(slow.length <= 3 && most < 150, `tasks over 50 ms of thread time: ${slow}`);
}, { viewport: wide, before: fileLab });

/** Ahead of the page: a service whose answer attacks, in the text, the reasoning and a tool call. */
function hostileAnswers() {
  globalThis.policyViolations = [];
  document.addEventListener("securitypolicyviolation", (violation) => policyViolations.push(violation.effectiveDirective));
  const attack = [
    `<script>hacked.push("script")</script>`,
    `<img src=x onerror="hacked.push('img')">`,
    `<svg onload="hacked.push('svg')"><a xlink:href="javascript:hacked.push('svg a')"><text>x</text></a></svg>`,
    `<iframe srcdoc="<script>parent.hacked.push('iframe')</script>"></iframe>`,
    `<a href="javascript:hacked.push('a')">html link</a> [link](javascript:hacked.push('link')) [data](data:text/html,<script>1</script>)`,
    `![image](x" onerror="hacked.push('image'))`,
    `<math><mtext><table><mglyph><style><img src=x onerror="hacked.push('mutation')"></style></mglyph></table></mtext></math>`,
    "```js\" onmouseover=\"hacked.push('fence')\n</code></pre><img src=x onerror=hacked.push('code')>\n```",
    `<form action="https://example.org"><button formaction="javascript:hacked.push('form')">send</button></form>`,
    `<base href="https://example.org/"><meta http-equiv="refresh" content="0;url=https://example.org"><link rel="stylesheet" href="https://example.org/x.css">`,
    "the end",
  ].join("\n\n");
  globalThis.hacked = [];
  const event = (type, data) => `data: ${JSON.stringify({ type, data })}\n\n`;
  const { fetch } = globalThis;
  globalThis.fetch = async (url, init) => {
    if (!String(url).endsWith("/messages")) return fetch(url, init);
    const body = [
      event("reasoning_delta", { chunk: attack }),
      event("tool_call_started", { tool_call_id: "1", name: attack }),
      event("tool_call", { tool_call_id: "1", name: attack, arguments: { a: attack } }),
      event("tool_result", { tool_call_id: "1", result: attack }),
      ...Array.from(attack, (chunk) => event("text_delta", { chunk })),
      event("turn_complete", { note: attack }),
    ];
    return new Response(body.join(""), { headers: { "content-type": "text/event-stream" } });
  };
}

for (const bypass of [false, true]) {
  check(`an answer that attacks does nothing, ${bypass ? "also without" : "with"} the page's policy`, async ({ page }) => {
    if (bypass) {
      await page.setBypassCSP(true);
      await page.reload();
    }
    await say(page, "attack");
    await completed(page);
    await page.click(`${part("reasoning")} summary`);
    await page.click('[data-testid="inspector-toggle"]');
    await shown(page, () => document.querySelectorAll('[data-testid="inspector-row"]').length > 5);
    assert.match(await page.$eval(part("answer"), (answer) => answer.innerText), /the end/);
    const { hacked, policyViolations, bad, address } = await page.evaluate(async () => {
      for (const link of part("message-agent").querySelectorAll("a")) link.click();
      // An image that fails says so in a task of its own.
      await new Promise((resolve) => {
        const image = new Image();
        image.onerror = resolve;
        image.src = "/no-such-image";
      });
      const own = [...part("message-agent").querySelectorAll("*")];
      const bad = own.filter((element) => {
        if (/^(script|iframe|object|embed|form|base|meta|link|style)$/i.test(element.localName)) return true;
        return [...element.attributes].some(({ name, value }) => name.startsWith("on") || /^\s*(javascript|data):/i.test(value));
      });
      return { hacked, policyViolations, bad: bad.map((element) => element.outerHTML), address: location.pathname };
    });
    assert.deepEqual({ hacked, bad, address }, { hacked: [], bad: [], address: "/" });
    assert.deepEqual(policyViolations, [], "the policy had nothing to stop");
  }, { before: hostileAnswers });
}
