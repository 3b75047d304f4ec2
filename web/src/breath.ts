/** Milliseconds of work after which the page gets its turn. */
export const slice = 12;

let had = -Infinity;
let coming: Promise<void> | undefined;

/** Whether the page should have its turn: it is one page's, however many streams and loops it has. */
export const due = (now = performance.now()): boolean => now - had > slice;

/** Lets the page have its turn; a timer would be slowed down in a hidden one. */
export function breath(): Promise<void> {
  return (coming ??= new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      coming = undefined;
      had = performance.now();
      resolve();
    };
    port2.postMessage(0);
  }));
}
