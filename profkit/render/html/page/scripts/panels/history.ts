/* Panel of a history: for each series, a plot by commit to walk by pointer and keys, and a table. */

import { head, type Point, type Series } from "../data/page_data.ts";
import { draw, make } from "../elements/markup.ts";
import { cell, numberCell } from "../elements/parts.ts";
import {
  axisLeft, explorer, linearScale, paddedExtent, plotFigure, plotLabel, roundTicks, stroke, type Scale,
} from "../elements/plots.ts";
import type { Panel } from "../layout.ts";
import { axisTexts, changeText, exactCount, isNumber, plural, timesAlike } from "../text/numbers.ts";

type Cell = (point: Point, i: number) => HTMLElement;
type Column = { title: string, kind?: string, applies?: boolean, cell: Cell };
/** Texts of a series: `format` writes its values in one unit. */
interface Texts {
  name: string;
  quantity: string;
  /** Whether the values are counts. */
  exact: boolean;
  format: (values: number[]) => string[];
  values: string[];
}

const NAMES = { median_s: "median time", instructions: "instructions", per_call_s: "time of one call" };

export const historyPanel: Panel = {
  id: "history",
  title: "History",
  build(body) {
    const all = head.history ? [head.history, ...(head.history.more ?? [])] : [];
    const shown = all.filter((each) => each.points.length);
    body.append(...shown.map((each) => seriesOf(each, shown.length > 1)));
  },
  applies: () => Boolean(head.history?.points.length),
};

function seriesOf({ label, measure, points }: Series, titled: boolean) {
  const exact = measure === "instructions";
  const format = (values: number[]) =>
    (exact ? values.map(exactCount) : timesAlike(values));
  const quantity = NAMES[measure];
  const name = `${quantity} of ${label} over ${points.length} commit${points.length === 1 ? "" : "s"}`;
  const texts = { name, quantity, exact, format, values: format(points.map((point) => point.value)) };
  const rows: HTMLElement[] = [];
  const plot = historyPlot({
    points, isTime: !exact, name, summary: summaryOf(points, texts),
    describe: (i) => wordsOf(points[i], texts, i),
    onChoose: (i) => rows.forEach((row, k) => row.classList.toggle("chosen", k === i)),
  });
  const columns = columnsOf(points, texts).filter(({ applies }) => applies !== false);
  rows.push(...points.map((point, i) =>
    make("tr", { pointerenter: () => plot.choose(i), pointerleave: () => plot.choose(null) },
      columns.map((column) => column.cell(point, i)))));
  const title = titled ? make("h3", {}, label, make("small", {}, quantity)) : null;
  return make("section", { class: "history" }, title, plot.element, tableOf(columns, rows, name));
}

const nameOf = (point: Point) => shortCommit(point.commit);

function summaryOf(points: Point[], { values }: Texts) {
  const [first, last] = [points[0], points[points.length - 1]];
  if (points.length === 1) return `${nameOf(first)}: ${values[0]}`;
  const change = first.value > 0 ? `, ${changeText(last.value / first.value)}` : "";
  return `From ${nameOf(first)} to ${nameOf(last)}: ${values[0]} to ${values.at(-1)}${change}`;
}

function wordsOf(point: Point, { values, format, exact }: Texts, i: number) {
  const { started, low, high, runs, warnings } = point;
  const ends = isNumber(low) && isNumber(high) ? format([low, high]) : null;
  const sure = ends ? `95 % between ${ends[0]} and ${ends[1]}` : exact ? null : "no interval";
  const said = [nameOf(point), values[i], sure, plural(runs, "run"), started.slice(0, 10)];
  return [...said, ...warnings].filter(Boolean).join(" · ");
}

