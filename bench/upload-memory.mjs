// The memory of a page's process, its workers among it, as Linux counts it: what is backed by no file.

import { existsSync, readdirSync, readFileSync } from "node:fs";

/** The process of a page: the only one that has a worker while the page runs one. */
export async function processOf(page) {
  const browser = await page.browser().target().createCDPSession();
  await page.evaluate(() => new Promise((resolve, reject) => {
    globalThis.probe = new Worker("data:text/javascript,postMessage(0)");
    probe.onmessage = resolve;
    probe.onerror = () => reject(new Error("the page may have no worker"));
  }));
  const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
  const threads = (id) => readdirSync(`/proc/${id}/task`).map((task) => readFileSync(`/proc/${id}/task/${task}/comm`, "utf8"));
  const found = processInfo.filter(({ type, id }) => type === "renderer" && existsSync(`/proc/${id}`) && threads(id).some((name) => name.startsWith("DedicatedWorker")));
  await page.evaluate(() => probe.terminate());
  await browser.detach();
  if (found.length !== 1) throw new Error(`${found.length} processes have a worker: the page's can't be told`);
  return found[0].id;
}

/** The kernel's own counter: to add up its mappings, as smaps does, would hold the page up. */
function anonymousBytes(id) {
  return 1024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))[1]);
}

/** Runs `during` and gives what it gives, and by how many bytes the process was at most larger than before. */
export async function peakDuring(id, during) {
  const start = anonymousBytes(id);
  let peak = start;
  const sample = () => (peak = Math.max(peak, anonymousBytes(id)));
  const timer = setInterval(sample, 50);
  try {
    const result = await during();
    sample();
    return { ...result, peak: peak - start };
  } finally {
    clearInterval(timer);
  }
}
