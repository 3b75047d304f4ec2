/** Milliseconds of work after which the page gets its turn. */
export const slice = 12;

let lastYield = -Infinity;
let yielding: Promise<void> | undefined;

/** Whether the page should have its turn. All streams and loops of a page count together: each alone would take its slice. */
export const shouldYield = (now = performance.now()): boolean => now - lastYield > slice;

/** Lets the page have its turn; a timer would be slowed down in a hidden one. */
export function yieldToPage(): Promise<void> {
  return (yielding ??= new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      yielding = undefined;
      lastYield = performance.now();
      resolve();
    };
    port2.postMessage(0);
  }));
}

/**
 * Says after a round of a loop whether the page should have its turn. To look at the clock each time would cost a loop over
 * events a third, so it is looked at after as many rounds as take about an eighth of the slice.
 */
export function pacer(): () => boolean {
  let last = 0, every = 8, left = every;
  return () => {
    if (--left > 0) return false;
    const now = performance.now();
    if (now - last < slice / 16) every = Math.min(2 * every, 64);
    else if (now - last > slice / 8) every = Math.max(every >> 1, 1);
    left = every;
    last = now;
    return shouldYield(now);
  };
}
