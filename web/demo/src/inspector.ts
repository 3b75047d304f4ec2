import { copyButton } from "../../src/doors/element/clipboard.ts";
import { h, setText } from "../../src/doors/element/dom.ts";
import { grouped, pretty } from "../../src/doors/element/format.ts";
import { nextFrame } from "../../src/doors/element/frame.ts";
import { EventLog, type Entry } from "./event-log.ts";
import { find } from "./find.ts";
import { ROW, VirtualList, type Row } from "./virtual-list.ts";

/** Logs kept for looking back; older ones would hold on to everything their turns ever received. */
const LOGS = 20;
const PREVIEW = 160;
const DETAIL_LINE = 18;
const DETAIL_LINES = 14;
/** The open part's padding, border and horizontal scroll bar. */
const DETAIL_FRAME = 34;

/** The panel that lists every event of a turn as it came over the wire. */
export class Inspector {
  /** What the client does on the network, since the page was opened. */
  readonly requests = new EventLog("Requests of this page");
  #logs: EventLog[] = [];
  #log: EventLog | undefined;
  /** Positions of the entries that pass the filter; undefined while everything does. */
  #passing: Entry[] | undefined;
  #filtered = 0;
  #only = new Set<string>();
  #open = new Map<Entry, number>();
  #extra: [number, number][] = [];
  #chips = new Map<string, { button: HTMLButtonElement; count: HTMLElement }>();
  #list: VirtualList;
  #panel = find("inspector", HTMLElement);
  #toggle = find("inspector-toggle", HTMLButtonElement);
  #source = find("inspector-source", HTMLSelectElement);
  #filter = find("inspector-filter", HTMLElement);
  #summary = find("inspector-summary", HTMLElement);
  #empty = find("inspector-empty", HTMLElement);

