import { h, icon, setText } from "./dom.ts";
import { afterFrame } from "./frame.ts";
import type { ChatStrings } from "./types.d.ts";

/** Within this many px of the end, a reader counts as being at the end. */
const NEAR = 48;

/** The conversation's scrolling column. It follows what is written for as long as the reader is at its end. */
export class Thread {
  readonly elements: readonly HTMLElement[];
  #welcome = h("div", { class: "welcome" }, h("slot", { name: "welcome" }));
  #column = h("div", { class: "messages" });
  #scroller = h("div", { class: "thread", part: "thread", tabindex: "0", role: "region" }, this.#welcome, this.#column);
  #latestWord = h("span");
  #latest = h("button", { type: "button", class: "latest", part: "latest", hidden: true }, icon("down"), this.#latestWord);
  #following = true;

  constructor(private readonly strings: ChatStrings) {
    this.elements = [this.#scroller, h("div", { class: "latest-place" }, this.#latest)];
    this.label();
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

  /** Says everything in the words of now. */
  label(): void {
    this.#scroller.setAttribute("aria-label", this.strings.conversation);
    setText(this.#latestWord, this.strings.latest);
  }

  addUser(text: string): void {
    this.#welcome.hidden = true;
    this.#column.append(
      h("article", { class: "user", part: "message-user", "aria-label": this.strings.you }, h("p", { dir: "auto" }, text)),
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
