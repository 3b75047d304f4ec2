import { hashChunks, slices } from "../../web/src/hash.ts";
import { instance } from "../../web/src/loader.ts";

/** What the worker does with bytes that it has read. */
export async function hash([data]: Uint8Array<ArrayBuffer>[]): Promise<string> {
  return hashChunks((await instance()).program, { data: data!, state: "", last: true }, slices(data!));
}
