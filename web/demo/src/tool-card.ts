import type { ToolCall } from "turnwire";
import { h, icon, setText } from "./dom.ts";
import { duration, pretty } from "./format.ts";

const LABELS: Record<ToolCall["status"], string> = {
  building: "writing its arguments",
  running: "running",
  finished: "finished",
};

/** One tool call: what the agent runs, with what, and what came back. */
export class ToolCard {
  readonly element: HTMLElement;
  #name = h("span", { class: "tool-name" });
  #state = h("span", { class: "tool-state" });
  #arguments = block("Arguments");
  #result = block("Result");
  #started = performance.now();
  #finished = 0;

  constructor(private readonly timed: boolean) {
    this.element = h(
      "details",
      { class: "part tool", "data-testid": "tool-card", "data-status": "building", open: true },
      h("summary", {}, icon("tool"), this.#name, this.#state, icon("chevron")),
      h("div", { class: "tool-body" }, this.#arguments.element, this.#result.element),
    );
    this.#result.element.hidden = true;
  }

  show(call: ToolCall): void {
    this.element.dataset.status = call.status;
    setText(this.#name, call.name || "tool");
    this.#arguments.label(`Arguments of ${call.name || "the tool"}`);
    this.#result.label(`Result of ${call.name || "the tool"}`);
    setText(this.#arguments.text, call.arguments === undefined ? call.argumentsText : pretty(call.arguments));
    if (call.status === "finished" && !this.#finished) this.#finished = performance.now() - this.#started;
    const took = this.timed && call.status === "finished" ? ` in ${duration(this.#finished)}` : "";
    setText(this.#state, LABELS[call.status] + took);
    this.#result.element.hidden = call.status !== "finished";
    if (call.status === "finished") setText(this.#result.text, pretty(call.result));
  }

  /** The turn is over: a call without a result will not get one any more. */
  close(): void {
    if (this.element.dataset.status === "finished") return;
    this.element.dataset.closed = "";
    setText(this.#state, "no result came");
  }
}

function block(title: string): { element: HTMLElement; text: HTMLElement; label: (name: string) => void } {
  const text = h("pre", { tabindex: "0", role: "group", "aria-label": title });
  const element = h("div", {}, h("p", { class: "tool-label" }, title), text);
  return { element, text, label: (name) => text.setAttribute("aria-label", name) };
}
