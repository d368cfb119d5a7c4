/* Keyboard shortcuts, and the dialog that lists them. */

import { make } from "../elements/markup.ts";

/** A keyboard shortcut: names as in `KeyboardEvent.key`, and the texts of the dialog. */
export interface Shortcut {
  names: string[];
  shown: string[];
  what: string;
  action(event: KeyboardEvent): void;
  /** Whether it works only while the graph has the focus. */
  ofGraph?: boolean;
}

/** Keys that other parts handle, for the dialog. */
const ELSEWHERE = [
  { shown: ["↑", "↓"], what: "In a table or a call tree: previous or next row; also Home, End" },
  { shown: ["←", "→"], what: "In a call tree: collapse or expand; in tabs and plots: move" },
];

const shortcuts: Shortcut[] = [];

/** Return the button that opens the dialog. */
export const keysButton = () =>
  make("button", { type: "button", class: "icon-button", title: "Keyboard shortcuts (?)", click: showKeys },
    make("span", { "aria-hidden": "true" }, "?"),
    make("span", { class: "off-screen" }, "Keyboard shortcuts"));

/**
 * Handle shortcuts: those of the graph while `element` has the focus, others except during text input.
 * @param wanted in the order of the dialog
 */
export function listenToKeys(element: HTMLElement, wanted: Shortcut[]) {
  shortcuts.push(...wanted, { names: ["?"], shown: ["?"], what: "Show this dialog", action: showKeys });
  element.addEventListener("keydown", (event) => handle(event, true));
  addEventListener("keydown", (event) => {
    if (!event.defaultPrevented && !isTyping(event.target)) handle(event, false);
  });
}

function handle(event: KeyboardEvent, ofGraph: boolean) {
  if (event.altKey || event.metaKey || event.ctrlKey || document.querySelector("dialog[open]")) return;
  const shortcut = shortcuts.find(
    (each) => Boolean(each.ofGraph) === ofGraph && each.names.includes(event.key));
  if (!shortcut) return;
  event.preventDefault();
  shortcut.action(event);
}

const isTyping = (target: EventTarget | null) =>
  target instanceof Element && target.matches("input, select, textarea");

const entryOf = ({ shown, what }: { shown: string[], what: string }) => [
  make("dt", {}, shown.map((key) => make("kbd", {}, key))),
  make("dd", {}, what),
];

function showKeys() {
  const close = make("button", {
    type: "button", class: "icon-button dialog-close", title: "Close (Escape)", click: () => dialog.close(),
  }, make("span", { "aria-hidden": "true" }, "×"), make("span", { class: "off-screen" }, "Close"));
  const dialog = make("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    make("h2", { id: "keys-title" }, "Keyboard shortcuts"), close,
    make("dl", {}, [...shortcuts, ...ELSEWHERE].flatMap(entryOf)),
    make("p", { class: "faint" }, "Click to zoom in, double-click to reset the zoom, drag to pan. ",
      "Ctrl and the wheel, or a pinch, zoom at the pointer. ",
      "A search has words, or a regular expression between slashes: /pattern/."));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
