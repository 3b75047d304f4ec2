// S3 by Versity's gateway over a folder. Like S3 it lets no page in until the bucket's CORS rules say so.

import { createHash, randomBytes } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { Server } from "../server.mjs";
import { tool } from "../tools.mjs";
import { answered } from "./stored.mjs";

const bucket = "uploads";
const region = "us-east-1";

// A part's ETag goes into the request that puts the parts together, so the page has to see it.
const cors = `<CORSConfiguration><CORSRule>
  <AllowedOrigin>*</AllowedOrigin><AllowedMethod>PUT</AllowedMethod><AllowedMethod>POST</AllowedMethod>
  <AllowedHeader>content-type</AllowedHeader><ExposeHeader>ETag</ExposeHeader>
</CORSRule></CORSConfiguration>`;

export async function versitygw() {
  const accessKeyId = "turnwire", secretAccessKey = randomBytes(24).toString("hex");
  const server = await Server.start("versitygw", (folder, port) => ({
    command: tool("versitygw"),
    args: ["--port", `127.0.0.1:${port}`, "--region", region, "--keep-alive", "--quiet", "posix", folder],
    env: { ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey },
  }));
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region, retries: 0 });
  const url = `${server.origin}/${bucket}`;
  const ask = async (path, init) => {
    const response = await client.fetch(url + path, init);
    if (!response.ok) throw new Error(`versitygw: ${init?.method ?? "GET"} ${path} answered ${response.status}: ${await response.text()}`);
    return response.text();
  };
  await server.setUp(async () => {
    await ask("", { method: "PUT" });
    await ask("?cors", { method: "PUT", body: cors, headers: { "content-md5": createHash("md5").update(cors).digest("base64") } });
  });
  return {
    name: "s3",
    origin: server.origin,
    flags: ["-storage", `s3=${url}`],
    env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_REGION: region },
    list: async () => [...(await ask("?list-type=2")).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) => key),
    read: async (key) => answered(await client.fetch(`${url}/${key}`)),
    stop: () => server.stop(),
  };
}
