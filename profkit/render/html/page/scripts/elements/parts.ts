/* Small parts of panels: table cells, bars, badges, hints, key figures, folds, and a copy button. */

import { head } from "../data/page_data.ts";
import { functionColor } from "../graph/function_colors.ts";
import { onTheme } from "../state/theme.ts";
import { formatShare, hasIntervals, placeOf, plusMinus } from "../text/run_text.ts";
import { button, make, type Attributes, type Child } from "./markup.ts";

/** Return a table cell. */
export const cell = (content: Child | Child[], attributes: Attributes = {}) =>
  make("td", attributes, content);

/** Return a table cell for a number or its placeholder. */
export const numberCell = (content: Child) => make("td", { class: "number" }, content);

/**
 * Return a table cell with a number and a bar of its share of the whole, so that all bars of a table have
 * one scale. The bar has its own place beside the number.
 */
export const barCell = (share: number, text: Child | Child[], title: string | null = null) =>
  make("td", { class: "number bar-cell", title },
    make("span", { class: "bar-line" },
      share > 0 ? make("span", { class: "track", "aria-hidden": "true" }, bar(share)) : null,
      make("span", { class: "bar-text" }, text)));

/** Return a share with its bar, for use in text; `sure` is its uncertainty. */
export const shareBar = (share: number, title: string | null = null, sure = "") =>
  make("span", { class: "share-bar", title },
    make("span", { class: "track", "aria-hidden": "true" }, bar(share)),
    make("span", { class: "bar-text" }, formatShare(share), sure && " ",
      sure && make("span", { class: "interval" }, sure)));

/** Return a share of a whole as text, with its uncertainty if shares are estimates; nothing for no weight. */
export function sureShare(weight: number, whole: number): Child[] {
  if (!weight) return [];
  const share = make("span", { class: "share" }, formatShare(weight / (whole || 1)));
  if (!hasIntervals()) return [share];
  return [share, " ", make("span", { class: "interval" }, plusMinus(weight, whole))];
}

/** Return a bar that fills a part of its container. */
export function bar(share: number) {
  const width = `${Math.min(1, Math.max(0, share)) * 100}%`;
  return make("span", { class: "bar", "aria-hidden": "true", style: { width } });
}

/** Return a badge: a short word in a frame. `kind` is its class. */
export const badge = (text: string, kind: string, title: string | null = null) =>
  make("span", { class: `badge ${kind}`, title }, text);

/** Return a hint for an empty panel. */
export const hint = (text: string) => make("p", { class: "hint" }, text);

/** Return a heading with a remark. */
export const titled = (tag: "h3" | "h4", title: string, remark: string) =>
  make(tag, {}, title, make("small", {}, remark));

/** Return content that unfolds below its summary. */
export const folded = (summary: string, content: Child, open: boolean = false) =>
  make("details", { class: "numbers", open }, make("summary", {}, summary), content);

/** Return a button that copies `text()` and confirms it. */
export function copyButton(name: string, text: () => string) {
  const element = button(name, async () => {
    const copied = await copy(text());
    element.textContent = copied ? "Copied" : "Copying is blocked";
    setTimeout(() => { element.textContent = name; }, 1500);
  }, { class: "quiet", "aria-live": "polite" });
  return element;
}

async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without permission or a secure context, the text of a selected field can still be copied.
    return copySelected(text);
  }
}

function copySelected(text: string) {
  const field = make("textarea", { class: "off-screen", readonly: true, "aria-hidden": "true" }, text);
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  return copied;
}

const LONGEST_PLACE = 44;

/** Return text with line breaks allowed after dots, slashes and the like, but not within words. */
export const breakable = (text: string) =>
  text.split(/(?<=[._:/])(?=[^._:/])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));

/** Return a place in a file; a long path loses its beginning. */
export function placeElement(place: string, attributes: Attributes = {}) {
  const shown = place.length > LONGEST_PLACE ? `…${endOf(place)}` : place;
  const title = shown === place ? null : place;
  return make("span", { class: "place", title, ...attributes }, breakable(shown));
}

/** Return as many of a path's last parts as fit, at least one. */
function endOf(path: string) {
  const slash = path.indexOf("/", path.length - LONGEST_PLACE);
  return path.slice(slash < 0 ? path.lastIndexOf("/") : slash);
}

/** Return a swatch in the colour of a function in the graph. */
export function swatch(fn: number) {
  const element = make("span", { class: "swatch", "aria-hidden": "true", "data-function": fn });
  paint(element);
  return element;
}

function paint(element: HTMLElement) {
  element.style.backgroundColor = functionColor(Number(element.dataset.function));
}

/** Repaint the swatches when the theme changes. */
export function followThemeInSwatches() {
  onTheme(() => {
    for (const element of document.querySelectorAll(".swatch[data-function]")) {
      paint(element as HTMLElement);
    }
  });
}

/** Return a function's name as a button; in a table, its row handles the click. */
export const functionLink = (fn: number, onClick = () => {}) =>
  make("span", { class: "named" }, swatch(fn), button(
    breakable(head.functions.name[fn]), onClick, { class: "link", title: placeOf(fn) }));
