// Pages made with UI kits: the doors of the package as a user's bundler finds them, with the kit's own packages, in their
// development form, which checks more. The package itself is as served.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { packageAsServed } from "../../web/build.mjs";
import { testbed } from "./bed.mjs";
import { temporaryFolder } from "./server.mjs";
import { top } from "./service.mjs";

/** Where each React lies: the package is developed with the oldest that it takes, the pages use the newest. */
const reacts = { "react-18": join(top, "web", "node_modules"), "react-19": join(top, "node_modules") };

const html = (script) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${script}</title>
<link rel="icon" href="data:,">
<div id="root"></div>
<script type="module" src="/${script}.js"></script>
</html>
`;

/** The folder of the pages of e2e/kits/NAME.jsx: /NAME-react-18.html and /NAME-react-19.html, or those of the Reacts named. */
export async function kitPages(names, versions = Object.keys(reacts)) {
  const { path } = temporaryFolder("kit");
  for (const [name, version] of names.flatMap((name) => versions.map((version) => [name, version]))) {
    const from = (kit) => join(reacts[version], kit);
    const page = `${name}-${version}`;
    await build({
      entryPoints: [join(top, "e2e", "kits", `${name}.jsx`)], outfile: join(path, `${page}.js`),
      bundle: true, format: "esm", target: "es2022", jsx: "automatic", logLevel: "warning", plugins: [packageAsServed],
      // One React, whoever asks for it.
      alias: { react: from("react"), "react-dom": from("react-dom") },
      define: { "process.env.NODE_ENV": '"development"' },
    });
    writeFileSync(join(path, `${page}.html`), html(page));
  }
  return path;
}

/** Makes the function that declares a test in the page of e2e/kits/KIT.jsx under React 19, as testbed's, once `kit` is there. */
export async function kitBed(kit) {
  const check = testbed({ web: await kitPages([kit], ["react-19"]), flags: ["-pace", "2ms"], at: ({ origin }) => `${origin}/${kit}-react-19.html` });
  return (name, run) => check(name, async (bed) => {
    await bed.page.waitForFunction(() => globalThis.kit?.show);
    await run(bed);
  });
}
