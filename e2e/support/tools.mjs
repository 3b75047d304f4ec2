// The Go programs that tests run beside the service, at one version each: installed by Go where they are missing.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { top } from "./service.mjs";

const tools = {
  toxiproxy: "github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0",
  versitygw: "github.com/versity/versitygw/cmd/versitygw@v1.8.0",
  "fake-gcs-server": "github.com/fsouza/fake-gcs-server@v1.56.1",
};

/** The path of a tool's binary. */
export function tool(name) {
  const source = tools[name];
  const folder = join(top, ".cache", "bin");
  const binary = join(folder, `${name}${source.slice(source.lastIndexOf("@"))}`);
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  // Test files run in processes of their own, and none may find the file half written.
  const own = mkdtempSync(join(folder, "install-"));
  try {
    execFileSync("go", ["install", source], { env: { ...process.env, GOBIN: own }, stdio: ["ignore", "ignore", "inherit"] });
    renameSync(join(own, readdirSync(own)[0]), binary);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  return binary;
}
