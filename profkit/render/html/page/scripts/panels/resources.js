/*
 * Panel of the process's resources over time: CPU, memory and threads on one axis, with a movable cursor.
 * If samples cover the recording, the chronological graph has the same axis, and each shows the position of
 * the other.
 */

import { head } from "../data/page_data.js";
import { draw, make } from "../elements/markup.js";
import { linearScale, plotFigure, plotLabel, stroke } from "../elements/plots.js";
import { currentRun, currentTree, onChange, setState, state } from "../state/state.js";
import { formatBytes, formatCount, formatTime, isTimed } from "../text/numbers.js";

/** @import { Panel, Resources, Scale } from "../types.js" */
/** @typedef {ReturnType<typeof curvesOf>[number]} Curve */
/** @typedef {{ curve: Curve, across: Scale, up: Scale } & Edges} Box */
/** @typedef {{ x: number, y: number, right: number, bottom: number }} Edges */
/**
 * Strip of curves: `moment` is an index of `at_s`.
 * @typedef {object} Strip
 * @property {number[]} at_s
 * @property {Curve[]} curves
 * @property {number | null} moment
 * @property {HTMLElement} readout
 * @property {HTMLElement} slider
 * @property {Drawn | null} drawn
 */
/**
 * The last drawing.
 * @typedef {object} Drawn
 * @property {SVGElement} svg
 * @property {number} width
 * @property {Box[]} boxes
 * @property {SVGElement} bands
 * @property {SVGElement[]} cursors
 */

const HEIGHT = 58, GAP = 18, LEFT = 50, TOP = 20, BELOW = 20, NARROW = 640;
/** Relative difference up to which two durations count as equal. */
const APART = 0.1;
/** Part of the whole that the graph shows around a moment. */
const WIDTH = 0.1;

/** @type {Panel} */
export const resourcesPanel = {
  id: "strip",
  title: "Resources over time",
  build(body) {
    /** @type {Strip | null} */
    let strip = null;
    const show = () => {
      const resources = currentRun()?.resources;
      strip = resources && resources.at_s.length > 1 ? stripOf(resources) : null;
      body.replaceChildren(...(strip ? [strip.slider, strip.readout] : []));
    };
    onChange(["run"], show);
    onChange(["run", "thread", "activity", "view", "range"], () => { if (strip) showWindow(strip); });
    show();
  },
  applies: () => head.runs.some((run) => Boolean(run.resources)),
};

/**
 * Return the curves: values at each point, and their format.
 * @param {Resources} resources
 */
function curvesOf(resources) {
  return [
    { name: "CPU", unit: "100 % is one core", values: [resources.cpu_share[0] ?? 0, ...resources.cpu_share],
      text: (/** @type {number} */ value) => `${Math.round(value * 100)} %`, kind: "cpu" },
    { name: "memory", unit: "resident", values: resources.rss_bytes, text: formatBytes, kind: "memory" },
    { name: "threads", unit: "", values: resources.threads, text: formatCount, kind: "threads" },
  ];
}

/** @param {Resources} resources */
function stripOf(resources) {
  const { at_s } = resources;
  const curves = curvesOf(resources);
  const summary = rangesOf(at_s, curves);
  const readout = make("output", { class: "strip-readout" }, summary);
  const named = { title: "CPU, memory and threads over time", described: summary, least: 200 };
  const figure = plotFigure(named, (svg, width) => paint(strip, svg, width));
  const slider = make("div", {
    class: "strip-slider", role: "slider", tabindex: "0", "aria-label": "Moment of the recording",
    "aria-valuemin": 0, "aria-valuemax": at_s.length - 1, "aria-valuenow": 0, "aria-valuetext": summary,
    pointermove: (event) => moveTo(strip, nearest(strip, event)), pointerleave: () => moveTo(strip, null),
    click: () => goTo(strip), keydown: (event) => onKey(strip, event),
  }, figure);
  /** @type {Strip} */
  const strip = { at_s, curves, moment: null, readout, slider, drawn: null };
  return strip;
}

/**
 * Return the largest value of each curve as text.
 * @param {number[]} at_s
 * @param {Curve[]} curves
 */
const rangesOf = (at_s, curves) => [
  `recorded for ${formatTime(at_s[at_s.length - 1])}`,
  ...curves.map(({ name, values, text }) => `${name} up to ${text(Math.max(...values))}`),
].join(" · ");

/**
 * @param {Strip} strip
 * @param {SVGElement} svg
 * @param {number} width
 */
function paint(strip, svg, width) {
  const { at_s, curves } = strip;
  const beside = width >= NARROW;
  const each = beside ? (width - 2 * GAP) / 3 : width;
  const boxes = curves.map((curve, i) => {
    const x = (beside ? i * (each + GAP) : 0) + LEFT;
    const y = TOP + (beside ? 0 : i * (HEIGHT + TOP + BELOW));
    const [right, bottom] = [x + each - LEFT - 4, y + HEIGHT];
    const across = linearScale([at_s[0], at_s[at_s.length - 1]], [x, right]);
    return { curve, x, y, right, bottom, across, up: linearScale([0, largest(curve)], [bottom, y]) };
  });
  boxes.forEach((box) => paintCurve(at_s, svg, box));
  const bands = svg.appendChild(draw("g"));
  const cursors = boxes.map(() => svg.appendChild(draw("g", { class: "strip-cursor" })));
  strip.drawn = { svg, width, boxes, bands, cursors };
  showMoment(strip);
  showWindow(strip);
  return boxes[boxes.length - 1].bottom + BELOW;
}

/** @param {Curve} curve */
const largest = ({ values }) => Math.max(...values) || 1;

