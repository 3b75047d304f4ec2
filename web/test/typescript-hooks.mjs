import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const path = fileURLToPath(url);
  const { code } = await transform(await readFile(path, "utf8"), { loader: "ts", target: "es2022", sourcefile: path, sourcemap: "inline" });
  return { format: "module", source: code, shortCircuit: true };
}
