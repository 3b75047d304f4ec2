import { afterFrame, nextFrame } from "../../src/doors/element/frame.ts";

export const ROW = 28;
/** Rows drawn beyond each edge, so that a quick scroll does not show emptiness before the next frame. */
const MARGIN = 8;

export interface Row {
  element: HTMLElement;
  /** What takes the focus when the row is the current one. */
  focus: HTMLElement;
}

export interface ListModel {
  readonly count: number;
  /** Builds the row at a position. Called once for as long as the row stays near the visible part. */
  build(position: number): Row;
  /** Height in px that the open rows add below their first line, by position, ascending. */
  readonly extra: readonly (readonly [position: number, height: number])[];
}

/**
 * A list of which only the visible rows exist. Row heights are known without measuring, so drawing never makes the
 * browser compute layout in between. At its end it follows what is added; arrow keys move one tab stop through it.
 */
export class VirtualList {
  #rows = new Map<number, Row>();
  #top = 0;
  #height = 0;
  #following = true;
  /** Where the list was scrolled to follow its end. */
  #sent = Infinity;
  #current = 0;
  #size: HTMLElement;

  constructor(
    readonly scroller: HTMLElement,
    label: string,
    readonly model: ListModel,
  ) {
    this.#size = document.createElement("div");
    this.#size.className = "rows";
    this.#size.setAttribute("role", "list");
    this.#size.setAttribute("aria-label", label);
    scroller.append(this.#size);
    scroller.addEventListener("scroll", () => {
      this.#top = scroller.scrollTop;
      // The list was sent to its end a frame ago, and more may have come since: that is no reader who left.
      this.#following = (this.#following && this.#top >= this.#sent) || this.#top + this.#height >= this.#total - ROW;
      this.changed();
    });
    scroller.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => {
      this.#height = scroller.clientHeight;
      this.changed();
    }).observe(scroller);
  }

  /** There is more, or something grew: draws with the next frame. */
  changed(): void {
    nextFrame(this.#draw);
  }

  /** Everything is different: builds all rows again, and follows the end. */
  reset(): void {
    for (const row of this.#rows.values()) row.element.remove();
    this.#rows.clear();
    this.#current = 0;
    this.#following = true;
    this.#sent = Infinity;
    this.changed();
  }

  /** Builds one row again, because it was opened or closed. */
  rebuild(position: number): void {
    const row = this.#rows.get(position);
    const focused = row?.element.contains(document.activeElement);
    row?.element.remove();
    this.#rows.delete(position);
    this.#current = position;
    // Opening the last row would otherwise look like a reader who left the end.
    this.#following = this.#following && position >= this.model.count - 1;
    this.#draw();
    if (focused) this.#rows.get(position)?.focus.focus({ preventScroll: true });
  }

  get #total(): number {
    return this.#offset(this.model.count);
  }

  #offset(position: number): number {
    let offset = position * ROW;
    for (const [at, height] of this.model.extra) {
      if (at >= position) break;
      offset += height;
    }
    return offset;
  }

  #at(offset: number): number {
    let low = 0;
    let high = this.model.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#offset(middle + 1) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #draw = (): void => {
    if (this.#height === 0) return;
    const { count } = this.model;
    const total = this.#total;
    if (this.#following) {
      const end = Math.max(0, total - this.#height);
      if (end !== this.#top) {
        this.#top = end;
        afterFrame(() => {
          if (!this.#following) return;
          this.scroller.scrollTop = this.#top;
          this.#sent = this.scroller.scrollTop;
        });
      }
    }
    const from = Math.max(0, this.#at(this.#top) - MARGIN);
    const to = Math.min(count, this.#at(this.#top + this.#height) + MARGIN);
    this.#size.style.height = `${total}px`;
    for (const [position, row] of this.#rows) {
      // The focused row stays although it is out of sight: removing it would throw the reader's focus away.
      if (position < count && ((position >= from && position < to) || row.element.contains(document.activeElement))) continue;
      row.element.remove();
      this.#rows.delete(position);
    }
    if (this.#current < from || this.#current >= to) {
      const focused = this.#rows.get(this.#current)?.element.contains(document.activeElement);
      if (!focused) this.#current = this.#following ? Math.max(from, count - 1) : from;
    }
    for (let position = from; position < to; position++) this.#place(position, count);
  };

  #place(position: number, count: number): void {
    let row = this.#rows.get(position);
    if (!row) {
      row = this.model.build(position);
      row.element.setAttribute("role", "listitem");
      row.element.setAttribute("aria-posinset", String(position + 1));
      this.#rows.set(position, row);
      this.#size.append(row.element);
    }
    row.element.setAttribute("aria-setsize", String(count));
    row.element.style.transform = `translateY(${this.#offset(position)}px)`;
    row.focus.tabIndex = position === this.#current ? 0 : -1;
  }

  #key(event: KeyboardEvent): void {
    const moves: Record<string, number> = {
      ArrowDown: this.#current + 1,
      ArrowUp: this.#current - 1,
      PageDown: this.#current + Math.floor(this.#height / ROW),
      PageUp: this.#current - Math.floor(this.#height / ROW),
      Home: 0,
      End: this.model.count - 1,
    };
    const wanted = moves[event.key];
    const onRow = event.target instanceof HTMLElement && event.target === this.#rows.get(this.#current)?.focus;
    if (wanted === undefined || !onRow) return;
    event.preventDefault();
    const target = Math.min(Math.max(wanted, 0), this.model.count - 1);
    const old = this.#rows.get(this.#current)?.focus;
    if (old) old.tabIndex = -1;
    const offset = this.#offset(target);
    if (offset < this.#top) this.#top = offset;
    else if (offset + ROW > this.#top + this.#height) this.#top = offset + ROW - this.#height;
    this.#following = target === this.model.count - 1;
    this.#current = target;
    this.scroller.scrollTop = this.#top;
    this.#draw();
    const row = this.#rows.get(target);
    if (row) row.focus.tabIndex = 0;
    row?.focus.focus({ preventScroll: true });
  }
}
