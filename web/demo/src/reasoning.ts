import { h, icon, setText } from "./dom.ts";
import { duration } from "./format.ts";
import { GrowingText } from "./growing-text.ts";

/** A stretch of reasoning, folded away: most readers want to know that it goes on, few what it says. */
export class Reasoning {
  readonly element: HTMLElement;
  #title = h("span", {}, "Thinking…");
  #body = h("div", { class: "reasoning-text" });
  #text = new GrowingText(this.#body);
  #waiting = "";
  #started = performance.now();

  constructor(private readonly timed: boolean) {
    this.element = h(
      "details",
      { class: "part reasoning", "data-testid": "reasoning", "data-status": "thinking" },
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
    setText(this.#title, this.timed ? `Thought for ${duration(performance.now() - this.#started)}` : "Thought");
  }
}
