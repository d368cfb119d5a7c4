/*
 * Panel of the process's resources over time: CPU, memory and threads on one axis, with a movable cursor.
 * If samples cover the recording, the chronological graph has the same axis, and each shows the position of
 * the other.
 */

import { head, type Resources } from "../data/page_data.ts";
import { draw, make } from "../elements/markup.ts";
import { linearScale, plotFigure, plotLabel, stroke, type Scale } from "../elements/plots.ts";
import type { Panel } from "../layout.ts";
import { currentRun, currentTree, onChange, setState, state } from "../state/state.ts";
import { formatBytes, formatCount, formatTime, isTimed } from "../text/numbers.ts";

type Curve = ReturnType<typeof curvesOf>[number];
type Box = { curve: Curve, across: Scale, up: Scale } & Edges;
type Edges = { x: number, y: number, right: number, bottom: number };
/** Strip of curves: `moment` is an index of `at_s`. */
interface Strip {
  at_s: number[];
  curves: Curve[];
  moment: number | null;
  readout: HTMLElement;
  slider: HTMLElement;
  drawn: Drawn | null;
}
/** The last drawing. */
interface Drawn {
  svg: SVGElement;
  width: number;
  boxes: Box[];
  bands: SVGElement;
  cursors: SVGElement[];
}

const HEIGHT = 58, GAP = 18, LEFT = 50, TOP = 20, BELOW = 20, NARROW = 640;
/** Relative difference up to which two durations count as equal. */
const APART = 0.1;
/** Part of the whole that the graph shows around a moment. */
const WIDTH = 0.1;

export const resourcesPanel: Panel = {
  id: "strip",
  title: "Resources over time",
  build(body) {
    let strip: Strip | null = null;
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

/** Return the curves: values at each point, and their format. */
function curvesOf(resources: Resources) {
  return [
    { name: "CPU", unit: "100 % is one core", values: [resources.cpu_share[0] ?? 0, ...resources.cpu_share],
      text: (value: number) => `${Math.round(value * 100)} %`, kind: "cpu" },
    { name: "memory", unit: "resident", values: resources.rss_bytes, text: formatBytes, kind: "memory" },
    { name: "threads", unit: "", values: resources.threads, text: formatCount, kind: "threads" },
  ];
}

function stripOf(resources: Resources) {
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
  const strip: Strip = { at_s, curves, moment: null, readout, slider, drawn: null };
  return strip;
}

/** Return the largest value of each curve as text. */
const rangesOf = (at_s: number[], curves: Curve[]) => [
  `recorded for ${formatTime(at_s[at_s.length - 1])}`,
  ...curves.map(({ name, values, text }) => `${name} up to ${text(Math.max(...values))}`),
].join(" · ");

function paint(strip: Strip, svg: SVGElement, width: number) {
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

const largest = ({ values }: Curve) => Math.max(...values) || 1;

function paintCurve(at_s: number[], svg: SVGElement, { curve, x, y, right, bottom, across, up }: Box) {
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

/** Return the point nearest to the pointer, in the box below it; null before the first drawing. */
function nearest({ at_s, drawn }: Strip, event: PointerEvent) {
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

function moveTo(strip: Strip, moment: number | null) {
  const { at_s, curves, readout, slider } = strip;
  strip.moment = moment;
  readout.textContent = moment === null ? rangesOf(at_s, curves) : valuesAt(strip, moment);
  slider.setAttribute("aria-valuenow", String(moment ?? 0));
  slider.setAttribute("aria-valuetext", readout.textContent);
  showMoment(strip);
}

const valuesAt = ({ at_s, curves }: Strip, moment: number) => [
  formatTime(at_s[moment]), ...curves.map(({ name, values, text }) => `${name} ${text(values[moment])}`),
].join(" · ");

function showMoment({ at_s, drawn, moment }: Strip) {
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

/** Show the window of the graph as a band in each box, if the axes are equal. */
function showWindow({ at_s, drawn }: Strip) {
  const { range } = state;
  const bands = range && sharesAxis(at_s) ? drawn?.boxes.map(({ x, y, right, bottom }) => {
    const [from, to] = range.map((part) => x + part * (right - x));
    return draw("rect", { x: from, y, width: to - from, height: bottom - y, class: "window-band" });
  }) : [];
  drawn?.bands.replaceChildren(...(bands ?? []));
}

/** Return whether the graph is chronological, of one thread, and about as long as the recording. */
function sharesAxis(at_s: number[]) {
  const run = currentRun();
  if (state.view !== "chronological" || !isTimed(run)) return false;
  if (state.thread === "all" && run.threads.length > 1) return false;
  const seen_s = currentTree().total[0] * run.weight_s;
  return run.weight_s > 0 && Math.abs(seen_s / at_s[at_s.length - 1] - 1) < APART;
}

/** Move the chronological graph to the moment if it has the same axis. */
function goTo({ at_s, moment }: Strip) {
  if (moment === null || !sharesAxis(at_s)) return;
  const part = (at_s[moment] - at_s[0]) / (at_s[at_s.length - 1] - at_s[0]);
  const from = Math.min(1 - WIDTH, Math.max(0, part - WIDTH / 2));
  setState({ range: [from, from + WIDTH] }, "strip");
}

function onKey(strip: Strip, event: KeyboardEvent) {
  if (event.key === "Enter") {
    goTo(strip);
    return;
  }
  const last = strip.at_s.length - 1;
  const wide = Math.max(1, Math.round(last / 10));
  const steps: Record<string, number> = {
    ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: wide, PageDown: -wide,
    Home: -last, End: last,
  };
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  moveTo(strip, Math.min(last, Math.max(0, (strip.moment ?? 0) + steps[event.key])));
}
