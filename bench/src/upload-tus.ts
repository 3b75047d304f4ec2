import { Upload } from "tus-js-client";
import type { Way } from "./upload.ts";

export async function tus(file: File, { files, blockSize }: Way) {
  return () => new Promise<unknown>((resolve, reject) => {
    new Upload(file, {
      endpoint: files, chunkSize: blockSize, parallelUploads: 1, retryDelays: null,
      storeFingerprintForResuming: false, onSuccess: resolve, onError: reject,
    }).start();
  });
}
