import { Kept } from "./kept.ts";

/** A file of the list without its bytes, which no page can keep. */
export interface KeptFile {
  name: string;
  /** Bytes. */
  size: number;
  lastModified: number;
  state: "unfinished" | "processing" | "ready";
  /** Stored so far. */
  percent: number;
  /** The service's identifier, "" while there is none. */
  id: string;
  checksum: string;
}

export const keptFiles = new Kept<KeptFile[]>("files");
