import type { UploadData } from "turnwire";
import { hash, smallMost, useWorker } from "./background.ts";
import { textOf, UploadError } from "./errors.ts";
import type { Source } from "./source.ts";

/** Bytes at either end of a file by which it is known again. */
const printSize = 8 << 20;

/**
 * Tells data from other data of the same name, size and type. A file has its time of change, and its ends; of data without
 * one nothing short of all its bytes is certain, and their sum, which is given too, need not be computed again. A stream has
 * neither. isOver says that nobody wants it any more.
 */
export async function fingerprintOf(data: UploadData, source: Source, { size, once }: { size: number; once: boolean }, isOver: () => boolean): Promise<{ fingerprint: string; sum: string }> {
  if (once) return { fingerprint: "", sum: "" };
  try {
    const { lastModified } = data as Partial<File>;
    if (lastModified !== undefined) {
      const first = await sumOf(source, 0, Math.min(size, printSize), isOver);
      const rest = size > printSize ? await sumOf(source, Math.max(size - printSize, printSize), size, isOver) : "";
      return { fingerprint: `${lastModified} ${first} ${rest}`, sum: "" };
    }
    const release = size > smallMost ? useWorker() : undefined;
    try {
      const sum = await sumOf(source, 0, size, isOver);
      return { fingerprint: sum, sum };
    } finally {
      release?.();
    }
  } catch (error) {
    throw new UploadError(`the data can't be read: was the file changed or removed? (${textOf(error)})`, "data_unreadable", false, { stage: "preparing", cause: error });
  }
}

/** The SHA-256 of a part of the data; no sum where it is over meanwhile. */
async function sumOf(source: Source, from: number, to: number, isOver: () => boolean): Promise<string> {
  for (let at = from, state = ""; ; ) {
    const end = Math.min(at + printSize, to);
    state = await hash({ data: await source.part(at, end), state, last: end === to });
    if (end === to || isOver()) return state;
    at = end;
  }
}
