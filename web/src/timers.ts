// Timers of the module. Browsers slow those of a hidden page down to one a minute; those of a worker they leave alone.

interface Timer {
  run: () => void;
  due: number;
  native: ReturnType<typeof setTimeout> | undefined;
}

const timers = new Map<number, Timer>();
let lastId = 0;
let keeper: ((id: number, after: number) => void) | undefined;

function arm(id: number, timer: Timer): void {
  const after = Math.max(timer.due - performance.now(), 0);
  if (keeper) keeper(id, after);
  else timer.native = setTimeout(fired, after, id);
}

/** Browsers hold delays in 32 bits, and fire at once where they are longer. */
const longest = 2 ** 31 - 1;

export function setTimer(run: () => void, ms: number): number {
  const timer: Timer = { run, due: performance.now() + Math.min(ms, longest), native: undefined };
  timers.set(++lastId, timer);
  arm(lastId, timer);
  return lastId;
}

export function clearTimer(id: number): void {
  clearTimeout(timers.get(id)?.native);
  timers.delete(id);
}

/** Says that a timer is due; one that was cleared meanwhile is none. */
export function fired(id: number): void {
  const timer = timers.get(id);
  timers.delete(id);
  timer?.run();
}

/** Who keeps the timers from now on: a worker, or (undefined) the page itself. */
export function keepTimers(by: typeof keeper): void {
  keeper = by;
  for (const [id, timer] of timers) {
    clearTimeout(timer.native);
    timer.native = undefined;
    arm(id, timer);
  }
}
