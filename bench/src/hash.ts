// SHA-256 of bytes in memory, as the browser computes it of all of them at once.

import { toHex } from "../../web/src/hash.ts";
import { random } from "./stream.ts";

export const size = 64 << 20;

/** Always the same ones. */
export function bytes(): Uint8Array<ArrayBuffer> {
  const pick = random(3);
  return new Uint8Array(Uint32Array.from({ length: size / 4 }, () => pick() * 2 ** 32).buffer);
}

export async function webCrypto([data]: Uint8Array<ArrayBuffer>[]): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", data!)));
}
