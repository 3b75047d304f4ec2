/** Milliseconds of work after which the page gets its turn. */
export const slice = 8;

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
