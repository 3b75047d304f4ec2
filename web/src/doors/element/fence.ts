import { codeBlock } from "./code-block.ts";
import type { GrowingText } from "./growing-text.ts";
import type { ChatStrings } from "./types.d.ts";

const OPENING = /^( {0,3})(`{3,}|~{3,})([^\n]*)\n/;
/** What a line may still be while it could become the closing fence. */
const UNDECIDED = /^ {0,3}[`~]*[ \t]*$/;

/**
 * A fenced code block that is still being written. Code comes in long blocks, and only its last line can end it, so
 * lines are appended and nothing is parsed twice.
 */
export class OpenFence {
  readonly element: HTMLElement;
  #body: GrowingText;
  #indent: RegExp;
  #closing: RegExp;
  #line = "";
  /** How much of the line is in the page already. */
  #shown = 0;
  #between = "";

  /** Takes a fence over once its opening line is complete. */
  static open(strings: ChatStrings, source: string): { fence: OpenFence; rest: string } | undefined {
    const match = OPENING.exec(source);
    if (!match) return undefined;
    const [opening, indent = "", marks = "", info = ""] = match;
    return { fence: new OpenFence(strings, indent.length, marks, info), rest: source.slice(opening.length) };
  }

  private constructor(strings: ChatStrings, indent: number, marks: string, info: string) {
    const block = codeBlock(strings, info);
    this.element = block.element;
    this.#body = block.body;
    this.#indent = new RegExp(`^ {0,${indent}}`);
    this.#closing = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*$`);
  }

  /** Appends code; answers with what follows the closing fence, once that has come. */
  append(source: string): string | undefined {
    let start = 0;
    for (let end = source.indexOf("\n"); end >= 0; end = source.indexOf("\n", start)) {
      this.#line += source.slice(start, end);
      start = end + 1;
      if (this.#closing.test(this.#line)) return source.slice(start);
      this.#show();
      this.#line = "";
      this.#shown = 0;
      this.#between = "\n";
    }
    this.#line += source.slice(start);
    if (!UNDECIDED.test(this.#line)) this.#show();
    return undefined;
  }

  /** The answer is over: a last line without a line end counts. */
  finish(): void {
    if (this.#line && !this.#closing.test(this.#line)) this.#show();
  }

  #show(): void {
    const line = this.#line.replace(this.#indent, "");
    const text = line.slice(this.#shown);
    if (this.#shown === 0) this.#body.append(this.#between + text);
    else this.#body.append(text);
    this.#shown = line.length;
    if (this.#shown > 0) this.#between = "";
  }
}
