// A file to upload, and a folder that has room for it.

import { createCipheriv, createHash } from "node:crypto";
import { createWriteStream, existsSync, statfsSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { temporaryFolder } from "../e2e/support/server.mjs";

export const MiB = 1 << 20;

/** A file of pseudo-random bytes, always the same ones. Gives its SHA-256. */
export async function fill(path, size) {
  const stream = createCipheriv("aes-128-ctr", Buffer.alloc(16, 7), Buffer.alloc(16));
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(MiB);
  await pipeline(Readable.from((function* () {
    for (let done = 0; done < size; done += chunk.length) {
      const bytes = stream.update(chunk);
      hash.update(bytes);
      yield bytes;
    }
  })()), createWriteStream(path));
  return hash.digest("hex");
}

function room(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** A folder with so many bytes free; what is stored from now on lies on the same disk. instead says what to ask for where none has. */
export function folderWith(bytes, instead) {
  // A disk that writes behind, when it will, is slow for one contender and not for the next.
  const shm = "/dev/shm";
  if (!process.env.TMPDIR && existsSync(shm) && room(shm) > bytes) process.env.TMPDIR = shm;
  const folder = temporaryFolder("upload");
  if (room(folder.path) > bytes) return folder;
  folder.remove();
  throw new Error(`${folder.path} has not the ${Math.ceil(bytes / MiB)} MiB free that are needed: set TMPDIR to a folder that has them, or ${instead}`);
}
