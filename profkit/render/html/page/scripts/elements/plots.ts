/* Parts of plots: scales, ticks, axes, and a frame that is redrawn when its width changes. */

import type { Range } from "../data/page_data.ts";
import { draw, make, type Attributes } from "./markup.ts";

/** A map from values to positions. */
export type Scale = (value: number) => number;

/** An interval at the height `y`. */
interface Interval {
  at: Scale;
  low: number | null;
  high: number | null;
  middle: number;
  y: number;
  size?: number;
  kind?: string;
}
/** `title` names a picture, `described` is its text alternative, and `least` is its minimum width. */
type Named = { title: string, described: string, caption?: string | null, least?: number };

/** Return a linear map from a domain to a range; a domain of one value is mapped to the middle. */
export const linearScale = ([low, high]: Range, [from, to]: Range): Scale => (value) =>
  high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2;

/** Return about `wanted` round values from low to high: steps of 1, 2 or 5 times a power of ten. */
export function roundTicks(low: number, high: number, wanted = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const sizes = [1, 2, 5, 10].map((factor) => factor * power);
  const step = sizes.find((size) => size >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first) + 1 }, (_, i) => (first + i) * step);
}

/** Return the smallest and the largest of some values, with a margin at both ends. */
export function paddedExtent(values: Iterable<number | null>, room = 0.05): Range {
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
 */
export function plotFigure(
  { title, described, caption = null, least = 260 }: Named,
  paint: (svg: SVGSVGElement, width: number) => number,
) {
  const holder = make("div", { class: "plot" });
  const repaint = (width: number) => {
    const svg = draw("svg", { role: "img", width: "100%", "aria-label": title });
    svg.append(draw("title", {}, title), draw("desc", {}, described));
    const height = paint(svg, width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    holder.replaceChildren(svg);
  };
  onWidth(holder, least, repaint);
  return make("figure", { class: "plot-figure" }, caption && make("figcaption", {}, caption), holder);
}

function onWidth(element: Element, least: number, repaint: (width: number) => void) {
  let last = 0;
  const watcher = new ResizeObserver(([entry]) => {
    const width = Math.max(least, Math.floor(entry.contentRect.width));
    if (entry.contentRect.width === 0 || width === last) return;
    last = width;
    repaint(width);
  });
  watcher.observe(element);
}

/** Return text in a picture, centred unless its `text-anchor` is start or end. */
export const plotLabel = (x: number, y: number, text: string, attributes: Attributes = {}) =>
  draw("text", { x, y, "text-anchor": "middle", class: "plot-label", ...attributes }, text);

/** Return a straight line. */
export const stroke = (x1: number, y1: number, x2: number, y2: number, kind: string) =>
  draw("line", { x1, y1, x2, y2, class: kind });

/**
 * Add a horizontal axis below a plot: gridlines up to `top`, values below `y`. Labels that would touch are
 * omitted.
 */
export function axisBelow(
  svg: SVGElement, at: Scale, values: number[], texts: string[], [top, y]: Range,
) {
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

/** Add a vertical axis: gridlines from `left` to `right`, values to the left of them. */
export function axisLeft(
  svg: SVGElement, at: Scale, values: number[], texts: string[], [left, right]: Range,
) {
  values.forEach((value, i) => {
    const y = at(value);
    svg.append(stroke(left, y, right, y, "plot-grid"));
    svg.append(plotLabel(left - 6, y + 4, texts[i], { "text-anchor": "end" }));
  });
}

/** Add an interval: a line with ends, and a point in its middle; `kind` sets its colour. */
export function whisker(svg: SVGElement, { at, low, high, middle, y, size = 5, kind = "" }: Interval) {
  if (low !== null && high !== null) {
    svg.append(stroke(at(low), y, at(high), y, `whisker ${kind}`));
    for (const x of [at(low), at(high)]) svg.append(stroke(x, y - size, x, y + size, `whisker ${kind}`));
  }
  svg.append(draw("circle", { cx: at(middle), cy: y, r: size - 0.5, class: `point ${kind}` }));
}

/** Return a table of the numbers in a picture, which unfolds below it. */
export const numbersTable = (summary: string, head: string[], rows: string[][]) =>
  make("details", { class: "numbers" },
    make("summary", {}, summary),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": summary },
      make("table", { class: "figures" },
        make("thead", {}, make("tr", {}, head.map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, rows.map(([first, ...cells]) => make("tr", {},
          make("th", { scope: "row" }, first),
          cells.map((cell) => make("td", { class: "number" }, cell))))))));

/** Points of a plot by index: `rest` is where keys begin if none is current. */
interface Explored {
  label: string;
  count: number;
  rest: number;
  /** Text if no point is current. */
  summary: string;
  describe(i: number): string;
  /** Return the point nearest to a position in the picture. */
  nearest(x: number, y: number): number;
  onMove(i: number | null): void;
  onEnter?(i: number): void;
}

/** Return a figure as a slider, with a text on its current point; `move` sets the point. */
export function explorer(explored: Explored, figure: HTMLElement) {
  const { label, count, rest, summary, describe, nearest, onMove, onEnter } = explored;
  const last = count - 1;
  let current: number | null = null;
  const readout = make("output", { class: "strip-readout" }, summary);
  const move = (i: number | null) => {
    current = i;
    readout.textContent = i === null ? summary : describe(i);
    slider.setAttribute("aria-valuenow", String(Math.min(last, i ?? rest) + 1));
    slider.setAttribute("aria-valuetext", readout.textContent);
    onMove(i);
  };
  const enter = () => current !== null && onEnter?.(current);
  const slider = make("div", {
    class: "strip-slider", role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": 1,
    "aria-valuemax": count, "aria-valuenow": Math.min(last, rest) + 1, "aria-valuetext": summary,
    click: enter, pointerleave: () => move(null),
    pointermove: ({ clientX, clientY }) => {
      const svg = figure.querySelector("svg");
      if (!svg) return;
      const { left, top, width } = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / width;
      move(nearest((clientX - left) * scale, (clientY - top) * scale));
    },
    keydown: (event) => {
      if (event.key === "Enter") enter();
      const to = pointAfter(current ?? rest, last, event.key);
      if (to === null) return;
      event.preventDefault();
      event.stopPropagation();
      move(Math.min(last, Math.max(0, to)));
    },
  }, figure);
  return { slider, readout, move };
}

/** Return the point to which a key moves, which may be outside; null for other keys. */
function pointAfter(from: number, last: number, key: string) {
  const wide = Math.max(1, Math.round(last / 10));
  const places: Record<string, number> = {
    ArrowRight: from + 1, ArrowUp: from + 1, ArrowLeft: from - 1, ArrowDown: from - 1,
    PageUp: from + wide, PageDown: from - wide, Home: 0, End: last,
  };
  return Object.hasOwn(places, key) ? places[key] : null;
}
