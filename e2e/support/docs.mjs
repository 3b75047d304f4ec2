// The blocks of code in README and docs.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { top } from "./service.mjs";

/** README.md and the pages of docs/, as paths from the top. */
export const pages = ["README.md", ...readdirSync(join(top, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];

/**
 * The fenced blocks of a page: { at: "page:line", language, from, code }. from is what stands behind the language, which a
 * reader of the page does not see: the file that the block is quoted from, or "newcomer".
 */
export function blocks(page) {
  const text = readFileSync(join(top, page), "utf8");
  return [...text.matchAll(/^```(\w*) ?(.*)\n([^]*?)^```$/gm)].map(({ 1: language, 2: from, 3: code, index }) => (
    { at: `${page}:${text.slice(0, index).split("\n").length}`, language, from, code }
  ));
}
