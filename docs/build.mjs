// Builds the documentation, `node docs/build.mjs`: the pages that docs/README.md lists and the API reference, one site in
// .cache/docs. Fails where a public name has no words, a link or its anchor leads nowhere, or a page is not listed.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, Converter, PageEvent, ReflectionKind, RendererEvent } from "typedoc";

const top = fileURLToPath(new URL("..", import.meta.url));
const web = join(top, "web");
const docs = join(top, "docs");
const index = join(docs, "README.md");
const out = join(top, ".cache", "docs");

/** What the package's subpaths are made of, in the order of its exports. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));
  const typed = Object.keys(exports).filter((path) => exports[path].types);
  // Where types are written by hand they are what is described.
  const source = (name) => [`${name}/types.d.ts`, `${name}.ts`].map((file) => join(web, "src", "doors", file)).find(existsSync);
  return typed.map((path) => (path === "." ? join(web, "src", "index.d.ts") : source(path.slice(2))));
}

/** The pages, in the order in which the index lists them. */
function pages() {
  const links = readFileSync(index, "utf8").matchAll(/\]\(([^):#]+\.md)\)/g);
  const listed = [...new Set(Array.from(links, ([, path]) => join(docs, path)))];
  const there = readdirSync(docs).filter((name) => name.endsWith(".md")).map((name) => join(docs, name));
  const missing = there.filter((path) => path !== index && !listed.includes(path));
  if (missing.length > 0) throw new Error(`docs/README.md does not list ${missing.map((path) => relative(docs, path)).join(", ")}`);
  return listed;
}

/** A page is called as its heading calls it, up to a colon, for what else could say it, front matter, is a table where the page is read in the repository. */
function nameByHeading(document) {
  const [, title] = /^# ([^:\n]+)/m.exec(document.content.map(({ text }) => text).join("")) ?? [];
  if (!title) throw new Error(`docs: the page ${document.name} has no heading`);
  document.name = title;
}

/** The theme's one inline script becomes a file: no policy has to allow inline scripts for it. */
function withoutInlineScripts(app) {
  let moved;
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = page.contents.replace(/<script>(.*?)<\/script>/gs, (_, script) => {
      if (moved !== undefined && moved !== script) throw new Error("docs: the theme has more than one inline script");
      moved = script;
      return `<script src="${"../".repeat(page.url.split("/").length - 1)}assets/first.js"></script>`;
    });
  });
  app.renderer.on(RendererEvent.END, () => {
    mkdirSync(join(out, "assets"), { recursive: true });
    writeFileSync(join(out, "assets", "first.js"), moved);
  });
}

const app = await Application.bootstrapWithPlugins({
  name: "Turnwire",
  favicon: join(web, "demo", "favicon.svg"),
  headings: { readme: false },
  readme: index,
  projectDocuments: pages(),
  entryPoints: entryPoints(),
  tsconfig: join(docs, "tsconfig.json"),
  out,
  // The compiler of `make check` has looked already, and is a newer one.
  skipErrorChecking: true,
  disableSources: true,
  // What a kit's own classes have is the kit's to describe.
  excludeExternals: true,
  excludeProtected: true,
  sort: ["documents-first", "source-order"],
  sortEntryPoints: false,
  highlightLanguages: ["bash", "go", "html", "javascript", "json", "jsx", "makefile", "sh", "tsx", "typescript"],
  validation: { notExported: true, invalidLink: true, invalidPath: true, notDocumented: true },
  treatWarningsAsErrors: true,
  logLevel: "Warn",
});
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => nameByHeading(document));
withoutInlineScripts(app);
const project = await app.convert();
if (!project) throw new Error("docs: the types could not be read; see above");
app.validate(project);
await app.generateOutputs(project);
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0;
