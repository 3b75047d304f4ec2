import { copyButton } from "./clipboard.ts";
import { focused, h, icon, setText, type Icon } from "./dom.ts";
import { percent } from "./format.ts";
import type { Transfer } from "./transfer.ts";
import { troubleBox } from "./trouble.ts";
import type { ChatFileState, ChatStrings } from "./types.d.ts";

/** Between two changes of the figures, in ms: a number that changes with each frame can't be read. */
const FIGURES = 250;

export type Action = "pause" | "resume" | "again" | "choose" | "cancel" | "remove";

/** Which of a row's buttons there are in a state, and the string that names each. */
const ACTIONS: Record<Action, { label: `${Action}File`; icon: Icon; states: ChatFileState[] }> = {
  pause: { label: "pauseFile", icon: "pause", states: ["preparing", "uploading", "offline"] },
  resume: { label: "resumeFile", icon: "play", states: ["paused"] },
  again: { label: "againFile", icon: "again", states: ["failed", "cancelled"] },
  choose: { label: "chooseFile", icon: "attach", states: ["left"] },
  cancel: { label: "cancelFile", icon: "cancel", states: ["waiting", "preparing", "uploading", "paused", "offline", "reporting"] },
  remove: { label: "removeFile", icon: "close", states: ["processing", "ready", "failed", "cancelled", "left"] },
};

/** One file of the list. Its elements stay: whoever holds the focus in it keeps it. */
export class FileRow {
  readonly element: HTMLLIElement;
  #size: HTMLElement;
  #bar: HTMLElement;
  #fill = h("i");
  #stage = h("span", { class: "file-stage", part: "file-stage" });
  #figures = h("span", { class: "file-figures", part: "file-figures" });
  #sum: HTMLButtonElement | undefined;
  #line: HTMLElement;
  #trouble = h("div", { class: "trouble", part: "trouble", hidden: true });
  #buttons: Record<Action, HTMLButtonElement>;
  #state: ChatFileState | undefined;
  #figuresAt = 0;

