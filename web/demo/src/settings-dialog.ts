import { setText } from "../../src/doors/element/dom.ts";
import { find } from "./find.ts";
import { defaults, normalise, validate, type Problems, type Settings } from "./settings.ts";

const FIELDS: readonly (keyof Settings)[] = ["baseURL", "apiKey", "workspaceId", "agentId", "blockSize", "concurrency"];

/** The settings' form. `apply` may refuse by throwing; its message then stands above the buttons. */
export function settingsDialog(current: () => Settings, apply: (settings: Settings) => void): { open: () => void } {
  const dialog = find("settings", HTMLDialogElement);
  const form = find("settings-form", HTMLFormElement);
  const refusal = find("settings-refusal", HTMLElement);
  const inputs = Object.fromEntries(FIELDS.map((name) => [name, find(`set-${name}`, HTMLInputElement)])) as Record<
    keyof Settings,
    HTMLInputElement
  >;
  const reveal = find("set-reveal", HTMLButtonElement);

  function fill(settings: Settings): void {
    for (const name of FIELDS) inputs[name].value = settings[name];
    show({});
  }

  function show(problems: Problems): void {
    setText(refusal, "");
    for (const name of FIELDS) {
      const problem = problems[name] ?? "";
      setText(find(`set-${name}-problem`, HTMLElement), problem);
      if (problem) inputs[name].setAttribute("aria-invalid", "true");
      else inputs[name].removeAttribute("aria-invalid");
    }
    const first = FIELDS.find((name) => problems[name]);
    if (!first) return;
    inputs[first].closest("details")?.setAttribute("open", "");
    inputs[first].focus();
  }

  function conceal(hidden: boolean): void {
    inputs.apiKey.type = hidden ? "password" : "text";
    reveal.setAttribute("aria-pressed", String(!hidden));
    setText(reveal, hidden ? "Show" : "Hide");
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(FIELDS.map((name) => [name, inputs[name].value])) as unknown as Settings;
    const settings = normalise(typed);
    const problems = validate(settings);
    show(problems);
    if (Object.keys(problems).length > 0) return;
    try {
      apply(settings);
    } catch (error) {
      setText(refusal, error instanceof Error ? error.message : String(error));
      return;
    }
    dialog.close();
  });
  reveal.addEventListener("click", () => conceal(inputs.apiKey.type === "text"));
  find("settings-defaults", HTMLButtonElement).addEventListener("click", () => fill(defaults()));
  for (const id of ["settings-cancel", "settings-close"]) {
    find(id, HTMLButtonElement).addEventListener("click", () => dialog.close());
  }
  dialog.addEventListener("click", (event) => {
    // The form covers the dialog, so a click on the dialog itself is one on its backdrop.
    if (event.target === dialog) dialog.close();
  });

  return {
    open() {
      fill(current());
      conceal(true);
      dialog.showModal();
    },
  };
}
