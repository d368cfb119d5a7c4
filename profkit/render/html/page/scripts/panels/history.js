/* Panel of a label's history: for each series, the trend over commits and a table. */

import { head } from "../data/page_data.js";
import { make } from "../elements/markup.js";
import { cell, numberCell } from "../elements/parts.js";
import { changeText, exactCount, isNumber, plural, timesAlike } from "../text/numbers.js";
import { historyPlot, shortCommit } from "./history_plot.js";

/** @import { Panel, Point, Series } from "../types.js" */
/** @typedef {(point: Point, i: number) => HTMLElement} Cell */
/** @typedef {{ title: string, kind?: string, applies?: boolean, cell: Cell }} Column */
/**
 * Texts of a series: `format` writes its values in one unit.
 * @typedef {object} Texts
 * @property {string} name
 * @property {string} quantity
 * @property {boolean} exact whether the values are counts
 * @property {(values: number[]) => string[]} format
 * @property {string[]} values
 */

const NAMES = { median_s: "median time", instructions: "instructions", per_call_s: "time of one call" };

/** @type {Panel} */
export const historyPanel = {
  id: "history",
  title: "History",
  build(body) {
    const all = head.history ? [head.history, ...(head.history.more ?? [])] : [];
    const shown = all.filter((each) => each.points.length);
    body.append(...shown.map((each) => seriesOf(each, shown.length > 1)));
  },
  applies: () => Boolean(head.history?.points.length),
};

/**
 * @param {Series} series
 * @param {boolean} titled
 */
function seriesOf({ label, measure, points }, titled) {
  const exact = measure === "instructions";
  const format = (/** @type {number[]} */ values) =>
    (exact ? values.map(exactCount) : timesAlike(values));
  const quantity = NAMES[measure];
  const name = `${quantity} of ${label} over ${points.length} commit${points.length === 1 ? "" : "s"}`;
  const texts = { name, quantity, exact, format, values: format(points.map((point) => point.value)) };
  /** @type {HTMLElement[]} */
  const rows = [];
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

/** @param {Point} point */
const nameOf = (point) => shortCommit(point.commit);

/**
 * @param {Point[]} points
 * @param {Texts} texts
 */
function summaryOf(points, { values }) {
  const [first, last] = [points[0], points[points.length - 1]];
  if (points.length === 1) return `${nameOf(first)}: ${values[0]}`;
  const change = first.value > 0 ? `, ${changeText(last.value / first.value)}` : "";
  return `From ${nameOf(first)} to ${nameOf(last)}: ${values[0]} to ${values.at(-1)}${change}`;
}

/**
 * @param {Point} point
 * @param {Texts} texts
 * @param {number} i
 */
function describe(point, { values, format, exact }, i) {
  const { started, low, high, runs, warnings } = point;
  const ends = isNumber(low) && isNumber(high) ? format([low, high]) : null;
  const sure = ends ? `95 % between ${ends[0]} and ${ends[1]}` : exact ? null : "no interval";
  const said = [nameOf(point), values[i], sure, plural(runs, "run"), started.slice(0, 10)];
  return [...said, ...warnings].filter(Boolean).join(" · ");
}

/**
 * Return the table, newest first.
 * @param {Column[]} columns
 * @param {HTMLElement[]} rows
 * @param {string} name
 */
function tableOf(columns, rows, name) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${name}` },
    make("table", { class: "figures" },
      make("thead", {}, make("tr", {}, columns.map(headOf))),
      make("tbody", {}, [...rows].reverse())));
}

/**
 * Return the columns; a column without values does not apply.
 * @param {Point[]} points
 * @param {Texts} texts
 * @returns {Column[]}
 */
function columnsOf(points, { quantity, exact, format, values }) {
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

/** @param {Column} column */
const headOf = ({ title, kind }) => make("th", { scope: "col", class: kind }, title);

/**
 * @param {Point} point
 * @param {Texts["format"]} format
 */
const boundsOf = ({ low, high }, format) =>
  (isNumber(low) && isNumber(high) ? format([low, high]).join(" – ") : "");

/**
 * Return the change from the previous point; grey if the intervals overlap or are unknown.
 * @param {Point | undefined} before
 * @param {Point} now
 * @param {boolean} exact
 */
function stepCell(before, now, exact) {
  if (!before || !(before.value > 0)) return make("td", { class: "number" });
  const apart = areApart(before, now, exact);
  const tone = apart ? (now.value > before.value ? "more" : "less") : "noise";
  const title = apart ? null : "within noise";
  return make("td", { class: `number ${tone}`, title }, changeText(now.value / before.value));
}

/**
 * @param {Point} before
 * @param {Point} now
 * @param {boolean} exact
 */
function areApart(before, now, exact) {
  if (isNumber(now.low) && isNumber(now.high) && isNumber(before.low) && isNumber(before.high)) {
    return now.low > before.high || now.high < before.low;
  }
  return exact && now.value !== before.value;
}
