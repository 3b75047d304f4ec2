// How the worker reads what it hashes: the next bytes while those before are hashed. The page, which hashes only where there
// is no worker, does without.

import { cancelQuietly } from "./byte-reader.ts";
import { type HashJob, readSize, slices, unchanged } from "./hash.ts";
import type { Part } from "./source.ts";

/** Two buffers at most, for all Blobs: those of each read would be collected only when much more has been read. */
const free: ArrayBuffer[] = [];

/**
 * The Blob that was read last, for the range after: to begin each range anew takes a quarter longer. Something has to
 * hold its reader, else Chromium collects it while it reads into a buffer that it was given.
 */
let opened: { id: number; at: number; reader: ReadableStreamBYOBReader } | undefined;

function close(): void {
  cancelQuietly(opened?.reader);
  opened = undefined;
}

/** The chunks of a job's range, as slices gives them: of one that has been taken the bytes are overwritten. */
export async function* readAhead({ data, last }: HashJob): AsyncGenerator<Uint8Array> {
  try {
    if (data instanceof Uint8Array || !reopen(data)) return yield* slices(data);
    let next = read(data);
    for (let bytes; (bytes = await next); free.push(bytes.buffer as ArrayBuffer)) {
      next = read(data);
      // It is awaited in the next round; until then a failure is nobody's.
      next.catch(() => {});
      yield bytes;
    }
    if (!last) return;
  } catch (error) {
    close();
    throw error;
  }
  close();
  await unchanged(data);
}

/** Has the Blob open where its range begins; false where its browser's Blobs don't read into a buffer that they are given. */
function reopen({ blob, id, from }: Part): boolean {
  if (opened?.id === id && opened.at === from) return true;
  close();
  try {
    opened = { id, at: from, reader: blob.slice(from).stream().getReader({ mode: "byob" }) };
    return true;
  } catch {
    return false;
  }
}

async function read({ to }: Part): Promise<Uint8Array | undefined> {
  const mine = opened!;
  const left = to - mine.at;
  if (left === 0) return undefined;
  // Without min a read ends with what there is, about a tenth, and the rounds cost as much as the reading.
  const length = Math.min(readSize, left);
  const { value } = await mine.reader.read(new Uint8Array(free.pop() ?? new ArrayBuffer(readSize), 0, length), { min: length });
  if (!value?.length) throw new Error(`${left} bytes fewer than there were`);
  mine.at += value.length;
  return value;
}
