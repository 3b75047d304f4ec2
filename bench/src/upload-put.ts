// What a page does without a library: one request.

import type { Way } from "./upload.ts";

export async function put(file: File, { signed }: Way) {
  return () => new Promise<unknown>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", signed);
    request.setRequestHeader("x-ms-blob-type", "BlockBlob");
    request.onload = () => (request.status === 201 ? resolve(undefined) : reject(new Error(`answered ${request.status}`)));
    request.onerror = () => reject(new Error("the connection broke"));
    request.send(file);
  });
}
