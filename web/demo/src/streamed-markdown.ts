import type { Token } from "marked";
import { OpenFence } from "./fence.ts";
import { lex, render, type Definitions } from "./markdown.ts";

/** Source taken at once; small enough that one step never fills a frame. */
const STEP = 4_096;
/**
 * A block that follows settles the one before it as soon as it can't be the beginning of a list marker any more:
 * "1. one", blank line, "2" is a paragraph until "2. two" makes it the same list.
 */
const MARKER = 16;
/** Past this, one block is split at a line end: a list or a table of this length would fill frames by itself. */
const LONGEST_BLOCK = 32_768;
/** A block that takes long to draw is drawn less often, so that drawing never takes more than this share of time. */
const SHARE = 0.2;

interface Settled {
  source: string;
  nodes: Node[];
  above: number;
}

/**
 * Renders Markdown while it is written. Blocks that can't change any more stay in the page as they are; only the last
 * one is drawn again, so a frame costs the same however long the answer has grown.
 */
export class StreamedMarkdown {
  #waiting = "";
  #carriageReturn = false;
  #open = "";
  #openNodes: Node[] = [];
  #openChanged = false;
  #fence: OpenFence | undefined;
  #outline = 2;
  #definitions: Definitions = Object.create(null);
  /** Settled blocks that may hold a reference whose definition comes later, most often at the answer's end. */
  #referring: Settled[] = [];
  #ended = false;
  #drawAgainAt = 0;

  constructor(readonly element: HTMLElement) {}

  append(text: string): void {
    // The lexer wants plain line feeds, and a pair may be cut between two fragments.
    if (this.#carriageReturn && text.startsWith("\n")) text = text.slice(1);
    this.#carriageReturn = text.endsWith("\r");
    this.#waiting += text.replace(/\r\n?/g, "\n");
  }

  /** Nothing more will come, so the last block is settled too. */
  end(): void {
    this.#ended = true;
  }

  /** Draws what there is time for; true if something is left. */
  draw(deadline: number): boolean {
    do this.#step();
    while (this.#waiting && performance.now() < deadline);
    if (this.#waiting) return true;
    if (this.#ended) {
      this.#finish();
      return false;
    }
    if (!this.#openChanged) return false;
    const now = performance.now();
    if (now < this.#drawAgainAt && this.#openNodes.length > 0) return true;
    this.#drawOpen();
    this.#drawAgainAt = now + (performance.now() - now) * (1 / SHARE - 1);
    return false;
  }

  #step(): void {
    const piece = this.#waiting.slice(0, STEP);
    this.#waiting = this.#waiting.slice(STEP);
    if (!piece) return;
    if (this.#fence) this.#feedFence(piece);
    else this.#open += piece;
    if (!this.#fence) this.#settle();
  }

  #feedFence(source: string): void {
    const rest = this.#fence?.append(source);
    if (rest === undefined) return;
    this.#fence = undefined;
    this.#open = rest;
  }

  /** Moves what can't change any more out of the open source. */
  #settle(): void {
    this.#openChanged = true;
    const tokens = lex(this.#open, this.#known());
    const blocks = tokens.flatMap((token, at) => (token.type === "space" ? [] : [at]));
    const last = blocks.at(-1) ?? 0;
    const lastSource = tokens[last]?.raw ?? "";
    const settledBy = lastSource.length >= MARKER || lastSource.includes("\n") ? last : (blocks.at(-2) ?? 0);
    const settled = tokens.slice(0, settledBy);
    this.#open = this.#open.slice(settled.reduce((length, token) => length + token.raw.length, 0));
    this.#keep(settled);

    const opened = tokens[last]?.type === "code" && settledBy === last ? OpenFence.open(this.#open) : undefined;
    if (opened) {
      this.#clearOpen();
      this.#open = "";
      this.#fence = opened.fence;
      this.element.append(opened.fence.element);
      this.#feedFence(opened.rest);
      if (!this.#fence && this.#open) this.#settle();
    } else if (this.#open.length > LONGEST_BLOCK) {
      const cut = Math.max(this.#open.lastIndexOf("\n"), this.#open.lastIndexOf(" "), 0) + 1 || this.#open.length;
      const part = this.#open.slice(0, cut);
      this.#open = this.#open.slice(cut);
      this.#keep(lex(part, this.#known()));
    }
  }

  /** Puts finished blocks into the page, each on its own: one may have to be drawn again for a late definition. */
  #keep(tokens: Token[]): void {
    if (tokens.length === 0) return;
    this.#clearOpen();
    for (const token of tokens) {
      if (token.type === "space") continue;
      if (token.type === "def") {
        this.#define(token.tag, { href: token.href, title: token.title });
        continue;
      }
      const above = this.#outline;
      const { nodes, outline } = render([token], above);
      this.#outline = outline;
      this.element.append(...nodes);
      if (token.type !== "code" && token.raw.includes("]")) this.#referring.push({ source: token.raw, nodes, above });
    }
  }

  #define(tag: string, link: Definitions[string]): void {
    if (this.#definitions[tag]) return;
    this.#definitions[tag] = link;
    for (const block of this.#referring) {
      if (!block.source.toLowerCase().replace(/\s+/g, " ").includes(`[${tag}]`)) continue;
      const { nodes } = render(lex(block.source, this.#known()), block.above);
      const [first, ...others] = block.nodes;
      for (const node of others) (node as ChildNode).remove();
      (first as ChildNode | undefined)?.replaceWith(...nodes);
      block.nodes = nodes;
    }
  }

  /** A copy: a definition in the open block may still change while it is written. */
  #known(): Definitions {
    return Object.assign(Object.create(null) as Definitions, this.#definitions);
  }

  #drawOpen(): void {
    this.#openChanged = false;
    this.#clearOpen();
    const { nodes } = render(lex(this.#open, this.#known()), this.#outline);
    this.#openNodes = nodes;
    this.element.append(...nodes);
  }

  #clearOpen(): void {
    for (const node of this.#openNodes) (node as ChildNode).remove();
    this.#openNodes = [];
  }

  #finish(): void {
    this.#fence?.finish();
    this.#fence = undefined;
    this.#keep(lex(this.#open, this.#known()));
    this.#clearOpen();
    this.#open = "";
    this.#openChanged = false;
  }
}
