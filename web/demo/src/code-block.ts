import { copyButton } from "./clipboard.ts";
import { GrowingText } from "./growing-text.ts";

/** A code block: its language, a copy button, and a body that can be scrolled by keyboard and can still grow. */
export function codeBlock(language: string | undefined, text = ""): { element: HTMLElement; body: GrowingText } {
  const name = language?.trim().split(/\s+/)[0] || "text";
  const code = document.createElement("code");
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", `Code, ${name}`);
  pre.append(code);
  const label = document.createElement("span");
  label.textContent = name;
  const bar = document.createElement("div");
  bar.className = "code-bar";
  bar.append(label, copyButton("Copy", "Copy code", () => code.textContent ?? ""));
  const element = document.createElement("div");
  element.className = "code";
  element.append(bar, pre);
  const body = new GrowingText(code);
  body.append(text);
  return { element, body };
}
