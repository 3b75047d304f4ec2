import { Lexer, Marked, type MarkedToken, type Token, type Tokens, type TokensList } from "marked";
import { codeBlock } from "./code-block.ts";
import { h } from "./dom.ts";
import { decoded } from "./entities.ts";
import type { ChatStrings } from "./types.d.ts";

// Answers are written by a model that may have read anything, so an answer may format text and link out, and nothing else.
// Its nodes are made one by one from what marked has read, and no text of it is ever taken for HTML: there is nothing to
// sanitise, and nothing that Trusted Types would have to let through. Images become links, and HTML the text it is.

/** Tags without attributes that only format; they are made as elements of their own. */
const HARMLESS_TAG = /^<(\/?)(br|sub|sup|kbd|mark|b|i|em|strong|u|s|del|ins|small)\s*\/?>$/i;
/** Addresses relative to this page would let an answer pose as a part of it. */
const OUTWARD = /^(https?|mailto):/i;

const marked = new Marked({ gfm: true });

export type Definitions = TokensList["links"];

/** Splits source into blocks, with links resolved by the definitions known so far; it adds those that it finds. */
export function lex(source: string, definitions: Definitions): Token[] {
  const lexer = new Lexer(marked.defaults);
  lexer.tokens.links = definitions;
  return lexer.lex(source);
}

/**
 * Turns blocks into nodes. `above` is the level of the heading before them, and `outline` of the answer the last one in them.
 */
export function render(strings: ChatStrings, tokens: Token[], above: number): { nodes: Node[]; outline: number } {
  const renderer = new Renderer(strings, above);
  return { nodes: renderer.blocks(tokens), outline: renderer.outline };
}

class Renderer {
  /** The level of the last heading: an answer may begin with any, but a page's outline must not skip one. */
  constructor(private readonly strings: ChatStrings, public outline: number) {}

  blocks(tokens: Token[]): Node[] {
    return (tokens as MarkedToken[]).flatMap((token) => this.#block(token) ?? []);
  }

  #block(token: MarkedToken): Node | Node[] | undefined {
    switch (token.type) {
      case "paragraph":
        return h("p", {}, ...this.#inline(token.tokens));
      case "heading":
        return this.#heading(token);
      case "code":
        return codeBlock(this.strings, token.lang, token.text).element;
      case "blockquote":
        return h("blockquote", {}, ...this.blocks(token.tokens));
      case "list":
        return this.#list(token);
      case "table":
        return this.#table(token);
      case "hr":
        return h("hr");
      case "html":
        return HARMLESS_TAG.test(token.text.trim()) ? undefined : h("p", {}, token.text.trim());
      case "text":
        return token.tokens ? this.#inline(token.tokens) : new Text(decoded(token.text));
      case "space":
      case "def":
        return undefined;
      default:
        return this.#inline([token]);
    }
  }

  #heading({ tokens, depth }: Tokens.Heading): Node {
    this.outline = Math.min(depth + 2, this.outline + 1, 6);
    return h(`h${this.outline}` as "h3", { class: `depth-${depth}` }, ...this.#inline(tokens));
  }

  #list({ ordered, start, items }: Tokens.List): Node {
    const list = ordered ? h("ol", start === 1 ? {} : { start: String(start) }) : h("ul");
    for (const { tokens } of items) list.append(h("li", {}, ...this.blocks(tokens)));
    return list;
  }

  /** In a box that is scrolled by keyboard too. */
  #table({ header, rows }: Tokens.Table): Node {
    const row = (kind: "th" | "td", cells: Tokens.TableCell[]) =>
      h("tr", {}, ...cells.map(({ tokens, align }) => h(kind, { align: align ?? undefined }, ...this.#inline(tokens))));
    const body = rows.length > 0 ? h("tbody", {}, ...rows.map((cells) => row("td", cells))) : undefined;
    const table = h("table", {}, h("thead", {}, row("th", header)), body);
    return h("div", { class: "table", tabindex: "0", role: "group", "aria-label": this.strings.table }, table);
  }

  /** An opened tag holds what follows it, until it is closed. */
  #inline(tokens: Token[]): Node[] {
    const nodes: Node[] = [];
    const open: HTMLElement[] = [];
    const add = (...more: Node[]) => (open.at(-1) ? open.at(-1)!.append(...more) : nodes.push(...more));
    for (const token of tokens as MarkedToken[]) {
      const [, closing, tag = ""] = (token.type === "html" && HARMLESS_TAG.exec(token.text.trim())) || [];
      const name = tag.toLowerCase() as "b";
      if (!tag) add(...this.#phrase(token));
      else if (name === ("br" as string)) add(h("br"));
      else if (!closing) {
        const element = h(name);
        add(element);
        open.push(element);
      } else if (open.some(({ localName }) => localName === name)) while (open.pop()?.localName !== name);
    }
    return nodes;
  }

  #phrase(token: MarkedToken): Node[] {
    switch (token.type) {
      case "strong":
      case "em":
      case "del":
        return [h(token.type, {}, ...this.#inline(token.tokens))];
      case "codespan":
        return [h("code", {}, token.text)];
      case "br":
        return [h("br")];
      case "checkbox":
        return [new Text(token.checked ? "☑ " : "☐ ")];
      case "link":
        return [this.#link(token.href, token.title, this.#inline(token.tokens))];
      case "image":
        return [this.#link(token.href, token.title, [new Text(this.strings.image(decoded(token.text) || token.href))])];
      case "text":
        return token.tokens ? this.#inline(token.tokens) : [new Text(decoded(token.text))];
      case "escape":
        return [new Text(token.text)];
      default:
        return [new Text(token.raw)];
    }
  }

  #link(address: string, title: string | null | undefined, content: Node[]): Node {
    const href = decoded(address);
    const known = OUTWARD.test(href) && URL.canParse(href);
    return h("a", {
      ...(known && { href }), ...(title && { title: decoded(title) }), target: "_blank", rel: "noopener noreferrer nofollow",
    }, ...content);
  }
}
