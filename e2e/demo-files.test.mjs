// Files on the demo page: how they come, what a row tells of them, and what the service has of it in the end.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after } from "node:test";
import { chatBed, part, shown } from "./support/chat.mjs";
import { temporaryFolder } from "./support/server.mjs";
import { top } from "./support/service.mjs";

const web = join(top, "web", "demo", "dist");
const check = chatBed({ web, flags: ["-pace", "1ms"] });

const folder = temporaryFolder("demo-files");
after(() => folder.remove());

/** What is on the page around the element. */
const own = (name) => `[data-testid="${name}"]`;

const KiB = 1 << 10;

/** Text of so many bytes that is the file's own. */
function textOf(name, size) {
  const line = `${name} goes on and on, line after line. `;
  return line.repeat(Math.ceil(size / line.length)).slice(0, size);
}

function onDisk(name, text) {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

/** Ahead of the page: small blocks one after the other, requests under page.fault, and what they told of files. */
function lab() {
  localStorage.setItem("turnwire-demo-connection", JSON.stringify({ baseURL: location.origin, blockSize: "0.25", concurrency: "1" }));
  globalThis.fault = "";
  globalThis.fileIds = {};
  const { fetch } = globalThis;
  globalThis.fetch = async (url, init) => {
    const { pathname } = new URL(url, location);
    if (!pathname.startsWith("/v1/")) return fetch(url, init);
    const answer = await fetch(url, fault ? { ...init, headers: { ...init.headers, "X-Fault": fault } } : init);
    if (pathname.endsWith("/upload-url") && answer.ok) fileIds[JSON.parse(init.body).name] = (await answer.clone().json()).file_id;
    return answer;
  };
  globalThis.said = [];
  addEventListener("DOMContentLoaded", () => {
    const announcer = document.querySelector("turnwire-chat").shadowRoot.querySelector('[role="status"]');
    new MutationObserver(() => said.push(announcer.textContent)).observe(announcer, { childList: true, characterData: true, subtree: true });
  });
  globalThis.row = (name) => parts("file").find((row) => row.querySelector(".file-name").textContent === name);
  globalThis.give = (how, files) => {
    const data = new DataTransfer();
    for (const [name, text, lastModified = 1] of files) data.items.add(new File([text], name, { type: "text/plain", lastModified }));
    const init = { bubbles: true, cancelable: true };
    if (how === "paste") return !holder().dispatchEvent(new ClipboardEvent("paste", { ...init, composed: true, clipboardData: data }));
    return !document.body.dispatchEvent(new DragEvent(how, { ...init, dataTransfer: data }));
  };
}

const inLab = { before: lab, viewport: { width: 1280, height: 800 } };

const faults = (page, fault) => page.evaluate((fault) => void (globalThis.fault = fault), fault);
const drop = (page, ...files) => page.evaluate((files) => give("drop", files), files);
const state = (page, name, ...states) => shown(page, (name, states) => states.includes(row(name)?.dataset.state), name, states);
const line = (page, name) => page.evaluate((name) => row(name).innerText, name);
const reads = (page, name, pattern) => shown(page, (name, pattern) => new RegExp(pattern).test(row(name)?.innerText), name, pattern.source);
const press = (page, name, action) => page.evaluate((name, action) => row(name).querySelector(`[data-action="${action}"]:not([hidden])`).click(), name, action);

/** The service's own record of a file. */
async function recordOf(page, service, name) {
  const id = await page.evaluate((name) => fileIds[name], name);
  const answer = await fetch(`${service.origin}/v1/files/${id}`, { headers: { authorization: "Bearer dev-key" } });
  return answer.json();
}

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

check("a file comes by the button, is stored, read, and has its checksum", async ({ page, service }) => {
  const text = textOf("button.txt", 600 * KiB);
  const path = onDisk("button.txt", text);
  const [chooser] = await Promise.all([page.waitForFileChooser(), page.click(part("attach"))]);
  await chooser.accept([path]);
  await state(page, "button.txt", "ready");
  assert.match(await line(page, "button.txt"), /614 kB[^]*Ready[^]*3 blocks/);
  assert.equal(await page.evaluate(() => row("button.txt").querySelector('[role="progressbar"]').getAttribute("aria-valuenow")), "100");
  const sum = await page.evaluate(() => row("button.txt").querySelector(`[part~="file-sum"]`).title);
  assert.equal(sum, `SHA-256 ${sha256(text)}`);
  const record = await recordOf(page, service, "button.txt");
  assert.deepEqual([record.status, record.size, record.checksum, record.purpose], ["ready", text.length, sha256(text), "rag"]);
  const said = await page.evaluate(() => globalThis.said.filter((text) => text.includes("button.txt")));
  assert.match(said.at(-1), /button\.txt: Ready\./);
  assert.ok(said.every((text) => !text.includes("%")), `progress is not announced: ${said}`);
}, inLab);

check("files are dropped anywhere, onto a visible target", async ({ page }) => {
  const paths = [onDisk("dropped one.txt", "one whale"), onDisk("dropped two.txt", "two whales")];
  const cdp = await page.createCDPSession();
  await page.evaluate(() => {
    const target = part("drop");
    globalThis.targets = [];
    new MutationObserver(() => targets.push(target.hidden ? "hidden" : "shown")).observe(target, { attributes: true });
  });
  const drag = (type) => cdp.send("Input.dispatchDragEvent", { type, x: 200, y: 120, data: { items: [], files: paths, dragOperationsMask: 1 } });
  await drag("dragEnter");
  await drag("dragOver");
  await drag("dragCancel");
  await shown(page, () => targets.join() === "shown,hidden");
  await drag("dragEnter");
  await drag("dragOver");
  await drag("drop");
  for (const path of paths) await state(page, basename(path), "ready");
  assert.deepEqual(await page.evaluate(() => targets), ["shown", "hidden", "shown", "hidden"]);
  assert.equal(page.url().startsWith("http"), true, "the page is still there");
}, inLab);

check("a folder is refused in words", async ({ page }) => {
  const cdp = await page.createCDPSession();
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await cdp.send("Input.dispatchDragEvent", { type, x: 200, y: 120, data: { items: [], files: [folder.path], dragOperationsMask: 1 } });
  }
  await shown(page, () => said.some((text) => /folder/.test(text)));
  assert.match(await page.$eval(part("hint"), (hint) => hint.innerText), /folder/, "for who sees the page, too");
  assert.equal(await page.$(part("file")), null);
}, inLab);

