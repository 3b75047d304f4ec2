import type { Token } from "marked";

/** Past this, what is finished of a block is settled: a long list or table would otherwise be drawn whole each frame. */
export const LONGEST = 3_000;

export interface Cut {
  /** Stays in the page as it is. */
  head: string;
  /** Goes on growing, and reads as a block of the same kind. */
  rest: string;
}

/** Divides a block that is still being written, where its parts do not depend on each other; undefined where they do. */
export function cut(token: Token, source: string): Cut | undefined {
  switch (token.type) {
    case "list": {
      const items = (token.items as { raw: string }[]).slice(0, -1);
      const head = items.map(({ raw }) => raw).join("");
      return head && source.startsWith(head) ? { head, rest: source.slice(head.length) } : undefined;
    }
    case "table": {
      const header = /^[^\n]*\n[^\n]*\n/.exec(source)?.[0] ?? "";
      const at = source.trimEnd().lastIndexOf("\n") + 1;
      return at > header.length ? { head: source.slice(0, at), rest: header + source.slice(at) } : undefined;
    }
    case "blockquote":
      return at(source, source.lastIndexOf("\n>") + 1);
    case "paragraph": {
      // A letter first, lest the rest begin like a list or a heading.
      const spaces = [...source.slice(-400).matchAll(/\s(?=\p{L})/gu)];
      const last = spaces.at(-1);
      return last && at(source, Math.max(0, source.length - 400) + last.index + 1);
    }
    default:
      return undefined;
  }
}

function at(source: string, index: number): Cut | undefined {
  return index > 0 ? { head: source.slice(0, index).trimEnd(), rest: source.slice(index) } : undefined;
}

/** Takes the parts out of a block that continues `before`; undefined where it turned out to be of another kind. */
export function continuation(before: Element, node: Node | undefined): Node[] | undefined {
  if (!(node instanceof Element) || node.tagName !== before.tagName || node.className !== before.className) return undefined;
  if (node.classList.contains("table")) return [...node.querySelectorAll("tbody > tr")];
  return node.tagName === "P" ? [document.createTextNode(" "), ...node.childNodes] : [...node.childNodes];
}

/** Where the parts of a continued block belong. */
export function inside(element: Element): Element {
  return element.querySelector(":scope > table > tbody") ?? element;
}
