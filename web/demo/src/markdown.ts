import DOMPurify from "dompurify";
import { Lexer, Marked, type Token, type TokensList } from "marked";
import { codeBlock } from "./code-block.ts";

/**
 * Answers are written by a model that may have read anything, so an answer may format text and link out, and
 * nothing else: HTML in it is shown as the text it is, images become links, and DOMPurify has the last word.
 */
const HARMLESS_TAG = /^<\/?(br|sub|sup|kbd|mark|b|i|em|strong|u|s|del|ins|small)\s*\/?>$/i;

/** The level of the last heading. An answer may begin with any, but a page's outline must not skip one. */
let outline = 2;

const marked = new Marked({
  gfm: true,
  renderer: {
    html({ text }) {
      return HARMLESS_TAG.test(text.trim()) ? text : escape(text);
    },
    image({ href, text }) {
      return `<a class="image" href="${escape(href)}">Image: ${escape(text || href)}</a>`;
    },
    checkbox({ checked }) {
      return checked ? "☑ " : "☐ ";
    },
    heading({ tokens, depth }) {
      outline = Math.min(depth + 2, outline + 1, 6);
      return `<h${outline} class="depth-${depth}">${this.parser.parseInline(tokens)}</h${outline}>`;
    },
  },
});

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

DOMPurify.setConfig({
  ALLOWED_TAGS: [
    "a", "b", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "mark", "ol",
    "p", "pre", "s", "small", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul", "#text",
  ],
  ALLOWED_ATTR: ["align", "class", "href", "start", "title"],
  // Addresses relative to this page would let an answer pose as a part of it.
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
});

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

export type Definitions = TokensList["links"];

/** Splits source into blocks, with links resolved by the definitions known so far; it adds those that it finds. */
export function lex(source: string, definitions: Definitions): Token[] {
  const lexer = new Lexer(marked.defaults);
  lexer.tokens.links = definitions;
  return lexer.lex(source);
}

/**
 * Turns blocks into nodes that are safe to put into the page. `above` is the level of the heading before them, and
 * `outline` of the answer the last one in them.
 */
export function render(tokens: Token[], above: number): { nodes: Node[]; outline: number } {
  const [only] = tokens;
  if (tokens.length === 1 && only?.type === "code") {
    return { nodes: [codeBlock(only.lang, only.text).element], outline: above };
  }
  outline = above;
  const fragment = DOMPurify.sanitize(marked.parser(tokens), { RETURN_DOM_FRAGMENT: true });
  // marked writes code blocks and tables as bare elements: they need a way to scroll by keyboard.
  for (const pre of fragment.querySelectorAll("pre")) {
    const language = pre.firstElementChild?.className.match(/language-(\S+)/)?.[1];
    pre.replaceWith(codeBlock(language, pre.textContent?.replace(/\n$/, "") ?? "").element);
  }
  for (const table of fragment.querySelectorAll("table")) {
    const scroller = document.createElement("div");
    scroller.className = "table";
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "group");
    scroller.setAttribute("aria-label", "Table");
    table.replaceWith(scroller);
    scroller.append(table);
  }
  return { nodes: [...fragment.childNodes].filter((node) => node instanceof Element || node.textContent?.trim()), outline };
}
