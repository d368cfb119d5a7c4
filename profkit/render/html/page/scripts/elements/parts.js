/* Small parts of panels: table cells, bars, badges, hints, key figures, folds, and a copy button. */

import { formatShare, hasIntervals, plusMinus } from "../text/run_text.js";
import { button, make } from "./markup.js";

/** @import { Attributes, Child, Sides } from "../types.js" */

/**
 * Return a table cell.
 * @param {Child | Child[]} content
 * @param {Attributes} attributes
 */
export const cell = (content, attributes = {}) => make("td", attributes, content);

/**
 * Return a table cell for a number or its placeholder.
 * @param {Child} content
 */
export const numberCell = (content) => make("td", { class: "number" }, content);

/**
 * Return a table cell with a number and a bar of its share of the whole, so that all bars of a table have
 * one scale. The bar has its own place beside the number.
 * @param {number} share
 * @param {Child | Child[]} text
 * @param {string | null} title
 */
export const barCell = (share, text, title = null) =>
  make("td", { class: "number bar-cell", title },
    make("span", { class: "bar-line" },
      share > 0 ? make("span", { class: "track", "aria-hidden": "true" }, bar(share)) : null,
      make("span", { class: "bar-text" }, text)));

/**
 * Return a share with its bar, for use in text; `sure` is its uncertainty.
 * @param {number} share
 * @param {string | null} title
 */
export const shareBar = (share, title = null, sure = "") =>
  make("span", { class: "share-bar", title },
    make("span", { class: "track", "aria-hidden": "true" }, bar(share)),
    make("span", { class: "bar-text" }, formatShare(share), sure && " ",
      sure && make("span", { class: "interval" }, sure)));

/**
 * Return a share of a whole as text, with its uncertainty if shares are estimates; nothing for no weight.
 * @param {number} weight
 * @param {number} whole
 * @returns {Child[]}
 */
export function sureShare(weight, whole) {
  if (!weight) return [];
  const share = make("span", { class: "share" }, formatShare(weight / (whole || 1)));
  if (!hasIntervals()) return [share];
  return [share, " ", make("span", { class: "interval" }, plusMinus(weight, whole))];
}

/**
 * Return a bar that fills a part of its container.
 * @param {number} share
 */
export function bar(share) {
  const width = `${Math.min(1, Math.max(0, share)) * 100}%`;
  return make("span", { class: "bar", "aria-hidden": "true", style: { width } });
}

/**
 * Return a row heading with the name of a function as in the counts.
 * @param {string} name
 */
export const plainHead = (name) => make("th", { scope: "row", class: "name plain" }, name);

/**
 * Return a badge: a short word in a frame. `kind` is its class.
 * @param {string} text
 * @param {string} kind
 * @param {string | null} title
 */
export const badge = (text, kind, title = null) => make("span", { class: `badge ${kind}`, title }, text);

/**
 * Return a hint for an empty panel.
 * @param {string} text
 */
export const hint = (text) => make("p", { class: "hint" }, text);

/**
 * Return a heading with a remark.
 * @param {"h3" | "h4"} tag
 * @param {string} title
 * @param {string} remark
 */
export const titled = (tag, title, remark) => make(tag, {}, title, make("small", {}, remark));

/**
 * Return content that unfolds below its summary.
 * @param {string} summary
 * @param {Child} content
 * @param {boolean} open
 */
export const folded = (summary, content, open = false) =>
  make("details", { class: "numbers", open }, make("summary", {}, summary), content);

/**
 * Return the result of a comparison in large type: headline, grade, and names of the sides.
 * @param {{ headline: string, grade?: string, names: Sides<string> }} comparison
 */
export const headline = ({ headline: text, grade, names: { a, b } }) =>
  make("div", { class: "headline" },
    make("p", { class: "headline-text" }, text, grade ? badge(grade, `grade-${grade}`) : null),
    make("dl", { class: "sides" },
      make("div", { class: "side-a" }, make("dt", {}, "A"), make("dd", {}, a)),
      make("div", { class: "side-b" }, make("dt", {}, "B"), make("dd", {}, b))));

/**
 * Return figures in large type, each with its name and a remark.
 * @param {[name: string, value: string, remark: string][]} figures
 */
export const keyFigures = (figures) =>
  make("dl", { class: "key-figures" }, figures.map(([name, value, remark]) =>
    make("div", {},
      make("dt", {}, name), make("dd", {}, make("strong", {}, value), make("small", {}, remark)))));

/**
 * Return a button that copies `text()` and confirms it.
 * @param {string} name
 * @param {() => string} text
 */
export function copyButton(name, text) {
  const element = button(name, async () => {
    const copied = await copy(text());
    element.textContent = copied ? "Copied" : "Copying is blocked";
    setTimeout(() => { element.textContent = name; }, 1500);
  }, { class: "quiet", "aria-live": "polite" });
  return element;
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without permission or a secure context, the text of a selected field can still be copied.
    return copySelected(text);
  }
}

/** @param {string} text */
function copySelected(text) {
  const field = make("textarea", { class: "off-screen", readonly: true, "aria-hidden": "true" }, text);
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  return copied;
}
