import { focused, h, icon } from "./dom.ts";
import type { ChatStrings } from "./types.d.ts";

const SHOWN_FOR = 1_600;

/** Makes a button that copies, and says on itself whether that worked. */
export function copyButton(strings: Pick<ChatStrings, "copied" | "notCopied">, label: string, name: string, text: () => string): HTMLButtonElement {
  const words = h("span", {}, label);
  const button = h("button", { type: "button", class: "quiet", part: "button", "aria-label": name }, icon("copy"), words);
  let timer = 0;
  button.addEventListener("click", async () => {
    const copied = await copy(text(), button);
    words.textContent = copied ? strings.copied : strings.notCopied;
    button.setAttribute("aria-label", words.textContent);
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      words.textContent = label;
      button.setAttribute("aria-label", name);
    }, SHOWN_FOR);
  });
  return button;
}

async function copy(text: string, beside: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text, beside);
  }
}

/** A page on plain http off this machine has no navigator.clipboard. Beside the button: a modal dialog makes everything else inert. */
function copyBySelection(text: string, beside: Element): boolean {
  const area = h("textarea", { class: "visually-hidden" });
  area.value = text;
  const before = focused(beside);
  beside.after(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
