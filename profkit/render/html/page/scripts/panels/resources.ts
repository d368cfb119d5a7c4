/*
 * Panel of the process's resources over time: CPU, memory and threads on one axis, with a movable cursor.
 * If samples cover the recording, the chronological graph has the same axis, and each shows the position of
 * the other.
 */

import { head, type Resources } from "../data/page_data.ts";
import { draw } from "../elements/markup.ts";
import { explorer, linearScale, plotFigure, plotLabel, stroke, type Scale } from "../elements/plots.ts";
import type { Panel } from "../layout.ts";
import { currentRun, currentTree, follow, onChange, setState, state } from "../state/state.ts";
import { formatBytes, formatCount, formatTime, isTimed } from "../text/numbers.ts";

type Curve = ReturnType<typeof curvesOf>[number];
type Box = { curve: Curve, across: Scale, up: Scale } & Edges;
type Edges = { x: number, y: number, right: number, bottom: number };
/** Curves over the moments `at_s`, of which `moment` is the current one, and their last drawing. */
interface Strip {
  at_s: number[];
  curves: Curve[];
  moment: number | null;
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
      body.replaceChildren(...(strip ? elementsOf(strip) : []));
    };
    follow(["run"], show);
    onChange(["run", "thread", "activity", "view", "range"], () => { if (strip) showWindow(strip); });
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

const stripOf = (resources: Resources): Strip => ({
  at_s: resources.at_s, curves: curvesOf(resources), moment: null, boxes: [], bands: draw("g"), cursors: [],
});

function elementsOf(strip: Strip) {
  const { at_s, curves } = strip;
  const summary = rangesOf(at_s, curves);
  const named = { title: "CPU, memory and threads over time", described: summary, least: 200 };
  const { slider, readout } = explorer({
    label: "Moment of the recording", count: at_s.length, rest: 0, summary,
    describe: (moment) => valuesAt(strip, moment),
    nearest: (x, y) => nearest(strip, x, y),
    onMove: (moment) => { strip.moment = moment; showMoment(strip); },
    onEnter: (moment) => goTo(at_s, moment),
  }, plotFigure(named, (svg, width) => paint(strip, svg, width)));
  return [slider, readout];
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
  Object.assign(strip, { boxes, bands, cursors });
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

/** Return the moment nearest to a position, in the box below it. */
function nearest({ at_s, boxes }: Strip, x: number, y: number) {
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

const valuesAt = ({ at_s, curves }: Strip, moment: number) => [
  formatTime(at_s[moment]), ...curves.map(({ name, values, text }) => `${name} ${text(values[moment])}`),
].join(" · ");

function showMoment({ at_s, boxes, cursors, moment }: Strip) {
  cursors.forEach((cursor, i) => {
    if (moment === null) {
      cursor.replaceChildren();
      return;
    }
    const { curve, across, up, y, bottom } = boxes[i];
    const [cx, cy] = [across(at_s[moment]), up(curve.values[moment])];
    cursor.replaceChildren(
      stroke(cx, y, cx, bottom, "plot-cursor"),
      draw("circle", { cx, cy, r: 3.5, class: `dot dot-${curve.kind}` }));
  });
}

/** Show the window of the graph as a band in each box, if the axes are equal. */
function showWindow({ at_s, boxes, bands }: Strip) {
  const { range } = state;
  bands.replaceChildren(...(range && sharesAxis(at_s) ? boxes : []).map(({ x, y, right, bottom }) => {
    const [from, to] = (range ?? []).map((part) => x + part * (right - x));
    return draw("rect", { x: from, y, width: to - from, height: bottom - y, class: "window-band" });
  }));
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
function goTo(at_s: number[], moment: number) {
  if (!sharesAxis(at_s)) return;
  const part = (at_s[moment] - at_s[0]) / (at_s[at_s.length - 1] - at_s[0]);
  const from = Math.min(1 - WIDTH, Math.max(0, part - WIDTH / 2));
  setState({ range: [from, from + WIDTH] }, "strip");
}
