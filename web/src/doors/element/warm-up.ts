import { h } from "./dom.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";
import type { ChatStrings } from "./types.d.ts";

const SAMPLES = ["# a\n\nb *c* **d** `e` [f](https://g.example)\n\n", "- h\n- i\n\n", "| j |\n|---|\n| k |\n\n", "```l\nm\n```\n\n", "> n\n"];

/**
 * Renders a little of everything out of sight while nobody waits, one piece at a time: the browser compiles the
 * Markdown code and loads the fonts at their first use, and in the first frame of an answer that would be a hitch.
 */
export function warmUp(strings: ChatStrings, within: Node): void {
  const idle = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 50));
  const place = h("div", { class: "answer visually-hidden", "aria-hidden": "true", inert: true });
  within.appendChild(place);
  const next = (at: number) => {
    const sample = SAMPLES[at];
    if (sample === undefined) {
      place.remove();
      return;
    }
    const markdown = new StreamedMarkdown(strings, place);
    markdown.append(sample);
    markdown.draw(0);
    markdown.end();
    markdown.draw(0);
    idle(() => next(at + 1));
  };
  idle(() => next(0));
}
