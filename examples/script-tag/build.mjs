// Copies the package's files beside the pages, and writes the hashes of build-info.json into them.
import { cpSync, readFileSync, writeFileSync } from "node:fs";

cpSync("node_modules/turnwire/dist", "dist/turnwire", { recursive: true });
const { files } = JSON.parse(readFileSync("dist/turnwire/build-info.json", "utf8"));
for (const page of ["index.html", "hello.html"]) {
  writeFileSync(`dist/${page}`, readFileSync(page, "utf8").replace(/%(turnwire\.\w+)%/g, (_, name) => files[name].integrity));
}
