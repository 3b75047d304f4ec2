import { find, setText } from "./dom.ts";

/** Where a message is written: Enter sends, Shift+Enter breaks the line, and stop stands in for send while a turn runs. */
export class Composer {
  #form = find("composer-form", HTMLFormElement);
  #field = find("composer", HTMLTextAreaElement);
  #send = find("send", HTMLButtonElement);
  #stop = find("stop", HTMLButtonElement);
  #hint = find("hint", HTMLElement);
  #running = false;

  constructor(send: (text: string) => void, stop: () => void) {
    const submit = () => {
      if (this.#running) {
        setText(this.#hint, "An answer is on its way. Esc stops it.");
        return;
      }
      const text = this.#field.value.trim();
      if (!text) return;
      this.#field.value = "";
      this.#grow();
      send(text);
    };
    this.#form.addEventListener("submit", (event) => {
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
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#running && !document.querySelector("dialog[open]")) stop();
    });
    this.#rest();
  }

  /** Swaps send and stop; the focus never falls into the gap. */
  set running(running: boolean) {
    const held = document.activeElement === this.#send || document.activeElement === this.#stop;
    this.#running = running;
    this.#send.hidden = running;
    this.#stop.hidden = !running;
    if (held) this.#field.focus();
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
    setText(this.#hint, text);
  }

  focus(): void {
    this.#field.focus();
  }

  #rest(): void {
    setText(this.#hint, this.#running ? "Esc stops the answer" : "Enter sends, Shift+Enter starts a new line");
  }

  /** The copy behind the field (see .field in the style sheet) gives it its height without measuring. */
  #grow(): void {
    const { parentElement } = this.#field;
    if (parentElement) parentElement.dataset.value = this.#field.value;
  }
}