check("files are pasted, text is left to the field", async ({ page }) => {
  assert.equal(await page.evaluate(() => give("paste", [["pasted.txt", "pasted text"]])), true, "the page takes it");
  await state(page, "pasted.txt", "ready");
  const taken = await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "copied in an office program");
    data.setData("text/html", "<b>copied in an office program</b>");
    data.items.add(new File(["a picture of it"], "picture.png", { type: "image/png" }));
    return !holder().dispatchEvent(new ClipboardEvent("paste", { bubbles: true, composed: true, cancelable: true, clipboardData: data }));
  });
  assert.equal(taken, false, "the field gets the text");
  assert.equal((await page.$$(part("file"))).length, 1);
}, inLab);

check("two upload at a time, the others wait and can be cancelled", async ({ page, service }) => {
  await faults(page, "stall_bytes=0&on=block");
  await drop(page, ...["a.txt", "b.txt", "c.txt", "d.txt"].map((name) => [name, textOf(name, 512 * KiB)]));
  for (const name of ["a.txt", "b.txt"]) await state(page, name, "uploading");
  assert.deepEqual(await page.$$eval(part("file"), (rows) => rows.map((row) => row.dataset.state)), ["uploading", "uploading", "waiting", "waiting"]);
  assert.equal(await page.$eval(part("files-heading"), (heading) => heading.textContent), "2 uploading, 2 waiting");

  await press(page, "c.txt", "cancel");
  await state(page, "c.txt", "cancelled");
  // The same file twice would be the same upload.
  await drop(page, ["d.txt", textOf("d.txt", 512 * KiB)]);
  await shown(page, () => said.some((text) => /d\.txt is in the list already/.test(text)));
  assert.equal((await page.$$(part("file"))).length, 4);

  await faults(page, "");
  await press(page, "a.txt", "cancel");
  await state(page, "a.txt", "cancelled");
  await state(page, "d.txt", "ready");
  assert.equal((await recordOf(page, service, "a.txt")).status, "upload_failed");
  assert.equal(await page.evaluate(() => "c.txt" in fileIds), false, "what never had its turn is unknown to the service");
  assert.equal(await page.evaluate(() => row("b.txt").dataset.state), "uploading");
}, inLab);

