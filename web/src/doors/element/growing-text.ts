/** A text node past this length is closed at its next line end: layout then has only the last one to do again. */
const PIECE = 2_000;

/** Appends preformatted text for as long as one likes at a cost that depends on what is added, not on what is there. */
export class GrowingText {
  #text: Text | undefined;

  constructor(readonly element: HTMLElement) {}

  append(text: string): void {
    while (text) {
      if (!this.#text) {
        const piece = document.createElement("span");
        piece.className = "piece";
        this.#text = document.createTextNode("");
        piece.append(this.#text);
        this.element.append(piece);
      }
      const room = Math.max(0, PIECE - this.#text.length);
      const end = text.indexOf("\n", room);
      if (end < 0) {
        this.#text.appendData(text);
        return;
      }
      this.#text.appendData(text.slice(0, end + 1));
      text = text.slice(end + 1);
      this.#text = undefined;
    }
  }
}
