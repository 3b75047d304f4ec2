import { find, h } from "./dom.ts";
import { afterFrame } from "./frame.ts";

/** Within this many px of the end, a reader counts as being at the end. */
const NEAR = 48;

/** The conversation's scrolling column. It follows what is written for as long as the reader is at its end. */
export class Thread {
  #scroller = find("thread", HTMLElement);
  #column = find("messages", HTMLElement);
  #welcome = find("welcome", HTMLElement);
  #latest = find("latest", HTMLButtonElement);
  #following = true;

  constructor() {
    this.#scroller.addEventListener("scroll", () => this.#look(), { passive: true });
    // Who unfolds something wants to read it: it must not be scrolled away by what it pushes down.
    let folding = false;
    this.#column.addEventListener("click", ({ target }) => {
      if (!(target instanceof Element) || !target.closest("summary")) return;
      folding = true;
      this.#following = false;
    });
    this.#column.addEventListener("toggle", () => {
      if (folding) this.#look();
      folding = false;
    }, { capture: true });
    this.#latest.addEventListener("click", () => {
      this.#following = true;
      this.follow();
      this.#scroller.focus({ preventScroll: true });
    });
    // What is read moves when the window, the composer or a panel changes size.
    const resized = new ResizeObserver(() => this.follow());
    resized.observe(this.#scroller);
    resized.observe(this.#column);
  }

  addUser(text: string): void {
    this.#welcome.hidden = true;
    this.#column.append(
      h("article", { class: "user", "data-testid": "message-user", "aria-label": "You" }, h("p", {}, text)),
    );
    this.#following = true;
    this.follow();
  }

  add(element: HTMLElement): void {
    this.#column.append(element);
    this.follow();
  }

  clear(): void {
    this.#column.replaceChildren();
    this.#welcome.hidden = false;
    this.#latest.hidden = true;
    this.#following = true;
  }

  #look(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    this.#following = scrollTop + clientHeight >= scrollHeight - NEAR;
    this.#latest.hidden = this.#following || !this.#welcome.hidden;
  }

  follow(): void {
    // Without a message there is nothing to follow, and the beginning is what there is to read.
    if (!this.#following || !this.#welcome.hidden) return;
    afterFrame(() => {
      if (this.#following && this.#welcome.hidden) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    });
  }
}
