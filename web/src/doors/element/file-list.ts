import type { AgentClient } from "turnwire";
import { focused, h, icon, setText } from "./dom.ts";
import { FileRow, stageOf, type Action } from "./file-row.ts";
import { nextFrame } from "./frame.ts";
import { topicsOf } from "./topics.ts";
import type { Transfer, TransferWorld } from "./transfer.ts";
import type { ChatFileState, ChatStrings } from "./types.d.ts";
import { Uploads } from "./uploads.ts";

export interface FileListUI extends Omit<TransferWorld, "changed"> {
  strings: ChatStrings;
  /** Opens the list of files; takes the focus of a row that is gone. */
  attach: HTMLButtonElement;
  /** A file is in another state. */
  entered: (transfer: Transfer) => void;
  /** Said to screen readers: when a file gets to its next stage, never while it is on its way. */
  announce: (text: string) => void;
  /** Shown where a reader looks who has just added something. */
  hint: (text: string) => void;
  ask: (question: string) => void;
  /** Begins a question that the reader finishes. */
  draft: (beginning: string) => void;
}

/** Stages that pass by too soon to be worth a word. */
const UNSAID: ChatFileState[] = ["preparing", "reporting", "cancelling"];

/** The files above the message field. Whatever happens to them, they are drawn once a frame. */
export class FileList {
  #uploads: Uploads;
  #rows = new Map<Transfer, FileRow>();
  #stale = new Set<Transfer>();
  #said = new Map<Transfer, ChatFileState>();
  /** Said in one piece at the end of a frame: the second of two would replace the first. */
  #notes: string[] = [];
  #questions: { transfer: Transfer; about: string[] } | undefined;
  /** By transfer, for who is told of each state once. */
  #states = new Map<Transfer, ChatFileState>();
  #title = h("b");
  #heading = h("span", { part: "files-heading" });
  #list = h("ul");
  #asks = h("div", { class: "asks", role: "group", hidden: true });
  readonly element = h("details", { class: "files", part: "files", open: true, hidden: true }, h("summary", {}, this.#title, this.#heading, icon("chevron")), this.#list, this.#asks);
  readonly input = h("input", { part: "file-input", type: "file", multiple: true, hidden: true });

  constructor(private readonly ui: FileListUI) {
    this.#uploads = new Uploads({ ...ui, changed: (transfer) => this.#changed(transfer) });
    ui.attach.addEventListener("click", () => this.input.click());
    this.input.addEventListener("change", () => {
      this.add([...(this.input.files ?? [])]);
      // The same file can be chosen once more.
      this.input.value = "";
    });
    this.label();
  }

  /** Says everything in the words of now. */
  label(): void {
    const { strings } = this.ui;
    setText(this.#title, strings.files);
    this.#list.setAttribute("aria-label", strings.files);
    this.#asks.setAttribute("aria-label", strings.questions);
    this.input.setAttribute("aria-label", strings.attach);
  }

  /** After a reload: shows the files of before. */
  restore(): void {
    this.#uploads.restore();
    for (const transfer of this.#uploads.all) this.#changed(transfer);
  }

  add(files: readonly File[]): void {
    const { added, there } = this.#uploads.add(files);
    for (const transfer of added) this.#changed(transfer);
    if (added.length > 0) this.element.open = true;
    for (const transfer of there) {
      this.refuse(this.ui.strings.inList(transfer.name));
      nextFrame(() => this.#rows.get(transfer)?.element.scrollIntoView({ block: "nearest" }));
    }
    nextFrame(() => this.#rows.get(added.at(-1)!)?.element.scrollIntoView({ block: "nearest" }));
  }

  /** The page goes to another workspace: nothing of this one is meant any more. */
  clear(): void {
    this.#uploads.clear();
    nextFrame(this.#draw);
  }

  keep(): void {
    this.#uploads.keep();
  }

  leave(pageHide: AgentClient["pageHide"]): void {
    this.#uploads.leave(pageHide);
  }

  settled(): Promise<void> {
    return this.#uploads.settled();
  }

  /** Says why something was not added. */
  refuse(why: string): void {
    this.ui.hint(why);
    this.#notes.push(why);
    nextFrame(this.#draw);
  }

  #changed(transfer: Transfer): void {
    if (this.#states.get(transfer) !== transfer.state) {
      this.#states.set(transfer, transfer.state);
      this.ui.entered(transfer);
    }
    this.#stale.add(transfer);
    nextFrame(this.#draw);
  }

  #draw = (): boolean => {
    const { all } = this.#uploads;
    for (const [transfer, row] of this.#rows) {
      if (!all.includes(transfer)) this.#drop(transfer, row);
    }
    const stale = [...this.#stale];
    this.#stale.clear();
    for (const transfer of stale) {
      if (!all.includes(transfer)) continue;
      let row = this.#rows.get(transfer);
      if (!row) {
        row = new FileRow(this.ui.strings, transfer, (action, from) => this.#act(action, from));
        this.#rows.set(transfer, row);
        this.#list.append(row.element);
      }
      if (row.draw()) this.#stale.add(transfer);
      this.#say(transfer);
    }
    this.element.hidden = all.length === 0;
    const counts: Partial<Record<ChatFileState, number>> = {};
    for (const { state } of all) counts[state] = (counts[state] ?? 0) + 1;
    setText(this.#heading, this.ui.strings.filesCount(counts));
    if (this.#notes.length > 0) this.ui.announce(this.#notes.join(" "));
    this.#notes = [];
    return this.#stale.size > 0;
  };

  #say(transfer: Transfer): void {
    const { state, name, trouble } = transfer;
    if (this.#said.get(transfer) === state || UNSAID.includes(state)) return;
    this.#said.set(transfer, state);
    this.#notes.push([`${name}: ${stageOf(this.ui.strings, transfer)}.`, trouble?.advice].filter(Boolean).join(" "));
    if (state === "ready") void this.#offer(transfer);
  }

  #act(action: Action, { transfer }: FileRow): void {
    const { file } = transfer;
    if (action === "pause") transfer.pause();
    else if (action === "resume") transfer.resume();
    else if (action === "cancel") void transfer.cancel();
    else if (action === "remove") this.#uploads.remove(transfer);
    else if (action === "again" && file) transfer.take(file);
    else this.input.click();
    nextFrame(this.#draw);
  }

  /** Takes a row away; the focus goes to its neighbour. */
  #drop(transfer: Transfer, { element }: FileRow): void {
    const rows = [...this.#rows.values()];
    const at = rows.findIndex((row) => row.element === element);
    const held = element.contains(focused(element));
    element.remove();
    this.#rows.delete(transfer);
    this.#said.delete(transfer);
    this.#states.delete(transfer);
    if (this.#questions?.transfer === transfer) this.#showQuestions(undefined);
    if (held) ((rows[at + 1] ?? rows[at - 1])?.button ?? this.ui.attach).focus();
  }

  /** Questions about the file that was ready last. */
  async #offer(transfer: Transfer): Promise<void> {
    const about = transfer.file ? await topicsOf(transfer.file) : [];
    if (this.#rows.has(transfer)) this.#showQuestions({ transfer, about });
  }

  #showQuestions(questions: { transfer: Transfer; about: string[] } | undefined): void {
    this.#questions = questions;
    const { transfer, about = [] } = questions ?? {};
    const name = transfer?.name ?? "";
    const chip = (label: string, act: () => void) => h("button", { type: "button", class: "ask", part: "ask button", click: act }, label);
    const chips = about.map((topic) => this.ui.strings.question(name, topic)).map((question) =>
      chip(question, () => {
        this.#showQuestions(undefined);
        this.ui.ask(question);
      }),
    );
    if (questions && chips.length === 0) chips.push(chip(this.ui.strings.askAbout(name), () => this.ui.draft(this.ui.strings.questionBegun(name))));
    this.#asks.replaceChildren(...chips);
    this.#asks.hidden = chips.length === 0;
  }
}

