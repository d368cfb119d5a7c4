/* Names of functions in panels: the place, and the name with a swatch of its colour. */

import { head } from "../data/page_data.ts";
import { functionColor } from "../graph/function_colors.ts";
import { onTheme } from "../state/theme.ts";
import { placeOf } from "../text/run_text.ts";
import { button, make } from "./markup.ts";
import type { Attributes } from "../types.ts";

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

/** Return a function's name as the button that selects its row; the row handles the click. */
export const functionLink = (fn: number) =>
  make("span", { class: "named" }, swatch(fn), button(
    breakable(head.functions.name[fn]), () => {}, { class: "link", title: placeOf(fn) }));
