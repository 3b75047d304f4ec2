// The examples of UI kits in docs: as they stand there, in pages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testbed } from "./support/bed.mjs";
import { kitPages } from "./support/kits.mjs";
import { top } from "./support/service.mjs";

const read = (...path) => readFileSync(join(top, ...path), "utf8");
const kits = ["react", "ai-sdk", "ag-ui"];
const check = testbed({ web: await kitPages(kits.map((kit) => `readme-${kit}`), ["react-19"]), flags: ["-pace", "1ms"] });

for (const kit of kits) {
  check(`the documented example: ${kit}`, async ({ page }) => {
    const code = read("e2e", "kits", `example-${kit}.jsx`);
    assert.ok(read("docs", "ui-kits.md").includes(`${code}\`\`\`\n`), `docs/ui-kits.md has another example than e2e/kits/example-${kit}.jsx`);
    await page.type("input", "What is 6 times 7?");
    await page.click("button");
    await page.waitForFunction(() => /What is 6 times 7\?.*\*\*42\*\*/s.test(document.querySelector("form").textContent));
  }, { at: ({ origin }) => `${origin}/readme-${kit}-react-19.html` });
}
