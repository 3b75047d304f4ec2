/** What is used of Node's own modules. */
declare module "node:fs/promises" {
  export function readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
}

declare module "node:worker_threads" {
  export const BroadcastChannel: new (name: string) => globalThis.BroadcastChannel & { unref(): void };
}
