import { BlockBlobClient } from "@azure/storage-blob";
import { upload } from "./upload.ts";

upload((file) => new BlockBlobClient("/signed").uploadData(file));
