import { focused, h, icon, setText } from "./dom.ts";
import type { ChatStrings } from "./types.d.ts";

export interface ComposerUI {
  /** False where it is not taken: it then stays in the field. */
  send: (text: string) => boolean;
  stop: () => void;
}

/** Where a message is written: Enter sends, Shift+Enter breaks the line, and stop stands in for send while a turn runs. */
export class Composer {
  readonly element: HTMLFormElement;
  readonly hintLine = h("p", { class: "hint", part: "hint", id: "hint" });
  readonly attach = h("button", { type: "button", class: "tool-button bare", part: "attach button" }, icon("attach"));
  readonly #label = h("label", { class: "visually-hidden", for: "field" });
  readonly #field = h("textarea", {
    part: "composer", id: "field", rows: "1", dir: "auto", autocomplete: "off", enterkeyhint: "send", "aria-describedby": "hint",
  });
  readonly #grown = h("div", { class: "field" }, this.#label, this.#field);
  readonly #send = h("button", { type: "submit", class: "round", part: "send" }, icon("send"));
  readonly #stop = h("button", { type: "button", class: "round stop", part: "stop", hidden: true }, icon("stop"));
  #running = false;

  constructor(private readonly strings: ChatStrings, { send, stop }: ComposerUI) {
    const submit = () => {
      if (this.#running) {
        this.hint(strings.hintBusy);
        return;
      }
      const text = this.#field.value.trim();
      if (!text || !send(text)) return;
      this.#field.value = "";
      this.#grow();
    };
    const controls = h("div", { class: "controls" }, this.attach, h("slot", { name: "controls" }), this.#send, this.#stop);
    this.element = h("form", { class: "composer", part: "form" }, this.#grown, controls);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
      this.#field.focus();
    });
    this.#field.addEventListener("input", () => this.#grow());
    this.#field.addEventListener("keydown", (event) => {
      // While an input method composes, Enter takes its suggestion; 229 is how Safari says so.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      submit();
    });
    this.#stop.addEventListener("click", stop);
    this.label();
  }

  /** Says everything in the words of now. */
  label(): void {
    const { strings } = this;
    setText(this.#label, strings.messageField);
    this.#field.placeholder = strings.placeholder;
    this.element.setAttribute("aria-label", strings.message);
    this.#send.setAttribute("aria-label", strings.send);
    this.#stop.setAttribute("aria-label", strings.stop);
    this.attach.setAttribute("aria-label", strings.attach);
    this.attach.title = strings.attachHint;
    this.#rest();
  }

  /** Swaps send and stop; the focus never falls into the gap. */
  set running(running: boolean) {
    const holder = focused(this.element);
    this.#running = running;
    this.#send.hidden = running;
    this.#stop.hidden = !running;
    if (holder === this.#send || holder === this.#stop) this.#field.focus();
    this.#rest();
  }

  /** Puts a message into the field, unless something else is being written there. */
  draft(text: string): void {
    if (this.#field.value) return;
    this.#field.value = text;
    this.#grow();
  }

  /** Shows something in the line below until the next turn begins or ends. */
  hint(text: string): void {
    setText(this.hintLine, text);
  }

  focus(options?: FocusOptions): void {
    this.#field.focus(options);
  }

  #rest(): void {
    this.hint(this.#running ? this.strings.hintRunning : this.strings.hint);
  }

  /** The copy behind the field (see .field in the style sheet) gives it its height without measuring. */
  #grow(): void {
    this.#grown.dataset.value = this.#field.value;
  }
}
