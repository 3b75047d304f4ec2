// A browser has six connections to a host: what waits behind six long answers has not been sent, and no limit of its own runs
// meanwhile, whichever step of an upload it is.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { testbed } from "./support/bed.mjs";
import { Files, tickets } from "./support/files.mjs";

const six = 6, limit = 2_000;

// The store has a host of its own, so that the steps can be held up one at a time.
const files = new Files(), store = new Files();
before(() => Promise.all([files.start(), store.start()]));
after(() => Promise.all([files.close(), store.close()]));
const check = testbed({ at: files.page });

/** Opens six turns at a host, whose answers stay open until `over` is called. */
async function occupy(page, host) {
  const { length } = host.of("message");
  await page.evaluate((baseURL, six) => {
    const client = lab.client({ baseURL });
    globalThis.turns = Array.from({ length: six }, (_, i) => client.chats.open(`chat${i}`).send("a long answer"));
    globalThis.ends = Promise.all(turns.map((turn) => lab.settled(turn.done())));
    return Promise.all(turns.map((turn) => new Promise((resolve) => turn.on("text_delta", resolve))));
  }, host.origin, six);
  assert.equal(host.of("message").length - length, six);
  return () => {
    for (const { response } of host.of("message").slice(length)) response.end('data: {"type":"turn_complete","data":{}}\n\n');
  };
}

/** Begins what waits, as `scene`; a limit that runs while it waits ends it. */
const begin = (page, act) => page.evaluate((act, limit) => {
  const scene = (globalThis.scene = { logs: [] });
  scene.client = lab.client({ timeout: limit, onLog: ({ level, message }) => scene.logs.push(`${level}: ${message}`) });
  const upload = () => scene.client.files.upload(new Blob([lab.bytes(1, 3_000)]), { blockSize: 1_000, blockTries: 1, blockTimeout: limit, reportTimeout: 60_000 });
  scene.ended = lab.settled(act === "upload" ? upload().done() : scene.client.files.wait("file0", { interval: 50 }))
    .then(({ error, value }) => (scene.result = { error: error && lab.told(error), value }));
}, act, limit);

/** Lets twice the limit pass after the request was made, frees the connections, and says how what waited ended. */
async function judge(page, over) {
  await page.waitForFunction(() => scene.result || scene.logs.includes("info: waiting for a connection"), { timeout: 10_000 });
  await page.evaluate((limit) => new Promise((resolve) => setTimeout(resolve, 2 * limit)), limit);
  const early = await page.evaluate(() => scene.result);
  assert.equal(early, undefined, `it ended while it waited: ${JSON.stringify(early)}`);
  over();
  const { error, value } = await page.evaluate(() => scene.ended);
  assert.deepEqual([error, value?.status], [undefined, "ready"], JSON.stringify(error));
  for (const { value } of await page.evaluate(() => ends)) assert.equal(value?.status, "completed");
}

/** A ticket for the store's own host. */
const elsewhere = (address) => tickets["azure-block"](address.replace(files.origin, store.origin));

check("a registration waits for a connection, however long", async ({ page }) => {
  files.script();
  const over = await occupy(page, files);
  await begin(page, "upload");
  await judge(page, over);
  assert.deepEqual(files.counts("register", "report", "failure"), { register: 1, report: 1, failure: 0 });
});

check("blocks wait for a connection, however long", async ({ page }) => {
  files.script({ report: (_, __, { file }) => Object.assign(file.record, { status: "ready" }) }, elsewhere);
  store.script();
  store.registered = files.registered;
  const over = await occupy(page, store);
  await begin(page, "upload");
  await files.once("register");
  await judge(page, over);
  assert.deepEqual([store.of("block").length, store.of("commit").length, files.of("failure").length], [3, 1, 0]);
});

check("a report waits for a connection, however long", async ({ page }) => {
  files.script({ report: (_, __, { file }) => Object.assign(file.record, { status: "ready" }) }, elsewhere);
  let commit;
  store.script({ commit: (_, __, { usual }) => void (commit = usual) });
  store.registered = files.registered;
  await begin(page, "upload");
  await store.once("commit");
  const over = await occupy(page, files);
  commit();
  await judge(page, over);
  assert.deepEqual(files.counts("report", "failure"), { report: 1, failure: 0 });
});

check("a poll waits for a connection, however long", async ({ page }) => {
  files.script({ read: (_, __, { file }) => Object.assign(file.record, { status: "ready" }) });
  await page.evaluate(() => lab.client().files.upload(new Blob(["data"])).done());
  const over = await occupy(page, files);
  await begin(page, "wait");
  await judge(page, over);
  assert.equal(files.of("read").length, 1);
});