/** Return the table, newest first. */
function tableOf(columns: Column[], rows: HTMLElement[], name: string) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${name}` },
    make("table", { class: "figures" },
      make("thead", {}, make("tr", {}, columns.map(headOf))),
      make("tbody", {}, [...rows].reverse())));
}

/** Return the columns; a column without values does not apply. */
function columnsOf(points: Point[], { quantity, exact, format, values }: Texts): Column[] {
  return [
    { title: "commit", cell: (point) =>
      make("th", { scope: "row", class: "commit", title: point.commit }, make("code", {}, nameOf(point))) },
    { title: quantity, kind: "number", cell: (_, i) => numberCell(make("strong", {}, values[i])) },
    { title: "change", kind: "number", cell: (point, i) => stepCell(points[i - 1], point, exact) },
    { title: "95 % interval", kind: "number", applies: points.some(({ low }) => isNumber(low)),
      cell: (point) => cell(boundsOf(point, format), { class: "number faint" }) },
    { title: "runs", kind: "number", cell: ({ runs }) => numberCell(String(runs)) },
    { title: "when", cell: ({ started }) => cell(started.slice(0, 10), { class: "commit" }) },
    { title: "warnings", applies: points.some(({ warnings }) => warnings.length), cell: ({ warnings }) =>
      cell(make("ul", { class: "point-warnings" }, warnings.map((warning) => make("li", {}, warning)))) },
  ];
}

const headOf = ({ title, kind }: Column) => make("th", { scope: "col", class: kind }, title);

const boundsOf = ({ low, high }: Point, format: Texts["format"]) =>
  (isNumber(low) && isNumber(high) ? format([low, high]).join(" – ") : "");

/** Return the change from the previous point; grey if the intervals overlap or are unknown. */
function stepCell(before: Point | undefined, now: Point, exact: boolean) {
  if (!before || !(before.value > 0)) return make("td", { class: "number" });
  const apart = areApart(before, now, exact);
  const tone = apart ? (now.value > before.value ? "more" : "less") : "noise";
  const title = apart ? null : "within noise";
  return make("td", { class: `number ${tone}`, title }, changeText(now.value / before.value));
}

function areApart(before: Point, now: Point, exact: boolean) {
  if (isNumber(now.low) && isNumber(now.high) && isNumber(before.low) && isNumber(before.high)) {
    return now.low > before.high || now.high < before.low;
  }
  return exact && now.value !== before.value;
}

/** Input of a plot: `describe` returns a point in words, and `onChoose` is called with a point or null. */
interface Wanted {
  points: Point[];
  isTime: boolean;
  name: string;
  summary: string;
  describe: (i: number) => string;
  onChoose: (i: number | null) => void;
}

const LEFT = 84, RIGHT = 24, TOP = 16, HEIGHT = 240, BELOW = 62;
const WIDEST = 150, NARROW = 16, LEVEL = 76;

/** Return the plot with its readout and key, and `choose`, which selects a commit or none. */
function historyPlot({ points, isTime, name, summary, describe, onChoose }: Wanted) {
  const sure = points.some(({ low }) => isNumber(low)) ? "; bars are 95 % intervals" : "";
  let drawn = { step: 1, marks: [] as SVGElement[] };
  const figure = plotFigure({
    title: name, described: summary,
    caption: `By commit, the newest on the right${sure}. The axis does not start at zero.`,
  }, (svg, width) => {
    drawn = paint(points, isTime, svg, width);
    return TOP + HEIGHT + BELOW;
  });
  const { slider, readout, move } = explorer({
    label: `Commit: ${name}`, count: points.length, rest: points.length, summary, describe,
    nearest: (x) => Math.min(points.length - 1, Math.max(0, Math.floor((x - LEFT) / drawn.step))),
    onMove: (i) => {
      drawn.marks.forEach((mark, k) => mark.classList.toggle("chosen", k === i));
      onChoose(i);
    },
  }, figure);
  return { element: make("div", {}, slider, readout, keyOf(points)), choose: move };
}

/** Return the first eight digits of a commit; return other names unchanged. */
const shortCommit = (commit: string) => (/^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit);

function paint(points: Point[], isTime: boolean, svg: SVGElement, width: number) {
  const ends = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const range = paddedExtent(ends, 0.08);
  const bottom = TOP + HEIGHT;
  const up = linearScale(range, [bottom, TOP]);
  const step = Math.min(WIDEST, (width - LEFT - RIGHT) / points.length);
  const at = (i: number) => LEFT + (i + 0.5) * step;
  const values = roundTicks(...range, 5);
  const texts = axisTexts(isTime ? "time" : "count", values);
  axisLeft(svg, up, values, texts, [LEFT, width - RIGHT]);
  const line = points.map(({ value }, i) => `${at(i).toFixed(1)},${up(value).toFixed(1)}`).join(" ");
  svg.append(draw("polyline", { points: line, class: "trend-line" }));
  const marks = points.map((point, i) => svg.appendChild(markOf(point, at(i), up, step < NARROW ? 3.2 : 5)));
  paintCommits(svg, points, at, step, bottom);
  return { step, marks };
}

function markOf({ value, low, high, warnings }: Point, x: number, up: Scale, size: number) {
  const mark = draw("g", { class: `trend-point ${warnings.length ? "warned" : "sure"}` });
  const y = up(value);
  if (isNumber(low) && isNumber(high)) {
    mark.append(stroke(x, up(low), x, up(high), "whisker"));
    for (const end of [up(low), up(high)]) {
      mark.append(stroke(x - size + 0.5, end, x + size - 0.5, end, "whisker"));
    }
  }
  // A distinct shape, because not everyone can distinguish the colours.
  const triangle = `M${x},${y - size * 1.3}l${size * 1.3},${size * 2.3}h${-size * 2.6}z`;
  mark.append(warnings.length ? draw("path", { d: triangle, class: "point" })
    : draw("circle", { cx: x, cy: y, r: size, class: "point" }));
  return mark;
}

/** Label as many commits as fit, always including the last. */
function paintCommits(svg: SVGElement, points: Point[], at: Scale, step: number, bottom: number) {
  const every = Math.max(1, Math.ceil(18 / step));
  points.forEach(({ commit }, i) => {
    if ((points.length - 1 - i) % every) return;
    const [x, y] = [at(i), bottom + 16];
    const aslant = { "text-anchor": "end", transform: `rotate(-40 ${x + 3} ${y})` };
    const text = shortCommit(commit).replace(/^run /, "").slice(0, 10);
    svg.append(step < LEVEL ? plotLabel(x + 3, y, text, aslant) : plotLabel(x, y, text));
  });
}

const keyOf = (points: Point[]) => (points.some(({ warnings }) => warnings.length)
  ? make("ul", { class: "plot-key" }, make("li", {}, "▲ has warnings: see the table")) : null);
