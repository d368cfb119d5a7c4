/* Names of functions in panels: the place, and the name with a swatch of its colour. */

import { head } from "../data/page_data.js";
import { functionColor } from "../graph/function_colors.js";
import { onTheme } from "../state/theme.js";
import { placeOf } from "../text/run_text.js";
import { button, make } from "./markup.js";

/** @import { Attributes } from "../types.js" */

const LONGEST_PLACE = 44;

/**
 * Return text with line breaks allowed after dots, slashes and the like, but not within words.
 * @param {string} text
 */
export const breakable = (text) =>
  text.split(/(?<=[._:/])(?=[^._:/])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));

/**
 * Return a place in a file; a long path loses its beginning.
 * @param {string} place
 * @param {Attributes} attributes
 */
export function placeElement(place, attributes = {}) {
  const shown = place.length > LONGEST_PLACE ? `…${endOf(place)}` : place;
  const title = shown === place ? null : place;
  return make("span", { class: "place", title, ...attributes }, breakable(shown));
}

/**
 * Return as many of a path's last parts as fit, at least one.
 * @param {string} path
 */
function endOf(path) {
  const slash = path.indexOf("/", path.length - LONGEST_PLACE);
  return path.slice(slash < 0 ? path.lastIndexOf("/") : slash);
}

/**
 * Return a swatch in the colour of a function in the graph.
 * @param {number} fn
 */
export function swatch(fn) {
  const element = make("span", { class: "swatch", "aria-hidden": "true", "data-function": fn });
  paint(element);
  return element;
}

/** @param {HTMLElement} element */
function paint(element) {
  element.style.backgroundColor = functionColor(Number(element.dataset.function));
}

/** Repaint the swatches when the theme changes. */
export function followThemeInSwatches() {
  onTheme(() => {
    for (const element of document.querySelectorAll(".swatch[data-function]")) {
      paint(/** @type {HTMLElement} */ (element));
    }
  });
}

/**
 * Return a function's name as the button that selects its row; the row handles the click.
 * @param {number} fn
 */
export const functionLink = (fn) =>
  make("span", { class: "named" }, swatch(fn), button(
    breakable(head.functions.name[fn]), () => {}, { class: "link", title: placeOf(fn) }));
