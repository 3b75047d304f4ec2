/**
 * Runs `during`, and gives what each task of the page's main thread took meanwhile: ms of that thread's own time. By the
 * clock, as a longtask entry counts, a task is also as long as other processes took the core away.
 */
export async function taskTimes(page, during) {
  await page.tracing.start({ categories: ["disabled-by-default-devtools.timeline"] });
  let traceEvents;
  try {
    await during();
  } finally {
    ({ traceEvents } = JSON.parse(Buffer.from(await page.tracing.stop()).toString()));
  }
  const mains = traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const times = mains.map(({ pid, tid }) => traceEvents.filter((e) => e.name === "RunTask" && e.pid === pid && e.tid === tid).map((e) => (e.tdur ?? 0) / 1_000));
  // The browser keeps a spare renderer; the page's is the one that worked.
  return times.sort((a, b) => sum(b) - sum(a))[0];
}

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
