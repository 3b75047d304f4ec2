// Uses the page of an example as a person does: a message, a stop, a file.

import assert from "node:assert/strict";

/** Opens the page and gives it back, ready to be used: page.complaints collects what its console calls an error. */
export async function openChat(browser, address) {
  const page = await browser.open("about:blank");
  page.complaints = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(`${message.text()} ${message.location().url ?? ""}`));
  await page.goto(address);
  // A form without its script would send itself to its own address.
  await page.waitForFunction(() => {
    const form = document.querySelector("form");
    return form && (form.onsubmit || Object.keys(form).some((key) => key.startsWith("__reactProps")));
  });
  return page;
}

export async function send(page, message) {
  await page.$eval("input[name=message]", (input) => (input.value = ""));
  await page.type("input[name=message]", message);
  await page.click("form button");
}

/** Waits until the page shows what the pattern describes. */
export const shows = (page, pattern) => page.waitForFunction((source) => new RegExp(source, "s").test(document.body.innerText), {}, pattern.source);

export async function driveChat({ browser, service, address, file }) {
  const page = await openChat(browser, address);
  await send(page, "What is 6 times 7?");
  await shows(page, /42.*\(completed\)/);

  await send(page, "count to 100000");
  await shows(page, /1 2 3/);
  const { turn_id: turn } = await service.newest();
  await page.click("form button[type=button]");
  await shows(page, /\(cancelled\)/);
  await service.logged({ msg: "turn finished", turn, status: "cancelled" });

  const input = await page.$("input[type=file]");
  await input.uploadFile(file);
  await shows(page, /ready/);

  assert.deepEqual(page.uncaught, [], "nobody caught these");
  assert.deepEqual(page.complaints, [], "the console has these");
  await page.browserContext().close();
}
