import type { TurnEvent, TurnStatus } from "turnwire";
import { copyButton } from "./clipboard.ts";
import { h, icon, setText, type Icon } from "./dom.ts";
import { nextFrame } from "./frame.ts";
import type { Snapshot } from "./kept-chat.ts";
import { Reasoning } from "./reasoning.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";
import { ToolCard } from "./tool-card.ts";
import { troubleBox, type Trouble } from "./trouble.ts";
import type { ChatStrings } from "./types.d.ts";

/** What a reader can do once a turn is over. */
export interface Remedy {
  label: string;
  icon: Icon;
  act: () => void;
}

/**
 * One turn on the page. Events only note what came; everything is drawn once a frame. Reasoning, tool calls and text
 * stand in the order in which they arrived, for an agent that thinks again after a tool is read in that order too.
 */
export class TurnView {
  readonly element: HTMLElement;
  onDraw: () => void = () => {};
  #parts = h("div", { class: "parts" });
  #status = h("p", { class: "turn-status", part: "turn-status" });
  #trouble = h("div", { class: "trouble", part: "trouble" });
  #actions = h("div", { class: "actions", part: "actions" });
  #drawing: { draw(deadline: number): boolean }[] = [];
  #reasoning: Reasoning | undefined;
  #answer: StreamedMarkdown | undefined;
  #cards: ToolCard[] = [];
  #toolsChanged = false;
  #turn: Snapshot | undefined;
  /** Whether it was watched as it came, or comes from what was kept. */
  #live = true;
  #answered = 0;
  #reasoned = 0;
  #events = 0;
  #started = 0;
  #firstText = 0;
  #stopped = "";
  #ending: (() => void) | undefined;

