import { Upload } from "tus-js-client";
import { upload } from "./upload.ts";

upload((file) => new Upload(file, { endpoint: "/files" }).start());
