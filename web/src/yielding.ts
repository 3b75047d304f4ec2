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
