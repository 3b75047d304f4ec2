// From an empty folder to a chat, by what README says and nothing else. Not among the *.test.mjs, for `make demo` writes
// web/dist anew, which those read.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { run } from "../scripts/run.mjs";
import { Browser } from "./support/browser.mjs";
import { openChat, send, shows } from "./support/chat-page.mjs";
import { blocks } from "./support/docs.mjs";
import { pack } from "./support/examples.mjs";
import { temporaryFolder } from "./support/server.mjs";
import { top } from "./support/service.mjs";

const readme = blocks("README.md");
/** The commands of README, without `make test`, in which this runs. */
const commands = readme.filter(({ from }) => from === "newcomer")
  .flatMap(({ code }) => code.trim().split("\n").map((line) => line.replace(/\s+#.*/, ""))).filter((command) => command !== "make test");
const app = readme.find(({ from }) => from.startsWith("examples/vite-react/"));

const running = [];
after(async () => {
  for (const stop of running.reverse()) await stop();
});

/** Runs what goes on running, until it says where it serves; a shell's whole family ends with it. */
async function serve(command, cwd, env) {
  const child = spawn("sh", ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const kill = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  process.once("exit", kill);
  running.push(() => (kill(), ended));
  let said = "";
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => {
      said = stripVTControlCharacters(said + text);
      const [, address] = /(?:listening on|Local:) +(http:\S+)\s/.exec(said) ?? [];
      if (address) resolve(address);
    });
    ended.then((code) => reject(new Error(`${command} ended with ${code}: ${said}`)));
  });
}

test("from an empty folder to an answer, in at most eight commands and edits", { timeout: 600_000 }, async () => {
  assert.ok(commands.length + 1 <= 8, `${commands.join(", ")}, and an edit`);
  const [demo, ...rest] = commands;
  assert.equal(demo, "make demo");
  const start = rest.pop();
  const { path } = temporaryFolder("newcomer");
  const tarball = pack(path);
  let folder = join(path, "empty");
  mkdirSync(folder);

  // What a run of `make test` says to its own is not said to a newcomer.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(MAKE|MFLAGS|NODE_TEST|npm_)/.test(name)));
  // npm asks before it gets create-vite.
  env.npm_config_yes = "true";
  const service = await serve(demo, top, { ...env, PORT: "0" });
  for (const command of rest) {
    const [, into] = /^cd (\S+)$/.exec(command) ?? [];
    if (into) folder = join(folder, into);
    else run("sh", ["-c", command.replace(/(?<=^npm install )turnwire$/, tarball)], { cwd: folder, env });
  }
  writeFileSync(join(folder, app.from.replace("examples/vite-react/", "")), app.code);
  const page = await serve(start, folder, env);

  // README says where `make demo` serves, which may be taken.
  const browser = await Browser.start([`--host-resolver-rules=MAP 127.0.0.1:8080 ${new URL(service).host}`]);
  running.push(() => browser.close());
  const chat = await openChat(browser, page);
  await send(chat, "What is 6 times 7?");
  await shows(chat, /42.*\(completed\)/);
  await (await chat.$("input[type=file]")).uploadFile(join(folder, "README.md"));
  await shows(chat, /ready/);
  assert.deepEqual(chat.uncaught, []);
  assert.deepEqual(chat.complaints, []);
});
