/* Small parts of panels: table cells, bars, badges, hints, key figures, folds, and a button that copies. */

import { formatShare } from "../text/run_text.js";
import { button, make } from "./markup.js";

/** @import { Attributes, Child, Sides } from "../types.js" */

/**
 * Return a cell of a table.
 * @param {Child | Child[]} content
 * @param {Attributes} attributes
 */
export const cell = (content, attributes = {}) => make("td", attributes, content);

/**
 * Return a cell with a number, or with what stands for one.
 * @param {Child} content
 */
export const numberCell = (content) => make("td", { class: "number" }, content);

/**
 * Return a cell with a number beside a bar as long as its share of the cell.
 * @param {number} share
 * @param {Child | Child[]} text
 * @param {string | null} title
 */
export const barCell = (share, text, title = null) =>
  make("td", { class: "number bar-cell", title }, bar(share), make("span", { class: "bar-text" }, text));

/**
 * Return a share with its bar, for a line of text.
 * @param {number} share
 * @param {string | null} title
 */
export const shareBar = (share, title = null) =>
  make("span", { class: "share-bar", title },
    bar(share), make("span", { class: "bar-text" }, formatShare(share)));

/**
 * Return a bar as long as a part of what it lies in.
 * @param {number} share
 */
export function bar(share) {
  const width = `${Math.min(1, Math.max(0, share)) * 100}%`;
  return make("span", { class: "bar", "aria-hidden": "true", style: { width } });
}

/**
 * Return the head of a row that is the name of a function, as a file of counts has it.
 * @param {string} name
 */
export const plainHead = (name) => make("th", { scope: "row", class: "name plain" }, name);

/**
 * Return a short word in a frame; `kind` is a class.
 * @param {string} text
 * @param {string} kind
 * @param {string | null} title
 */
export const badge = (text, kind, title = null) => make("span", { class: `badge ${kind}`, title }, text);

/**
 * Return a sentence that says what could be here.
 * @param {string} text
 */
export const hint = (text) => make("p", { class: "hint" }, text);

/**
 * Return a title with a remark beside it.
 * @param {"h3" | "h4"} tag
 * @param {string} title
 * @param {string} remark
 */
export const titled = (tag, title, remark) => make(tag, {}, title, make("small", {}, remark));

/**
 * Return content that opens below its summary.
 * @param {string} summary
 * @param {Child} content
 * @param {boolean} open
 */
export const folded = (summary, content, open = false) =>
  make("details", { class: "numbers", open }, make("summary", {}, summary), content);

/**
 * Return the result of a comparison, large: the headline, its grade, and the names of the sides.
 * @param {{ headline: string, grade?: string, names: Sides<string> }} comparison
 */
export const headline = ({ headline: text, grade, names: { a, b } }) =>
  make("div", { class: "headline" },
    make("p", { class: "headline-text" }, text, grade ? badge(grade, `grade-${grade}`) : null),
    make("dl", { class: "sides" },
      make("div", { class: "side-a" }, make("dt", {}, "A"), make("dd", {}, a)),
      make("div", { class: "side-b" }, make("dt", {}, "B"), make("dd", {}, b))));

/**
 * Return large figures, each with its name and a remark.
 * @param {[name: string, value: string, remark: string][]} figures
 */
export const keyFigures = (figures) =>
  make("dl", { class: "key-figures" }, figures.map(([name, value, remark]) =>
    make("div", {},
      make("dt", {}, name), make("dd", {}, make("strong", {}, value), make("small", {}, remark)))));

/**
 * Return a button that copies `text()` and says so.
 * @param {string} name
 * @param {() => string} text
 */
export function copyButton(name, text) {
  const element = button(name, async () => {
    const copied = await copy(text());
    element.textContent = copied ? "Copied" : "The browser does not allow it";
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
    // Without permission, or not in a secure context: a marked field can still be copied.
    return copyMarked(text);
  }
}

/** @param {string} text */
function copyMarked(text) {
  const field = make("textarea", { class: "off-screen", readonly: true, "aria-hidden": "true" }, text);
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  return copied;
}