  constructor(private readonly strings: ChatStrings, number: number) {
    const name = strings.answer(number);
    this.element = h(
      "article",
      { class: "agent", part: "message-agent", tabindex: "-1", "aria-label": name },
      h("h2", { class: "visually-hidden" }, name),
      this.#parts,
      h("footer", {}, this.#status, this.#trouble, this.#actions),
    );
    this.begin();
  }

  /** Back to an empty turn that waits: the first time, and when a broken turn is picked up again. */
  begin(): void {
    this.#parts.replaceChildren();
    this.#trouble.replaceChildren();
    this.#actions.replaceChildren();
    this.#drawing = [];
    this.#cards = [];
    this.#reasoning = this.#answer = this.#turn = undefined;
    this.#answered = this.#reasoned = this.#events = this.#firstText = 0;
    this.#started = performance.now();
    this.#live = true;
    this.#stopped = "";
    this.#say("queued", this.strings.waiting);
  }

  attach(turn: Snapshot): void {
    this.#turn = turn;
  }

  /** Shows a turn of before the page was reloaded. */
  restore(turn: Snapshot, closing: string, remedies: Remedy[]): void {
    this.#live = false;
    this.#turn = turn;
    if (turn.reasoning) this.#open("reasoning");
    this.#toolsChanged = turn.toolCalls.length > 0;
    for (const _ of turn.toolCalls) this.#addCard();
    if (turn.text) this.#open("answer");
    this.#finish(turn.status, closing, undefined, remedies);
  }

  note(event: TurnEvent): void {
    this.#events += 1;
    switch (event.type) {
      case "text_delta":
        this.#firstText ||= performance.now() - this.#started;
        if (!this.#answer) this.#open("answer");
        break;
      case "reasoning_delta":
        if (!this.#reasoning) this.#open("reasoning");
        break;
      case "tool_call_started":
        this.#close();
        this.#addCard();
        this.#toolsChanged = true;
        break;
      case "tool_call_delta":
      case "tool_call":
      case "tool_result":
        this.#toolsChanged = true;
        break;
      default:
    }
  }

  changed(): void {
    nextFrame(this.#draw);
  }

  /** The turn is over; the page says so once everything that came is drawn. Answers with what it says. */
  end(status: TurnStatus, trouble: Trouble | undefined, remedies: Remedy[]): string {
    const closing = this.#closing(status, this.strings.duration(performance.now() - this.#started), trouble);
    this.#finish(status, closing, trouble, remedies);
    return closing;
  }

  #finish(status: TurnStatus, closing: string, trouble: Trouble | undefined, remedies: Remedy[]): void {
    this.#close();
    this.#ending = () => {
      for (const card of this.#cards) card.close();
      this.#say(status, closing + this.#stopped);
      if (trouble) this.#trouble.replaceChildren(...troubleBox(this.strings, trouble));
      const text = this.#turn?.text;
      if (text) this.#actions.append(copyButton(this.strings, this.strings.copy, this.strings.copyAnswer, () => text));
      for (const { label, icon: name, act } of remedies) {
        this.#actions.append(h("button", { type: "button", class: "quiet", part: "button", click: act }, icon(name), h("span", {}, label)));
      }
    };
    this.changed();
  }

  /** What the service said to a stop, empty for yes; it comes later than the stop itself. */
  stopAnswered(refusal: string): void {
    this.#stopped = this.strings.stopAnswered(refusal);
    if (this.element.dataset.status === "cancelled") this.#status.append(this.#stopped);
  }

  #closing(status: TurnStatus, took: string, trouble: Trouble | undefined): string {
    const { strings } = this;
    const why = trouble?.message ?? "";
    switch (status) {
      case "completed":
        return strings.completed(took, strings.events(this.#events), this.#firstText ? strings.duration(this.#firstText) : "");
      case "cancelled":
        return strings.stopped(took);
      case "interrupted":
        return strings.interrupted(took, why);
      default:
        return strings.failed(why);
    }
  }

  #say(status: TurnStatus, text: string): void {
    this.element.dataset.status = status;
    this.#status.dataset.status = status;
    setText(this.#status, text);
  }

  #draw = (deadline: number): boolean => {
    const turn = this.#turn;
    this.#take();
    if (turn && this.#toolsChanged) {
      this.#toolsChanged = false;
      const calls = turn.toolCalls;
      while (this.#cards.length < calls.length) this.#addCard();
      calls.forEach((call, at) => this.#cards[at]?.show(call));
    }
    let left = false;
    for (const part of this.#drawing) left = part.draw(deadline) || left;
    // Finished parts have nothing to draw; only the newest can still grow.
    if (!left) this.#drawing = this.#drawing.slice(-1);
    if (turn?.status === "streaming") {
      this.#say("streaming", this.strings.answering(this.strings.duration(performance.now() - this.#started), this.strings.events(this.#events)));
    }
    if (!left) {
      this.#ending?.();
      this.#ending = undefined;
    }
    this.onDraw();
    return left;
  };

  #open(kind: "answer" | "reasoning"): void {
    this.#close();
    let part: StreamedMarkdown | Reasoning;
    if (kind === "answer") {
      part = this.#answer = new StreamedMarkdown(this.strings, h("div", { class: "part answer", part: "answer", dir: "auto" }));
    } else part = this.#reasoning = new Reasoning(this.strings, this.#live);
    this.#parts.append(part.element);
    this.#drawing.push(part);
  }

  /** Ends the part that is being written, with what belongs to it and came in the same chunk as its end. */
  #close(): void {
    this.#take();
    this.#answer?.end();
    this.#reasoning?.end();
    this.#answer = this.#reasoning = undefined;
  }

  #take(): void {
    if (!this.#turn) return;
    const { text, reasoning } = this.#turn;
    if (this.#answer && text.length > this.#answered) {
      this.#answer.append(text.slice(this.#answered));
      this.#answered = text.length;
    }
    if (this.#reasoning && reasoning.length > this.#reasoned) {
      this.#reasoning.append(reasoning.slice(this.#reasoned));
      this.#reasoned = reasoning.length;
    }
  }

  #addCard(): void {
    const card = new ToolCard(this.strings, this.#live);
    this.#cards.push(card);
    this.#parts.append(card.element);
  }
}
