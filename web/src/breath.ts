/** Milliseconds of work after which the page gets its turn. */
export const slice = 8;

/**
 * Waits for one thing after another, and lets the page have its turn where none of them took any time: a stream that has
 * always something ready would never let go of the thread.
 */
export function pauses(): <T>(promise: Promise<T>) => Promise<T> {
  let since = performance.now();
  return async (promise) => {
    const asked = performance.now();
    const value = await promise;
    const now = performance.now();
    if (now - asked > 1) since = now;
    else if (now - since > slice) {
      await breath();
      since = performance.now();
    }
    return value;
  };
}

/** Lets the page have its turn; a timer would be slowed down in a hidden one. */
export function breath(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}