/**
 * @param {number[]} at_s
 * @param {SVGElement} svg
 * @param {Box} box
 */
function paintCurve(at_s, svg, { curve, x, y, right, bottom, across, up }) {
  const points = at_s.map((at, i) => `${across(at).toFixed(1)},${up(curve.values[i]).toFixed(1)}`);
  const name = curve.unit ? `${curve.name} (${curve.unit})` : curve.name;
  const area = [`${x},${bottom}`, ...points, `${right},${bottom}`].join(" ");
  svg.append(
    plotLabel(x, y - 7, name, { "text-anchor": "start", class: "plot-label plot-name" }),
    stroke(x, y, right, y, "plot-grid"), stroke(x, bottom, right, bottom, "plot-base"),
    draw("polygon", { points: area, class: `area area-${curve.kind}` }),
    draw("polyline", { points: points.join(" "), class: `curve curve-${curve.kind}` }),
    plotLabel(x - 5, y + 4, curve.text(largest(curve)), { "text-anchor": "end" }),
    plotLabel(x - 5, bottom + 1, "0", { "text-anchor": "end" }),
    plotLabel(x, bottom + 14, "0 s", { "text-anchor": "start" }),
    plotLabel(right, bottom + 14, formatTime(at_s[at_s.length - 1]), { "text-anchor": "end" }));
}

/**
 * Return the point nearest to the pointer, in the box below it; null before the first drawing.
 * @param {Strip} strip
 * @param {PointerEvent} event
 */
function nearest({ at_s, drawn }, event) {
  if (!drawn) return null;
  const { svg, width, boxes } = drawn;
  const bounds = svg.getBoundingClientRect();
  const factor = width / bounds.width;
  const [x, y] = [(event.clientX - bounds.left) * factor, (event.clientY - bounds.top) * factor];
  const over =
    boxes.find((box) => x <= box.right + GAP / 2 && y <= box.bottom + BELOW) ?? boxes[boxes.length - 1];
  const part = Math.min(1, Math.max(0, (x - over.x) / (over.right - over.x)));
  const at = at_s[0] + part * (at_s[at_s.length - 1] - at_s[0]);
  let low = 0;
  for (let high = at_s.length - 1; low < high;) {
    const middle = (low + high) >> 1;
    if (at_s[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low > 0 && at - at_s[low - 1] < at_s[low] - at ? low - 1 : low;
}

/**
 * @param {Strip} strip
 * @param {number | null} moment
 */
function moveTo(strip, moment) {
  const { at_s, curves, readout, slider } = strip;
  strip.moment = moment;
  readout.textContent = moment === null ? rangesOf(at_s, curves) : valuesAt(strip, moment);
  slider.setAttribute("aria-valuenow", String(moment ?? 0));
  slider.setAttribute("aria-valuetext", readout.textContent);
  showMoment(strip);
}

/**
 * @param {Strip} strip
 * @param {number} moment
 */
const valuesAt = ({ at_s, curves }, moment) => [
  formatTime(at_s[moment]), ...curves.map(({ name, values, text }) => `${name} ${text(values[moment])}`),
].join(" · ");

/** @param {Strip} strip */
function showMoment({ at_s, drawn, moment }) {
  drawn?.cursors.forEach((cursor, i) => {
    if (moment === null) {
      cursor.replaceChildren();
      return;
    }
    const { curve, across, up, y, bottom } = drawn.boxes[i];
    const [cx, cy] = [across(at_s[moment]), up(curve.values[moment])];
    cursor.replaceChildren(
      stroke(cx, y, cx, bottom, "plot-cursor"),
      draw("circle", { cx, cy, r: 3.5, class: `dot dot-${curve.kind}` }));
  });
}

/**
 * Show the window of the graph as a band in each box, if the axes are equal.
 * @param {Strip} strip
 */
function showWindow({ at_s, drawn }) {
  const { range } = state;
  const bands = range && sharesAxis(at_s) ? drawn?.boxes.map(({ x, y, right, bottom }) => {
    const [from, to] = range.map((part) => x + part * (right - x));
    return draw("rect", { x: from, y, width: to - from, height: bottom - y, class: "window-band" });
  }) : [];
  drawn?.bands.replaceChildren(...(bands ?? []));
}

/**
 * Return whether the graph is chronological, of one thread, and about as long as the recording.
 * @param {number[]} at_s
 */
function sharesAxis(at_s) {
  const run = currentRun();
  if (state.view !== "chronological" || !isTimed(run)) return false;
  if (state.thread === "all" && run.threads.length > 1) return false;
  const seen_s = currentTree().total[0] * run.weight_s;
  return run.weight_s > 0 && Math.abs(seen_s / at_s[at_s.length - 1] - 1) < APART;
}

/**
 * Move the chronological graph to the moment if it has the same axis.
 * @param {Strip} strip
 */
function goTo({ at_s, moment }) {
  if (moment === null || !sharesAxis(at_s)) return;
  const part = (at_s[moment] - at_s[0]) / (at_s[at_s.length - 1] - at_s[0]);
  const from = Math.min(1 - WIDTH, Math.max(0, part - WIDTH / 2));
  setState({ range: [from, from + WIDTH] }, "strip");
}

/**
 * @param {Strip} strip
 * @param {KeyboardEvent} event
 */
function onKey(strip, event) {
  if (event.key === "Enter") {
    goTo(strip);
    return;
  }
  const last = strip.at_s.length - 1;
  const wide = Math.max(1, Math.round(last / 10));
  /** @type {Record<string, number>} */
  const steps = {
    ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: wide, PageDown: -wide,
    Home: -last, End: last,
  };
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  moveTo(strip, Math.min(last, Math.max(0, (strip.moment ?? 0) + steps[event.key])));
}
