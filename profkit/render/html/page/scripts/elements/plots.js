/* Parts of plots: scales, ticks, axes, and a frame that is redrawn when its width changes. */

import { draw, make } from "./markup.js";

/** @import { Attributes, Range, Scale } from "../types.js" */

/**
 * An interval at the height `y`.
 * @typedef {object} Interval
 * @property {Scale} at
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} middle
 * @property {number} y
 * @property {number} [size]
 * @property {string} [kind]
 */
/**
 * `title` names a picture, `described` is its text alternative, and `least` is its minimum width.
 * @typedef {{ title: string, described: string, caption?: string | null, least?: number }} Named
 */

/**
 * Return a linear map from a domain to a range; a domain of one value is mapped to the middle.
 * @param {Range} domain
 * @param {Range} range
 * @returns {Scale}
 */
export const linearScale = ([low, high], [from, to]) => (value) =>
  high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2;

/**
 * Return about `wanted` round values from low to high: steps of 1, 2 or 5 times a power of ten.
 * @param {number} low
 * @param {number} high
 */
export function roundTicks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const sizes = [1, 2, 5, 10].map((factor) => factor * power);
  const step = sizes.find((size) => size >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first) + 1 }, (_, i) => (first + i) * step);
}

/**
 * Return the smallest and the largest of some values, with a margin at both ends.
 * @param {Iterable<number | null>} values
 * @returns {Range}
 */
export function paddedExtent(values, room = 0.05) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const pad = (high - low || Math.abs(high) || 1) * room;
  return low > high ? [0, 1] : [low - pad, high + pad];
}

/**
 * Return a figure with a picture that `paint` draws for the available width, again whenever that changes;
 * `paint` returns the height.
 * @param {Named} named
 * @param {(svg: SVGSVGElement, width: number) => number} paint
 */
export function plotFigure({ title, described, caption = null, least = 260 }, paint) {
  const holder = make("div", { class: "plot" });
  const repaint = (/** @type {number} */ width) => {
    const svg = draw("svg", { role: "img", width: "100%", "aria-label": title });
    svg.append(draw("title", {}, title), draw("desc", {}, described));
    const height = paint(svg, width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    holder.replaceChildren(svg);
  };
  onWidth(holder, least, repaint);
  return make("figure", { class: "plot-figure" }, caption && make("figcaption", {}, caption), holder);
}

/**
 * @param {Element} element
 * @param {number} least
 * @param {(width: number) => void} repaint
 */
function onWidth(element, least, repaint) {
  let last = 0;
  const watcher = new ResizeObserver(([entry]) => {
    const width = Math.max(least, Math.floor(entry.contentRect.width));
    if (entry.contentRect.width === 0 || width === last) return;
    last = width;
    repaint(width);
  });
  watcher.observe(element);
}

/**
 * Return text in a picture, centred unless its `text-anchor` is start or end.
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {Attributes} attributes
 */
export const plotLabel = (x, y, text, attributes = {}) =>
  draw("text", { x, y, "text-anchor": "middle", class: "plot-label", ...attributes }, text);

/**
 * Return a straight line.
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @param {string} kind
 */
export const stroke = (x1, y1, x2, y2, kind) => draw("line", { x1, y1, x2, y2, class: kind });

/**
 * Add a horizontal axis below a plot: gridlines up to `top`, values below `y`. Labels that would touch are
 * omitted.
 * @param {SVGElement} svg
 * @param {{ at: Scale, values: number[], texts: string[], y: number, top: number }} axis
 */
export function axisBelow(svg, { at, values, texts, y, top }) {
  let free = -Infinity;
  const width = Math.max(...texts.map((text) => text.length)) * 6.5;
  values.forEach((value, i) => {
    const x = at(value);
    svg.append(stroke(x, top, x, y, "plot-grid"));
    if (x - width / 2 < free) return;
    svg.append(plotLabel(x, y + 16, texts[i]));
    free = x + width / 2 + 8;
  });
}

/**
 * Add a vertical axis: gridlines from `left` to `right`, values to the left of them.
 * @param {SVGElement} svg
 * @param {{ at: Scale, values: number[], texts: string[], left: number, right: number }} axis
 */
export function axisLeft(svg, { at, values, texts, left, right }) {
  values.forEach((value, i) => {
    const y = at(value);
    svg.append(stroke(left, y, right, y, "plot-grid"));
    svg.append(plotLabel(left - 6, y + 4, texts[i], { "text-anchor": "end" }));
  });
}

/**
 * Add an interval: a line with ends, and a point in its middle; `kind` sets its colour.
 * @param {SVGElement} svg
 * @param {Interval} interval
 */
export function whisker(svg, { at, low, high, middle, y, size = 5, kind = "" }) {
  if (low !== null && high !== null) {
    svg.append(stroke(at(low), y, at(high), y, `whisker ${kind}`));
    for (const x of [at(low), at(high)]) svg.append(stroke(x, y - size, x, y + size, `whisker ${kind}`));
  }
  svg.append(draw("circle", { cx: at(middle), cy: y, r: size - 0.5, class: `point ${kind}` }));
}

/**
 * Return a table of the numbers in a picture, which unfolds below it.
 * @param {string} summary
 * @param {string[]} head
 * @param {string[][]} rows
 */
export const numbersTable = (summary, head, rows) =>
  make("details", { class: "numbers" },
    make("summary", {}, summary),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": summary },
      make("table", { class: "figures" },
        make("thead", {}, make("tr", {}, head.map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, rows.map(([first, ...cells]) => make("tr", {},
          make("th", { scope: "row" }, first),
          cells.map((cell) => make("td", { class: "number" }, cell))))))));
