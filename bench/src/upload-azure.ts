import { BlockBlobClient } from "@azure/storage-blob";
import type { Way } from "./upload.ts";

export async function azure(file: File, { signed, blockSize, concurrency }: Way) {
  const client = new BlockBlobClient(signed);
  // One block more than this is sent in blocks.
  return () => client.uploadData(file, { blockSize, concurrency, maxSingleShotSize: blockSize });
}
