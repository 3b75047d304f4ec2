import { copyButton } from "./clipboard.ts";
import { h, icon, setText } from "./dom.ts";
import { bytes, count, percent } from "./format.ts";
import type { Transfer, TransferState } from "./transfer.ts";

/** Between two changes of the figures, in ms: a number that changes with each frame can't be read. */
const FIGURES = 250;

export type Action = "pause" | "resume" | "again" | "choose" | "cancel" | "remove";

const ACTIONS: Record<Action, { label: (name: string) => string; icon: string; states: TransferState[] }> = {
  pause: { label: (name) => `Pause ${name}`, icon: "pause", states: ["preparing", "uploading", "offline"] },
  resume: { label: (name) => `Go on with ${name}`, icon: "play", states: ["paused"] },
  again: { label: (name) => `Upload ${name} again`, icon: "again", states: ["failed", "cancelled"] },
  choose: { label: (name) => `Choose ${name} again`, icon: "attach", states: ["left"] },
  cancel: {
    label: (name) => `Cancel ${name}`, icon: "cancel", states: ["waiting", "preparing", "uploading", "paused", "offline", "reporting"],
  },
  remove: {
    label: (name) => `Remove ${name} from the list`, icon: "close", states: ["processing", "ready", "failed", "cancelled", "left"],
  },
};

/** One file of the list. Its elements stay: whoever holds the focus in it keeps it. */
export class FileRow {
  readonly element: HTMLLIElement;
  #size: HTMLElement;
  #bar: HTMLElement;
  #fill = h("i");
  #stage = h("span", { class: "file-stage", "data-testid": "file-stage" });
  #figures = h("span", { class: "file-figures", "data-testid": "file-figures" });
  #sum: HTMLButtonElement | undefined;
  #line: HTMLElement;
  #trouble = h("div", { class: "trouble", hidden: true });
  #buttons: Record<Action, HTMLButtonElement>;
  #state: TransferState | undefined;
  #figuresAt = 0;

  constructor(readonly transfer: Transfer, act: (action: Action, row: FileRow) => void) {
    const { name, size } = transfer;
    const button = (action: Action) => {
      const { label, icon: symbol } = ACTIONS[action];
      const element = h("button", {
        type: "button", class: "tool-button bare", "data-action": action, "aria-label": label(name), title: label(name), hidden: true,
      }, icon(symbol));
      element.addEventListener("click", ({ detail }) => {
        // The second click of a double click was meant for the button that was here before.
        if (detail < 2) act(action, this);
      });
      return element;
    };
    this.#buttons = Object.fromEntries(Object.keys(ACTIONS).map((action) => [action, button(action as Action)])) as Record<Action, HTMLButtonElement>;
    this.#bar = h("div", {
      class: "meter", role: "progressbar", "aria-label": `Upload of ${name}`, "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0",
    }, this.#fill);
    this.#size = h("span", { class: "file-size" }, bytes(size));
    this.#line = h("p", { class: "file-line" }, this.#stage, this.#figures);
    this.element = h(
      "li",
      { class: "file", "data-testid": "file" },
      h("div", { class: "file-head" }, icon("file"), h("span", { class: "file-name", title: name }, name), this.#size),
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
    setText(this.#stage, stageOf(transfer));
    setText(this.#figures, figuresOf(transfer));
    return false;
  }

  /** The first button that can be pressed. */
  get button(): HTMLButtonElement | undefined {
    return Object.values(this.#buttons).find(({ hidden }) => !hidden);
  }

  #enter(state: TransferState): void {
    const { transfer } = this;
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    this.#state = state;
    this.element.dataset.state = state;
    for (const action of Object.keys(ACTIONS) as Action[]) {
      this.#buttons[action].hidden = !ACTIONS[action].states.includes(state) || (action === "again" && !transfer.file);
    }
    this.#showSum(state === "ready" ? (transfer.record?.checksum ?? "") : "");
    const { trouble } = transfer;
    this.#trouble.hidden = !trouble;
    if (trouble) {
      const reference = h("details", { class: "reference" }, h("summary", {}, "Details"), h("p", {}, trouble.reference));
      this.#trouble.replaceChildren(h("p", {}, trouble.advice), reference);
    } else this.#trouble.replaceChildren();
    if (focused && !focused.checkVisibility()) this.button?.focus();
  }

  #showSum(sum: string): void {
    this.#sum?.remove();
    this.#sum = undefined;
    if (!sum) return;
    const short = `SHA-256 ${sum.slice(0, 8)}…`;
    this.#sum = copyButton(short, `${short} of ${this.transfer.name}, copy`, () => sum);
    this.#sum.classList.add("sum");
    this.#sum.title = `SHA-256 ${sum}`;
    this.#sum.dataset.testid = "file-sum";
    this.#line.append(this.#sum);
  }
}

export function stageOf({ state, progress, status, trouble, continuedAt }: Transfer): string {
  switch (state) {
    case "waiting":
      return "Waiting for its turn";
    case "preparing":
      return "Preparing";
    case "uploading":
      // The sum is computed beside the upload and may take a moment more.
      return progress && progress.blocksTotal > 0 && progress.blocksDone === progress.blocksTotal ? "Checking" : "Uploading";
    case "paused":
      return "Paused";
    case "offline":
      return "Waiting for the network";
    case "reporting":
      return "Telling the service";
    case "processing":
      return status === "" || status === "processing" ? "Stored. The service is reading it" : `Stored. The service says: ${status}`;
    case "ready":
      return "Ready";
    case "failed":
      return `Failed: ${trouble?.message ?? "the upload did not complete"}`;
    case "cancelling":
      return "Cancelling";
    case "cancelled":
      return "Cancelled";
    case "left":
      return continuedAt > 0 ? `${continuedAt} % is stored. Choose the file again to go on` : "Choose the file again to upload it";
  }
}

function figuresOf({ state, progress, size, continuedAt }: Transfer): string {
  const { loadedBytes = 0, blocksDone = 0, blocksTotal = 0, bytesPerSecond = 0, secondsLeft } = progress ?? {};
  const figures: string[] = [];
  const moving = state === "uploading" || state === "paused" || state === "offline" || (state === "waiting" && loadedBytes > 0);
  if (moving) figures.push(`${percent(loadedBytes, size)} %`);
  if (state === "uploading" && bytesPerSecond > 0) {
    figures.push(`${bytes(bytesPerSecond)}/s`);
    const seconds = Math.ceil(secondsLeft ?? 0);
    if (seconds > 0) figures.push(seconds < 60 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`);
  }
  if ((moving || state === "ready") && blocksTotal > 0) figures.push(moving ? `${blocksDone}/${count(blocksTotal, "block")}` : count(blocksTotal, "block"));
  if ((moving || state === "ready") && continuedAt > 0) figures.push(`went on at ${continuedAt} %`);
  return figures.join(" · ");
}
