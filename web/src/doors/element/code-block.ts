import { copyButton } from "./clipboard.ts";
import { h } from "./dom.ts";
import { GrowingText } from "./growing-text.ts";
import type { ChatStrings } from "./types.d.ts";

/** A code block: its language, a copy button, and a body that can be scrolled by keyboard and can still grow. */
export function codeBlock(strings: ChatStrings, language: string | undefined, text = ""): { element: HTMLElement; body: GrowingText } {
  const name = language?.trim().split(/\s+/)[0] || "text";
  const code = h("code");
  const bar = h("div", { class: "code-bar" }, h("span", {}, name), copyButton(strings, strings.copy, strings.copyCode, () => code.textContent ?? ""));
  const pre = h("pre", { tabindex: "0", role: "group", "aria-label": strings.code(name), dir: "ltr" }, code);
  const body = new GrowingText(code);
  body.append(text);
  return { element: h("div", { class: "code", part: "code" }, bar, pre), body };
}