  constructor(sheet: (open: boolean) => void) {
    const inspector = this;
    this.#list = new VirtualList(find("inspector-events", HTMLElement), "Events", {
      get count() {
        return inspector.#entries.length;
      },
      get extra() {
        return inspector.#extra;
      },
      build: (position) => this.#row(position),
    });
    const show = (open: boolean) => {
      this.#panel.hidden = !open;
      this.#toggle.setAttribute("aria-expanded", String(open));
      sheet(open);
      if (open) nextFrame(this.#draw);
    };
    this.#toggle.addEventListener("click", () => {
      show(this.#panel.hidden !== false);
      if (!this.#panel.hidden) find("inspector-close", HTMLButtonElement).focus();
    });
    const close = () => {
      show(false);
      this.#toggle.focus();
    };
    find("inspector-close", HTMLButtonElement).addEventListener("click", close);
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      // The same key stops a turn, but not from in here.
      event.stopPropagation();
      close();
    });
    this.requests.onAdd = () => this.changed(this.requests);
    this.#source.addEventListener("change", () => this.#select(this.#logs[Number(this.#source.value)] ?? this.requests));
    this.#listSources();
    find("inspector-actions", HTMLElement).prepend(
      copyButton({ copied: "Copied", notCopied: "Could not copy" }, "Copy", "Copy the listed events as JSON", () => JSON.stringify(this.#entries, null, 2)),
    );
    nextFrame(this.#draw);
  }

  /** Begins a log and shows it, unless the reader is looking at an older one with the panel open. */
  watch(log: EventLog): void {
    const atNewest = this.#logs.length === 0 || this.#log === this.#logs.at(-1);
    this.#logs.push(log);
    if (this.#logs.length > LOGS) this.#logs.shift();
    this.#listSources();
    const kept = this.#log === this.requests || (this.#log && this.#logs.includes(this.#log));
    if (atNewest || !kept || this.#panel.hidden) this.#select(log);
    else this.#select(this.#log);
  }

  #listSources(): void {
    const turns = this.#logs.map((log, at) => h("option", { value: String(at) }, log.label));
    this.#source.replaceChildren(...turns, h("option", { value: "-1" }, this.requests.label));
    if (turns.length === 0) this.#select(this.requests);
  }

  /** Events were added to a log. */
  changed(log: EventLog): void {
    if (log === this.#log && !this.#panel.hidden) nextFrame(this.#draw);
  }

  #select(log: EventLog | undefined): void {
    this.#source.value = String(log ? this.#logs.indexOf(log) : -1);
    if (log === this.#log) return;
    this.#log = log;
    this.#only.clear();
    this.#open.clear();
    this.#chips.clear();
    this.#filter.replaceChildren();
    this.#refilter();
  }

  get #entries(): readonly Entry[] {
    return this.#passing ?? this.#log?.entries ?? [];
  }

  #refilter(): void {
    this.#passing = this.#only.size > 0 ? [] : undefined;
    this.#filtered = 0;
    this.#pass();
    this.#measure();
    this.#list.reset();
    nextFrame(this.#draw);
  }

  /** Sorts what has come since into the filtered view. */
  #pass(): void {
    if (!this.#passing || !this.#log) return;
    const { entries } = this.#log;
    for (; this.#filtered < entries.length; this.#filtered++) {
      const entry = entries[this.#filtered];
      if (entry && this.#only.has(entry.type)) this.#passing.push(entry);
    }
  }

  #measure(): void {
    const entries = this.#entries;
    this.#extra = [...this.#open]
      .map(([entry, height]): [number, number] => [this.#passing ? entries.indexOf(entry) : entry.n - 1, height])
      .filter(([position]) => position >= 0)
      .sort(([a], [b]) => a - b);
  }

  #draw = (): void => {
    if (this.#panel.hidden) return;
    this.#pass();
    this.#drawChips();
    const log = this.#log;
    const shown = this.#entries.length;
    this.#empty.hidden = shown > 0;
    const last = log?.entries.at(-1)?.ms ?? 0;
    const dropped = log?.dropped ? ` · ${grouped(log.dropped)} more not kept` : "";
    setText(
      this.#summary,
      log ? `${grouped(shown)} of ${grouped(log.total)} events · ${ms(last)} ms${dropped}` : "",
    );
    this.#list.changed();
  };

  #drawChips(): void {
    for (const [type, count] of this.#log?.counts ?? []) {
      let chip = this.#chips.get(type);
      if (!chip) {
        const number = h("span", { class: "count" });
        const button = h("button", { type: "button", class: "chip", "aria-pressed": "false", "data-type": type }, type, " ", number);
        button.addEventListener("click", () => {
          if (!this.#only.delete(type)) this.#only.add(type);
          button.setAttribute("aria-pressed", String(this.#only.has(type)));
          this.#refilter();
        });
        chip = { button, count: number };
        this.#chips.set(type, chip);
        this.#filter.append(button);
      }
      setText(chip.count, grouped(count));
    }
  }

  #row(position: number): Row {
    const entry = this.#entries[position] as Entry;
    const open = this.#open.has(entry);
    const button = h(
      "button",
      { type: "button", class: "event", "aria-expanded": String(open), "data-type": entry.type },
      h("span", { class: "n" }, String(entry.n)),
      h("span", { class: "type" }, entry.type),
      h("span", { class: "data" }, preview(entry.data)),
      h("span", { class: "ms" }, ms(entry.ms)),
    );
    const element = h("div", { class: "row", "data-testid": "inspector-row" }, button);
    button.addEventListener("click", () => this.#flip(position, entry));
    const height = this.#open.get(entry);
    if (height !== undefined) {
      const data = h("pre", { tabindex: "0", role: "group", "aria-label": `Data of event ${entry.n}` }, pretty(entry.data));
      data.style.height = `${height}px`;
      element.append(data);
    }
    return { element, focus: button };
  }

  #flip(position: number, entry: Entry): void {
    if (!this.#open.delete(entry)) {
      const lines = pretty(entry.data).split("\n").length;
      this.#open.set(entry, Math.min(lines, DETAIL_LINES) * DETAIL_LINE + DETAIL_FRAME);
    }
    this.#measure();
    this.#list.rebuild(position);
  }
}

// Heights are computed, not measured, so the style sheet has to use the same numbers.
document.documentElement.style.setProperty("--row", `${ROW}px`);
document.documentElement.style.setProperty("--detail-line", `${DETAIL_LINE}px`);

function ms(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0);
}

function preview(data: unknown): string {
  const text = JSON.stringify(data) ?? "";
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
}