check("pause gives up the place, resume goes on with what is stored", async ({ page, service }) => {
  const text = textOf("paused.txt", 2048 * KiB);
  await faults(page, "stall_bytes=0&on=block&times=1&after=3");
  await drop(page, ["paused.txt", text]);
  await reads(page, "paused.txt", /3\/8 blocks/);
  await press(page, "paused.txt", "pause");
  await state(page, "paused.txt", "paused");
  assert.match(await line(page, "paused.txt"), /Paused[^]*%[^]*3\/8 blocks/);
  await press(page, "paused.txt", "resume");
  await state(page, "paused.txt", "ready");
  const record = await recordOf(page, service, "paused.txt");
  assert.deepEqual([record.status, record.checksum], ["ready", sha256(text)]);
  const storage = await (await fetch(`${service.origin}/debug/storage?file_id=${record.file_id}`)).json();
  const blocks = storage.filter(({ operation, status }) => operation === "block" && status === 201);
  assert.equal(blocks.length, 8, "each block was stored once");
}, inLab);

check("who pauses lets another begin, and waits for a place to go on", async ({ page }) => {
  await faults(page, "stall_bytes=0&on=block");
  await drop(page, ["first.txt", textOf("first.txt", 512 * KiB)], ["second.txt", textOf("second.txt", 512 * KiB)], ["third.txt", textOf("third.txt", 512 * KiB)]);
  await state(page, "second.txt", "uploading");
  await press(page, "first.txt", "pause");
  await state(page, "third.txt", "uploading");
  await press(page, "first.txt", "resume");
  await state(page, "first.txt", "waiting");
  await press(page, "third.txt", "cancel");
  await state(page, "first.txt", "uploading");
}, inLab);

check("a failure says what to do, and is tried again", async ({ page, service }) => {
  await faults(page, "status=400&on=block");
  await drop(page, ["refused.txt", textOf("refused.txt", 512 * KiB)]);
  await state(page, "refused.txt", "failed");
  assert.match(await line(page, "refused.txt"), /Failed: the storage did not take it[^]*details say/);
  await page.evaluate(() => row("refused.txt").querySelector("summary").click());
  assert.match(await line(page, "refused.txt"), /storage_refused[^]*HTTP 400[^]*file_/);
  assert.equal((await recordOf(page, service, "refused.txt")).status, "upload_failed");
  assert.match(await page.evaluate(() => said.at(-1)), /refused\.txt: Failed/);

  await faults(page, "");
  await press(page, "refused.txt", "again");
  await state(page, "refused.txt", "ready");
  assert.equal((await recordOf(page, service, "refused.txt")).status, "ready");
  assert.doesNotMatch(await line(page, "refused.txt"), /Failed|Details/);
}, inLab);

check("what the service does with a file is shown, also when it fails", async ({ page }) => {
  await faults(page, "file_status=indexing&on=file&times=1");
  await drop(page, ["slow.txt", "slow reading"]);
  await reads(page, "slow.txt", /Stored\. The service says: indexing/);
  await state(page, "slow.txt", "ready");
  await faults(page, "processing_error=the letters are too small&on=report");
  await drop(page, ["small.txt", "small letters"]);
  await state(page, "small.txt", "failed");
  assert.match(await line(page, "small.txt"), /Failed: the letters are too small[^]*bytes are stored/);
}, inLab);

check("a question is answered from the file, with its name", async ({ page }) => {
  const guide = "# Guide\n\n## Seahorses\n\nThe seahorse sleeps with its tail around a blade of grass.\n\n## Anglerfish\n\nThe anglerfish carries a lamp of its own.\n";
  await drop(page, ["sea guide.md", guide]);
  const offered = await shown(page, () => parts("ask").map((ask) => ask.textContent).join("\n"));
  assert.equal(await offered.jsonValue(), "What does sea guide.md say about seahorses?\nWhat does sea guide.md say about anglerfish?");
  await page.click(part("ask"));
  await shown(page, () => part("message-agent")?.dataset.status === "completed");
  const card = await page.$eval(part("tool-card"), (card) => card.innerText);
  assert.match(card, /search_files[^]*finished[^]*sea guide\.md/);
  assert.match(await page.$eval(part("answer"), (answer) => answer.innerText), /sea guide\.md[^]*blade of grass/);
}, inLab);

