import type { ToolCall } from "turnwire";
import { h, icon, setText } from "./dom.ts";
import { pretty } from "./format.ts";
import type { ChatStrings } from "./types.d.ts";

/** One tool call: what the agent runs, with what, and what came back. */
export class ToolCard {
  readonly element: HTMLElement;
  #name = h("span", { class: "tool-name", part: "tool-name" });
  #state = h("span", { class: "tool-state" });
  #arguments: Block;
  #result: Block;
  #started = performance.now();
  #finished = 0;

  constructor(private readonly strings: ChatStrings, private readonly timed: boolean) {
    this.#arguments = block(strings.toolArguments);
    this.#result = block(strings.toolResult);
    this.element = h(
      "details",
      { class: "part tool", part: "tool-card", "data-status": "building", open: true },
      h("summary", {}, icon("tool"), this.#name, this.#state, icon("chevron")),
      h("div", { class: "tool-body" }, this.#arguments.element, this.#result.element),
    );
    this.#result.element.hidden = true;
  }

  show({ status, name, arguments: given, argumentsText, result }: ToolCall): void {
    const { strings } = this;
    const tool = name || strings.tool;
    const finished = status === "finished";
    this.element.dataset.status = status;
    setText(this.#name, tool);
    this.#arguments.label(strings.toolArgumentsOf(tool));
    this.#result.label(strings.toolResultOf(tool));
    setText(this.#arguments.text, given === undefined ? argumentsText : pretty(given));
    if (finished && !this.#finished) this.#finished = performance.now() - this.#started;
    setText(this.#state, finished ? strings.toolFinished(this.timed ? strings.duration(this.#finished) : "") : status === "running" ? strings.toolRunning : strings.toolBuilding);
    this.#result.element.hidden = !finished;
    if (finished) setText(this.#result.text, pretty(result));
  }

  /** The turn is over: a call without a result will not get one any more. */
  close(): void {
    if (this.element.dataset.status === "finished") return;
    this.element.dataset.closed = "";
    setText(this.#state, this.strings.toolWithoutResult);
  }
}

interface Block {
  element: HTMLElement;
  text: HTMLElement;
  label: (name: string) => void;
}

function block(title: string): Block {
  const text = h("pre", { tabindex: "0", role: "group", "aria-label": title, dir: "ltr" });
  const element = h("div", {}, h("p", { class: "tool-label" }, title), text);
  return { element, text, label: (name) => text.setAttribute("aria-label", name) };
}