  constructor(private readonly strings: ChatStrings, readonly transfer: Transfer, act: (action: Action, row: FileRow) => void) {
    const { name, size } = transfer;
    const button = (action: Action) => {
      const { label: key, icon: symbol } = ACTIONS[action];
      const label = strings[key](name);
      const element = h("button", {
        type: "button", class: "tool-button bare", part: "button", "data-action": action, "aria-label": label, title: label, hidden: true,
      }, icon(symbol));
      element.addEventListener("click", ({ detail }) => {
        // The second click of a double click was meant for the button that was here before.
        if (detail < 2) act(action, this);
      });
      return element;
    };
    this.#buttons = Object.fromEntries(Object.keys(ACTIONS).map((action) => [action, button(action as Action)])) as Record<Action, HTMLButtonElement>;
    this.#bar = h("div", {
      class: "meter", part: "meter", role: "progressbar", "aria-label": strings.uploadOf(name), "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0",
    }, this.#fill);
    this.#size = h("span", { class: "file-size" }, strings.bytes(size));
    this.#line = h("p", { class: "file-line" }, this.#stage, this.#figures);
    this.element = h(
      "li",
      { class: "file", part: "file" },
      h("div", { class: "file-head" }, icon("file"), h("span", { class: "file-name", part: "file-name", title: name, dir: "auto" }, name), this.#size),
      this.#bar,
      this.#line,
      this.#trouble,
      h("div", { class: "file-actions", role: "group", "aria-label": name }, ...Object.values(this.#buttons)),
    );
  }

  /** Draws what has changed; true where figures are left for later. */
  draw(): boolean {
    const { transfer } = this;
    const { state } = transfer;
    const now = performance.now();
    const changed = state !== this.#state;
    if (changed) this.#enter(state);
    const { loadedBytes = 0, blocksDone = 0, blocksTotal = 0 } = transfer.progress ?? {};
    const whole = state === "ready" || state === "processing";
    // An empty file is one block without a byte.
    const [part, all] = transfer.size > 0 ? [loadedBytes, transfer.size] : [blocksDone, Math.max(blocksTotal, 1)];
    const done = whole ? 1 : part / all;
    const kept = state === "left" ? transfer.continuedAt / 100 : done;
    this.#fill.style.transform = `scaleX(${kept})`;
    const value = String(Math.floor(kept * 100));
    if (this.#bar.getAttribute("aria-valuenow") !== value) this.#bar.setAttribute("aria-valuenow", value);
    if (!changed && now - this.#figuresAt < FIGURES) return true;
    this.#figuresAt = now;
    setText(this.#stage, stageOf(this.strings, transfer));
    setText(this.#figures, figuresOf(this.strings, transfer));
    return false;
  }

  /** The first button that can be pressed. */
  get button(): HTMLButtonElement | undefined {
    return Object.values(this.#buttons).find(({ hidden }) => !hidden);
  }

  #enter(state: ChatFileState): void {
    const { transfer } = this;
    const holder = focused(this.element);
    this.#state = state;
    this.element.dataset.state = state;
    for (const action of Object.keys(ACTIONS) as Action[]) {
      this.#buttons[action].hidden = !ACTIONS[action].states.includes(state) || (action === "again" && !transfer.file);
    }
    this.#showSum(state === "ready" ? (transfer.record?.checksum ?? "") : "");
    const { trouble } = transfer;
    this.#trouble.hidden = !trouble;
    this.#trouble.replaceChildren(...(trouble ? troubleBox(this.strings, trouble) : []));
    if (holder && this.element.contains(holder) && !holder.checkVisibility()) this.button?.focus();
  }

  #showSum(sum: string): void {
    this.#sum?.remove();
    this.#sum = undefined;
    if (!sum) return;
    const short = `SHA-256 ${sum.slice(0, 8)}…`;
    this.#sum = copyButton(this.strings, short, this.strings.sumOf(short, this.transfer.name), () => sum);
    this.#sum.classList.add("sum");
    this.#sum.title = `SHA-256 ${sum}`;
    this.#sum.part.add("file-sum");
    this.#line.append(this.#sum);
  }
}

export function stageOf(strings: ChatStrings, { state, progress, status, trouble, continuedAt }: Transfer): string {
  switch (state) {
    case "waiting":
      return strings.fileWaiting;
    case "preparing":
      return strings.filePreparing;
    case "uploading":
      // The sum is computed beside the upload and may take a moment more.
      return progress && progress.blocksTotal > 0 && progress.blocksDone === progress.blocksTotal ? strings.fileChecking : strings.fileUploading;
    case "paused":
      return strings.filePaused;
    case "offline":
      return strings.fileOffline;
    case "reporting":
      return strings.fileReporting;
    case "processing":
      return strings.fileProcessing(status);
    case "ready":
      return strings.fileReady;
    case "failed":
      return strings.fileFailed(trouble?.message ?? "");
    case "cancelling":
      return strings.fileCancelling;
    case "cancelled":
      return strings.fileCancelled;
    case "left":
      return strings.fileLeft(continuedAt);
  }
}

function figuresOf(strings: ChatStrings, { state, progress, size, continuedAt }: Transfer): string {
  const { loadedBytes = 0, blocksDone = 0, blocksTotal = 0, bytesPerSecond = 0, secondsLeft } = progress ?? {};
  const figures: string[] = [];
  const moving = state === "uploading" || state === "paused" || state === "offline" || (state === "waiting" && loadedBytes > 0);
  if (moving) figures.push(strings.percent(percent(loadedBytes, size)));
  if (state === "uploading" && bytesPerSecond > 0) {
    figures.push(strings.rate(strings.bytes(bytesPerSecond)));
    const seconds = Math.ceil(secondsLeft ?? 0);
    if (seconds > 0) figures.push(strings.timeLeft(seconds));
  }
  if ((moving || state === "ready") && blocksTotal > 0) figures.push(moving ? strings.blocksDone(blocksDone, blocksTotal) : strings.blocks(blocksTotal));
  if ((moving || state === "ready") && continuedAt > 0) figures.push(strings.wentOnAt(continuedAt));
  return figures.join(" · ");
}
