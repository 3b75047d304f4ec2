import { readFileSync } from "node:fs";

const own = "tasks are traced";

/** What the machine's host took of its cores since it booted, in ms: the kernel counts that as the time of who ran. */
const stolen = () => Number(readFileSync("/proc/stat", "utf8").split(/\s+/, 9)[8]) * 10;

/**
 * Runs `during`, and gives what each task of the page's main thread took meanwhile, and what the page marked
 * (performance.mark): tasks are { at, until, ms }, marks { name, at }. ms is that thread's own time: by the clock, as a
 * longtask entry counts, a task is also as long as other processes, or the machine's host, took the core away. at and until
 * are ms of one clock.
 */
export async function tasks(page, during) {
  await page.tracing.start({ categories: ["disabled-by-default-devtools.timeline", "blink.user_timing"] });
  let traceEvents;
  // By the clock of the trace.
  const samples = [];
  const sample = () => samples.push({ at: Number(process.hrtime.bigint() / 1_000n), stolen: stolen() });
  sample();
  const timer = setInterval(sample, 10);
  try {
    // By it the page's thread is known: the browser has pages of its own, which work too.
    await page.evaluate((name) => performance.mark(name), own);
    await during();
  } finally {
    clearInterval(timer);
    sample();
    ({ traceEvents } = JSON.parse(Buffer.from(await page.tracing.stop()).toString()));
  }
  const { pid, tid } = traceEvents.find(({ name }) => name === own);
  const ofPage = traceEvents.filter((e) => e.pid === pid && e.tid === tid);
  const stolenOf = (from, to) =>
    (samples.find(({ at }) => at >= to) ?? samples.at(-1)).stolen - (samples.findLast(({ at }) => at <= from) ?? samples[0]).stolen;
  return {
    tasks: ofPage.filter(({ name }) => name === "RunTask").map(({ ts, dur = 0, tdur = 0 }) => ({
      at: ts / 1_000, until: (ts + dur) / 1_000,
      // Short ones are not worth the search.
      ms: tdur < 10_000 ? tdur / 1_000 : Math.max(0, tdur / 1_000 - stolenOf(ts, ts + dur)),
    })),
    marks: ofPage.filter(({ cat }) => cat === "blink.user_timing").map(({ name, ts }) => ({ name, at: ts / 1_000 })),
  };
}

/** The same, as ms of each task alone. */
export const taskTimes = async (page, during) => (await tasks(page, during)).tasks.map(({ ms }) => ms);

/** How many times as long as the known one a task may take: 50 ms on a fast machine. */
const times = 8;

/**
 * The most that a task of the page may take, in ms of its thread's own time: so many times what it takes this page, on this
 * machine, to write and read 10,000 tool calls as JSON (the median of several tasks of just that). A limit in milliseconds is
 * another one on every machine, and what is looked for is work that grows out of proportion.
 */
export async function longestTask(page) {
  const seen = await tasks(page, async () => {
    for (let i = 0; i < 9; i++) {
      await page.evaluate((i) => {
        const calls = Array.from({ length: 10_000 }, (_, n) => ({ id: `call-${i}-${n}`, name: "search", status: "finished", result: [n, { of: String(n) }] }));
        performance.mark(`known ${JSON.parse(JSON.stringify(calls)).length}`);
      }, i);
    }
  });
  const found = seen.marks.filter(({ name }) => name === "known 10000").map(({ at }) => seen.tasks.find((task) => task.at <= at && at <= task.until));
  // The trace may have stopped within the last one.
  const took = found.filter(Boolean).map(({ ms }) => ms);
  return times * took.sort((a, b) => a - b)[took.length >> 1];
}

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
