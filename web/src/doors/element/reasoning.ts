import { h, icon, setText } from "./dom.ts";
import { GrowingText } from "./growing-text.ts";
import type { ChatStrings } from "./types.d.ts";

/** A stretch of reasoning, folded away: most readers want to know that it goes on, few what it says. */
export class Reasoning {
  readonly element: HTMLElement;
  #title: HTMLElement;
  #body = h("div", { class: "reasoning-text", dir: "auto" });
  #text = new GrowingText(this.#body);
  #waiting = "";
  #started = performance.now();

  constructor(private readonly strings: ChatStrings, private readonly timed: boolean) {
    this.#title = h("span", {}, strings.thinking);
    this.element = h(
      "details",
      { class: "part reasoning", part: "reasoning", "data-status": "thinking" },
      h("summary", {}, icon("thought"), this.#title, icon("chevron")),
      this.#body,
    );
  }

  append(text: string): void {
    this.#waiting += text;
  }

  draw(): boolean {
    if (this.#waiting) this.#text.append(this.#waiting);
    this.#waiting = "";
    return false;
  }

  end(): void {
    this.element.dataset.status = "thought";
    setText(this.#title, this.strings.thought(this.timed ? this.strings.duration(performance.now() - this.#started) : ""));
  }
}
