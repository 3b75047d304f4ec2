// The demo page as Lighthouse judges it, but for its speed, which a busy machine tells nothing true of: `make bench` does.

import assert from "node:assert/strict";
import { join } from "node:path";
import lighthouse from "lighthouse";
import { testbed } from "./support/bed.mjs";
import { top } from "./support/service.mjs";

const check = testbed({ web: join(top, "web", "demo", "dist") });

check("Lighthouse finds the demo page accessible", async ({ page, service }) => {
  const { lhr } = await lighthouse(`${service.origin}/`, { onlyCategories: ["accessibility"], output: "json", logLevel: "error" }, undefined, page);
  const { score, auditRefs } = lhr.categories.accessibility;
  const failed = auditRefs.map(({ id }) => lhr.audits[id]).filter(({ score }) => score !== null && score < 1).map(({ title }) => title);
  assert.ok(score >= 0.95, `${score}: ${failed.join(", ")}`);
});
