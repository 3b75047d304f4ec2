import { AgentClient, init, UploadError, type Upload } from "turnwire";

declare const client: AgentClient;
declare const upload: Upload;

init({ workerURL: true }); // error TS2322
client.files = client.files; // error TS2540
client.files.upload(); // error TS2554
client.files.upload("text"); // error TS2345
client.files.upload(new Blob(), { blocksize: 1 }); // error TS2561
client.files.upload(new Blob(), { concurrency: "4" }); // error TS2322
client.files.upload(new Blob(), { checksumEncoding: "hexadecimal" }); // error TS2322
client.files.upload(new Blob(), { wait: { interval: "1s" } }); // error TS2322
client.files.upload(new Blob(), { mapUploadTicket: () => ({ url: "/" }) }); // error TS2322
client.files.get(); // error TS2554
upload.fileId.length; // error TS18048
upload.fileId = "other"; // error TS2540
upload.progress.loadedBytes = 1; // error TS2540
upload.on("done", () => {}); // error TS2769
(await upload).then; // error TS2339
declare const error: UploadError;
error.block.toFixed(); // error TS18048
