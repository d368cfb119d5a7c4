/* Light and dark theme: the system's choice or the reader's. */

import { make } from "../elements/markup.ts";
import { follow, onChange, setState, state } from "./state.ts";

type Watcher = (printing: boolean) => void;

const NEXT: { auto: "light", light: "dark", dark: "auto" } = { auto: "light", light: "dark", dark: "auto" };
const NAMES = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" };
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers: Watcher[] = [];
let printing = false;

/** Return whether the page is dark now. Printing is always light. */
export const isDark = () =>
  !printing && (state.theme === "dark" || (state.theme === "auto" && system.matches));

/** Call a function when the page turns light or dark, or is printed. */
export function onTheme(watcher: Watcher) {
  watchers.push(watcher);
}

/** Return the button that cycles through the system's choice, light and dark. */
export function themeButton() {
  const label = make("span", { class: "off-screen" });
  const next = () => setState({ theme: NEXT[state.theme] });
  const button = make("button", { type: "button", class: "icon-button theme-button", click: next }, label);
  const show = () => {
    label.textContent = button.title = NAMES[state.theme];
    button.dataset.theme = state.theme;
  };
  follow(["theme"], show);
  return button;
}

/** Apply the theme, and update it with the state, the system setting and printing. */
export function followTheme() {
  apply();
  onChange(["theme"], apply);
  system.addEventListener("change", apply);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}

function apply() {
  document.documentElement.dataset.theme = state.theme;
  watchers.forEach((watcher) => watcher(printing));
}

function print(now: boolean) {
  printing = now;
  apply();
}
