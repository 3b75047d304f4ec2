// Azure Blob Storage by Microsoft's own emulator.

import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { BlobSASPermissions, BlobServiceClient, generateBlobSASQueryParameters, StorageSharedKeyCredential } from "@azure/storage-blob";
import { Server } from "../server.mjs";
import { stored } from "./stored.mjs";

const program = fileURLToPath(import.meta.resolve("azurite/dist/src/blob/main.js"));

const account = "turnwire";
const container = "uploads";

export async function azurite() {
  const key = randomBytes(64).toString("base64");
  const server = await Server.start("azurite", (folder, port) => ({
    command: process.execPath,
    args: [program, "--blobHost", "127.0.0.1", "--blobPort", String(port), "--location", folder, "--disableTelemetry", "--skipApiVersionCheck", "--silent"],
    env: { AZURITE_ACCOUNTS: `${account}:${key}` },
  }));
  const credential = new StorageSharedKeyCredential(account, key);
  const service = new BlobServiceClient(`${server.origin}/${account}`, credential);
  const blobs = service.getContainerClient(container);
  await server.setUp(async () => {
    // What a user has to allow for an upload from a page, and no more.
    await service.setProperties({
      cors: [{ allowedOrigins: "*", allowedMethods: "PUT", allowedHeaders: "content-type,x-ms-*", exposedHeaders: "", maxAgeInSeconds: 600 }],
    });
    await blobs.create();
  });
  return {
    name: "azure",
    origin: server.origin,
    flags: ["-storage", `azure=${blobs.url}`],
    env: { AZURE_STORAGE_ACCOUNT: account, AZURE_STORAGE_KEY: key },
    async list() {
      const keys = [];
      for await (const { name } of blobs.listBlobsFlat()) keys.push(name);
      return keys;
    },
    read: async (key) => stored((await blobs.getBlobClient(key).download()).readableStreamBody),
    /** An address for pages at which a blob can be read, made and written for an hour. */
    signed(key) {
      const grant = { containerName: container, blobName: key, permissions: BlobSASPermissions.parse("rcw"), expiresOn: new Date(Date.now() + 3_600_000) };
      return `${this.origin}/${account}/${container}/${encodeURIComponent(key)}?${generateBlobSASQueryParameters(grant, credential)}`;
    },
    stop: () => server.stop(),
  };
}