check("a file chosen again after a reload goes on where it was", async ({ page, service }) => {
  const text = textOf("reloaded.txt", 2048 * KiB);
  const path = onDisk("reloaded.txt", text);
  await drop(page, ["done before.txt", "done before the reload"]);
  await state(page, "done before.txt", "ready");
  await faults(page, "stall_bytes=0&on=block&times=1&after=4");
  const input = await page.$(part("file-input"));
  await input.uploadFile(path);
  await reads(page, "reloaded.txt", /4\/8 blocks/);
  const id = await page.evaluate(() => fileIds["reloaded.txt"]);

  await page.reload();
  await state(page, "reloaded.txt", "left");
  assert.match(await line(page, "reloaded.txt"), /50 % is stored\. Choose the file again to go on/);
  assert.match(await line(page, "done before.txt"), /Ready[^]*SHA-256/);
  const [chooser] = await Promise.all([page.waitForFileChooser(), press(page, "reloaded.txt", "choose")]);
  await chooser.accept([path]);
  await state(page, "reloaded.txt", "ready");
  assert.match(await line(page, "reloaded.txt"), /went on at 50 %/);
  const record = await (await fetch(`${service.origin}/v1/files/${id}`, { headers: { authorization: "Bearer dev-key" } })).json();
  assert.deepEqual([record.status, record.checksum], ["ready", sha256(text)]);
  const storage = await (await fetch(`${service.origin}/debug/storage?file_id=${id}`)).json();
  assert.equal(storage.filter(({ operation, status }) => operation === "block" && status === 201).length, 8, "nothing was stored twice");
}, inLab);

check("the keyboard does everything, and the focus is never lost", async ({ page }) => {
  const focused = () => page.evaluate(() => held());
  const focus = (action) => shown(page, (action) => held() === action, action);
  await faults(page, "stall_bytes=0&on=block&times=1&after=1");
  await drop(page, ["keys.txt", textOf("keys.txt", 1024 * KiB)]);
  await reads(page, "keys.txt", /1\/4 blocks/);
  await page.keyboard.down("Shift");
  for (let i = 0; i < 10 && (await focused()) !== "pause"; i++) await page.keyboard.press("Tab");
  await page.keyboard.up("Shift");
  assert.equal(await focused(), "pause");
  await page.keyboard.press("Enter");
  await focus("resume");
  await page.keyboard.press("Enter");
  // It ends while the focus is on a button that it then has no more.
  await state(page, "keys.txt", "ready");
  await focus("remove");
  await page.keyboard.press("Enter");
  await shown(page, () => !part("file"));
  assert.equal(await focused(), "attach");
}, inLab);

check("block size and concurrency are settings that keep the chat", async ({ page }) => {
  const fill = async (name, value) => {
    await page.$eval(own(name), (input) => input.select());
    await page.type(own(name), value);
  };
  await page.type(part("composer"), "2 + 2");
  await page.keyboard.press("Enter");
  await shown(page, () => part("message-agent")?.dataset.status === "completed");
  await page.click(own("settings-toggle"));
  await page.click(`${own("set-advanced")} summary`);
  await fill("set-concurrency", "many");
  await page.click(own("settings-apply"));
  assert.equal(await page.$eval(own("set-concurrency"), (input) => input.getAttribute("aria-invalid")), "true");
  await fill("set-concurrency", "3");
  await fill("set-block-size", "0.125");
  await page.click(own("settings-apply"));
  await shown(page, () => !document.querySelector('[data-testid="settings"]').open);
  assert.ok(await page.$(part("message-agent")), "the chat is still there");
  await drop(page, ["eight.txt", textOf("eight.txt", 1024 * KiB)]);
  await state(page, "eight.txt", "ready");
  assert.match(await line(page, "eight.txt"), /8 blocks/);
}, inLab);

check("another workspace has none of the files", async ({ page, service }) => {
  await faults(page, "stall_bytes=0&on=block");
  await drop(page, ["mine.txt", textOf("mine.txt", 512 * KiB)]);
  await state(page, "mine.txt", "uploading");
  const id = await page.evaluate(() => fileIds["mine.txt"]);
  await page.click(own("settings-toggle"));
  await page.$eval(own("set-workspace"), (input) => (input.value = "elsewhere"));
  await page.click(own("settings-apply"));
  await shown(page, () => !part("file"));
  await service.logged({ msg: "file upload_failed", file: id });
}, inLab);
