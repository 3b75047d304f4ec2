import { read, write } from "../../src/doors/element/storage.ts";
import { find } from "./find.ts";

const STORED = "turnwire-demo-theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const LABELS: Record<Theme, string> = {
  system: "Colours: as the system. Switch to light",
  light: "Colours: light. Switch to dark",
  dark: "Colours: dark. Switch to the system's",
};

/** A button that goes round system, light and dark; the style sheet follows `data-theme`. */
export function themeSwitch(): void {
  const button = find("theme", HTMLButtonElement);
  let theme = THEMES.find((name) => name === read("localStorage", STORED)) ?? "system";
  show();
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
    write("localStorage", STORED, theme);
    show();
  });

  function show(): void {
    document.documentElement.dataset.theme = theme;
    button.setAttribute("aria-label", LABELS[theme]);
    button.title = LABELS[theme];
    button.querySelector("use")?.setAttribute("href", `#i-${theme}`);
  }
}
