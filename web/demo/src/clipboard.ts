import { icon } from "./dom.ts";

const SHOWN_FOR = 1_600;

/** Makes a button that copies, and says on itself whether that worked. */
export function copyButton(label: string, name: string, text: () => string): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  const words = document.createElement("span");
  words.textContent = label;
  button.append(icon("copy"), words);
  button.setAttribute("aria-label", name);
  let timer = 0;
  button.addEventListener("click", async () => {
    const copied = await copy(text());
    words.textContent = copied ? "Copied" : "Could not copy";
    button.setAttribute("aria-label", words.textContent);
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      words.textContent = label;
      button.setAttribute("aria-label", name);
    }, SHOWN_FOR);
  });
  return button;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** A page on plain http off this machine has no navigator.clipboard. */
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  // A modal dialog makes everything outside itself inert, so the helper has to live inside it.
  const home = document.querySelector("dialog[open]") ?? document.body;
  const before = document.activeElement;
  home.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
