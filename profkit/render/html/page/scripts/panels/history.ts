/* Panel of a label's history: for each series, the trend over commits and a table. */

import { head, type Point, type Series } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { cell, numberCell } from "../elements/parts.ts";
import type { Panel } from "../layout.ts";
import { changeText, exactCount, isNumber, plural, timesAlike } from "../text/numbers.ts";
import { historyPlot, shortCommit } from "./history_plot.ts";

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
    describe: (i) => describe(points[i], texts, i),
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

function describe(point: Point, { values, format, exact }: Texts, i: number) {
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
