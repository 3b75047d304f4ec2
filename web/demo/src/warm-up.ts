import { StreamedMarkdown } from "./streamed-markdown.ts";

const SAMPLES = ["# a\n\nb *c* **d** `e` [f](https://g.example)\n\n", "- h\n- i\n\n", "| j |\n|---|\n| k |\n\n", "```l\nm\n```\n\n", "> n\n"];

/**
 * Renders a little of everything out of sight while nobody waits, one piece at a time: the browser compiles the
 * Markdown code at its first use, and in the first frame of an answer that would be a visible hitch.
 */
export function warmUp(): void {
  const idle = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 50));
  const next = (at: number) => {
    const sample = SAMPLES[at];
    if (sample === undefined) return;
    const markdown = new StreamedMarkdown(document.createElement("div"));
    markdown.append(sample);
    markdown.draw(0);
    markdown.end();
    markdown.draw(0);
    idle(() => next(at + 1));
  };
  idle(() => next(0));
}
