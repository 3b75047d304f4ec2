// Every form of data and every option of an upload, and what comes of it.

import {
  AgentClient, FileError, init, UploadError,
  type AgentFile, type Upload, type UploadData, type UploadOptions, type UploadProgress, type UploadStage, type UploadTicket, type WaitOptions,
} from "turnwire";

await init({ workerURL: false });
await init({ workerURL: new URL("https://example.org/turnwire.worker.mjs") });

const client = new AgentClient({ baseURL: "/", workspaceId: "demo" });
export const data: UploadData[] = [
  new Blob(["a"]), new File(["a"], "a.txt"), new ArrayBuffer(1), new Uint8Array(1), new DataView(new ArrayBuffer(1)), new ReadableStream<Uint8Array>(),
];

const wait: WaitOptions = { interval: 100, maxInterval: 200, waitTimeout: 0, onStatus: (file) => console.log(file.status), signal: new AbortController().signal };
export const ticket: UploadTicket = {
  fileId: "f", url: "https://example.org", protocol: "s3-multipart", method: "PUT", headers: { a: "b" }, blockSize: 1,
  parts: [{ partNumber: 1, url: "https://example.org" }], completeURL: "https://example.org", expiresAt: 1,
};
const options: UploadOptions = {
  signal: new AbortController().signal, timeout: 1, maxRetries: 1, headers: {},
  workspaceId: "demo", name: "a.txt", contentType: "text/plain", purpose: "rag", size: 1, blockSize: 1, concurrency: 1,
  blockTries: 1, blockTimeout: 0, checksum: "before", checksumEncoding: "base64", wait,
  onProgress: (progress: UploadProgress) => console.log(progress.secondsLeft?.toFixed(0)),
  mapUploadTicket: (raw) => ({ fileId: (raw as { name: string }).name, url: "/" }),
  resumeKey: "a",
};
export const checksums: UploadOptions["checksum"][] = [true, false, "before", "0".repeat(64)];

const upload: Upload = client.files.upload(data[0]!, options);
upload
  .on("progress", (progress) => console.log(progress.loadedBytes / progress.totalBytes))
  .on("end", (ended) => console.log(ended.fileId?.length, ended.protocol));
upload.pause();
upload.resume();
await upload.abort();
const stage: UploadStage = upload.progress.stage;

try {
  const file: AgentFile = await upload.done();
  console.log(file.id, file.size?.toFixed(0), file.checksum?.length, file.raw["created_at"], stage);
} catch (error) {
  if (error instanceof UploadError) console.log(error.stage, error.block?.toFixed(0), error.status, error.fileId);
  if (error instanceof FileError) console.log(error.file.status);
}
console.log((await client.files.get("f", { timeout: 1 })).status, (await client.files.wait("f", wait)).status);
