import type { Token } from "marked";
import { OpenFence } from "./fence.ts";
import { LONGEST, continuation, cut, inside } from "./long-block.ts";
import { lex, render, type Definitions } from "./markdown.ts";
import type { ChatStrings } from "./types.d.ts";

/** Source taken at once; small enough that one step never fills a frame. */
const STEP = 2_048;
/**
 * A block that follows settles the one before it as soon as it can't be the beginning of a list marker any more:
 * "1. one", blank line, "2" is a paragraph until "2. two" makes it the same list.
 */
const MARKER = 16;
/** A block that takes long to draw is drawn less often, so that drawing never takes more than this share of time. */
const SHARE = 0.2;

interface Settled {
  source: string;
  nodes: ChildNode[];
  above: number;
  /** The element that it continues, where it is a later part of a long block. */
  within: Element | undefined;
}

/**
 * Renders Markdown while it is written. Blocks that can't change any more stay in the page as they are; only the last
 * one is drawn again, so a frame costs the same however long the answer has grown.
 */
export class StreamedMarkdown {
  #waiting = "";
  #carriageReturn = false;
  #open = "";
  #openNodes: ChildNode[] = [];
  #openChanged = false;
  /** The element that the open source continues, where its block grew long. */
  #within: Element | undefined;
  #fence: OpenFence | undefined;
  #outline = 2;
  #definitions: Definitions = Object.create(null);
  /** Settled blocks that may hold a reference whose definition comes later, most often at the answer's end. */
  #referring: Settled[] = [];
  #ended = false;
  #restUntil = 0;

  constructor(private readonly strings: ChatStrings, readonly element: HTMLElement) {}

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
    const start = performance.now();
    if (start < this.#restUntil && !this.#ended) return this.#waiting !== "" || this.#openChanged;
    do this.#step();
    while (this.#waiting && performance.now() < deadline);
    if (this.#ended && !this.#waiting) this.#finish();
    else if (this.#openChanged) this.#drawOpen();
    const end = performance.now();
    this.#restUntil = end + (end - start) * (1 / SHARE - 1);
    return this.#waiting !== "";
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
    const growing = tokens[last];
    if (!growing) return;
    const certain = growing.raw.length >= MARKER || growing.raw.includes("\n");
    const settled = tokens.slice(0, certain ? last : (blocks.at(-2) ?? 0));
    this.#open = this.#open.slice(settled.reduce((length, token) => length + token.raw.length, 0));
    this.#keep(settled);

    const opened = certain && growing.type === "code" ? OpenFence.open(this.strings, this.#open) : undefined;
    if (opened) {
      this.#clearOpen();
      this.#open = "";
      this.#openChanged = false;
      this.#fence = opened.fence;
      this.element.append(opened.fence.element);
      this.#feedFence(opened.rest);
      if (!this.#fence) this.#settle();
    } else if (certain && this.#open.length > LONGEST) {
      const parts = cut(growing, this.#open);
      if (!parts) return;
      this.#open = parts.rest;
      const [first] = this.#keep(lex(parts.head, this.#known()));
      this.#within ??= first?.within ?? (first?.nodes[0] as Element | undefined);
    }
  }

  /** Puts finished blocks into the page, each on its own: one may have to be drawn again for a late definition. */
  #keep(tokens: Token[]): Settled[] {
    const kept: Settled[] = [];
    if (tokens.length > 0) this.#clearOpen();
    for (const token of tokens) {
      if (token.type === "space") continue;
      if (token.type === "def") {
        this.#define(token.tag, { href: token.href, title: token.title });
        continue;
      }
      const above = this.#outline;
      const { nodes, outline, within } = this.#place([token], above);
      this.#outline = outline;
      this.#within = undefined;
      const block = { source: token.raw, nodes, above, within };
      kept.push(block);
      if (token.type !== "code" && token.raw.includes("]")) this.#referring.push(block);
    }
    return kept;
  }

  /** Appends blocks, the first one inside the element that it continues. */
  #place(tokens: Token[], above: number): { nodes: ChildNode[]; outline: number; within: Element | undefined } {
    const { nodes, outline } = render(this.strings, tokens, above);
    const within = this.#within;
    const parts = within && continuation(within, nodes[0]);
    if (!within || !parts) {
      this.element.append(...nodes);
      return { nodes: nodes as ChildNode[], outline, within: undefined };
    }
    inside(within).append(...parts);
    const others = nodes.slice(1);
    this.element.append(...others);
    return { nodes: [...parts, ...others] as ChildNode[], outline, within };
  }

  #define(tag: string, link: Definitions[string]): void {
    if (this.#definitions[tag]) return;
    this.#definitions[tag] = link;
    for (const block of this.#referring) {
      if (!block.source.toLowerCase().replace(/\s+/g, " ").includes(`[${tag}]`)) continue;
      const { nodes } = render(this.strings, lex(block.source, this.#known()), block.above);
      const fresh = ((block.within && continuation(block.within, nodes[0])) ?? nodes) as ChildNode[];
      const [first, ...others] = block.nodes;
      for (const node of others) node.remove();
      first?.replaceWith(...fresh);
      if (this.#within && this.#within === first) this.#within = fresh[0] as Element;
      block.nodes = fresh;
    }
  }

  /** A copy: a definition in the open block may still change while it is written. */
  #known(): Definitions {
    return Object.assign(Object.create(null) as Definitions, this.#definitions);
  }

  #drawOpen(): void {
    this.#openChanged = false;
    this.#clearOpen();
    this.#openNodes = this.#place(lex(this.#open, this.#known()), this.#outline).nodes;
  }

  #clearOpen(): void {
    for (const node of this.#openNodes) node.remove();
    this.#openNodes = [];
  }

  #finish(): void {
    this.#fence?.finish();
    this.#fence = undefined;
    this.#clearOpen();
    this.#keep(lex(this.#open, this.#known()));
    this.#open = "";
    this.#openChanged = false;
  }
}
