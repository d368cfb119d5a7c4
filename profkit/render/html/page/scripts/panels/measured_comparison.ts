/*
 * Panel of a comparison of measured orders: ratios with intervals, times of both sides, and the difference
 * in instructions.
 */

import {
  measuredComparison, type ComparedOrder, type InstructionDelta, type Sides,
} from "../data/page_data.ts";
import { draw, make } from "../elements/markup.ts";
import { badge, cell, headline, numberCell } from "../elements/parts.ts";
import {
  axisBelow, linearScale, numbersTable, paddedExtent, plotFigure, plotLabel, roundTicks, stroke, whisker,
  type Scale,
} from "../elements/plots.ts";
import { columnOf, filledTable } from "../elements/sortable_table.ts";
import type { Panel } from "../layout.ts";
import { changeText, exactCount, isNumber } from "../text/numbers.ts";
import { timesFigure, usualRange } from "./distribution.ts";
import { foldedRemarks } from "./facts.ts";

/** An order with compared times. */
type RatedOrder = ComparedOrder & { ratio: number };

const GREY = new Set(["no-difference", "too-few-processes", "not-compared"]);
const ROW = 34, TOP = 8, BELOW = 40, RIGHT = 20;

export const measuredComparisonPanel: Panel = {
  id: "comparison",
  title: "Comparison",
  build(body) {
    if (!measuredComparison) return;
    const { names, orders } = measuredComparison;
    const ratios = orders.filter(hasRatio);
    const parts = [
      headline(measuredComparison.headline, names), foldedRemarks(measuredComparison),
      ratios.length ? ratioFigure(ratios, names) : null,
      ...orders.map((order) => sideBySide(order, names, orders.length > 1)),
    ];
    body.append(...parts.filter((part) => part !== null));
  },
  applies: () => measuredComparison !== null,
};

const hasRatio = (order: ComparedOrder): order is RatedOrder => isNumber(order.ratio);
const kindOf = (order: ComparedOrder) =>
  (GREY.has(order.verdict) ? "noise" : order.verdict === "slower" ? "more" : "less");

function ratioFigure(orders: RatedOrder[], { a, b }: Sides<string>) {
  const bounds = ({ low, high }: RatedOrder) =>
    (isNumber(low) && isNumber(high) ? `${changeText(low)} to ${changeText(high)}` : "–");
  const rows = orders.map((order) =>
    [order.label, changeText(order.ratio), bounds(order), order.words, order.sentence]);
  return make("div", {},
    plotFigure({
      title: "Ratio of times with 95 % intervals",
      caption: `Time of ${b} against ${a}: right of the line is slower.`,
      described: orders.map(({ label, sentence }) => `${label}: ${sentence}`).join(" "),
    }, (svg, width) => paint(svg, width, orders)),
    numbersTable("Ratios as a table", ["name", "change", "95 % interval", "verdict", "sentence"], rows));
}

function paint(svg: SVGElement, width: number, orders: RatedOrder[]) {
  const left = width < 560 ? 12 : Math.min(240, width * 0.28);
  // On a logarithmic scale, half and double are equally far from the line.
  const ends = orders.flatMap(({ ratio, low, high }) => [ratio, low ?? ratio, high ?? ratio, 1]);
  const [least, most] = paddedExtent(ends.map(Math.log), 0.12);
  const scale = linearScale([least, most], [left, width - RIGHT]);
  const at = (ratio: number) => scale(Math.log(ratio));
  const row = width < 560 ? ROW + 14 : ROW;
  const bottom = TOP + orders.length * row;
  const room = Math.max(3, Math.floor((width - left) / 110));
  const values = ratioTicks(Math.exp(least), Math.exp(most), room);
  axisBelow(svg, at, values, values.map(changeText), [TOP, bottom]);
  svg.append(stroke(at(1), TOP, at(1), bottom, "plot-zero"));
  svg.append(plotLabel(at(1), bottom + 32, "no difference", { class: "plot-label plot-name" }));
  orders.forEach((order, i) => {
    paintRow(svg, order, { at, left, y: TOP + (i + 0.5) * row, narrow: width < 560 });
  });
  return bottom + BELOW;
}

/** Return round ratios within a range: percentages, or factors if it is wide. */
function ratioTicks(least: number, most: number, room: number) {
  if (least > 0.4 && most < 2.5) return roundTicks(least, most, room);
  const decades = Array.from({ length: 13 }, (_, i) => 10 ** (i - 6));
  const factors = decades.flatMap((ten) => [ten, 2 * ten, 5 * ten]).filter((f) => f >= least && f <= most);
  const every = factors.length > room ? factors.filter((f) => decades.includes(f)) : factors;
  return [...new Set([...every, 1])];
}

function paintRow(
  svg: SVGElement,
  order: RatedOrder,
  { at, left, y, narrow }: { at: Scale, left: number, y: number, narrow: boolean },
) {
  const middle = narrow ? y + 8 : y;
  const { ratio, low, high } = order;
  whisker(svg, { at, low, high, middle: ratio, y: middle, size: 6, kind: kindOf(order) });
  const text = order.label.length > 34 ? `${order.label.slice(0, 33)}…` : order.label;
  const [x, base, anchor] = narrow ? [left, y - 9, "start"] : [left - 12, y + 4, "end"];
  svg.append(plotLabel(x, base, text, { "text-anchor": anchor }));
}

/** Return both sides of an order, with its name and verdict unless the headline has them. */
function sideBySide(order: ComparedOrder, { a, b }: Sides<string>, isNamed: boolean) {
  return make("section", { class: "order-comparison" },
    isNamed ? make("h3", {}, order.label, badge(order.words, `change-${kindOf(order)}`)) : null,
    isNamed && order.sentence ? make("p", { class: "sentence" }, order.sentence) : null,
    ...bothTimes(order, [a, b]),
    order.python?.length ? deltaTable(order.python, "Python function") : null,
    order.delta?.length
      ? deltaTable(order.delta, order.python?.length ? "native function" : "function") : null);
}

/** Return the times of both sides, one above the other on the same scale. */
function bothTimes({ a, b }: ComparedOrder, names: string[]) {
  const range = usualRange([a, b].filter((timing) => timing !== null));
  return [a, b].map((timing, i) => timing && make("div", { class: "side-times" },
    make("h4", {}, make("span", { class: "faint" }, "AB"[i]), names[i]),
    timesFigure(timing, names[i], range)));
}

/** Return the difference in instructions by function, as bars from a line in the middle. */
function deltaTable(rows: InstructionDelta[], kind: string) {
  const most = Math.max(...rows.map(([, , , delta]) => Math.abs(delta)), 1);
  const bar = (delta: number) =>
    cell(deltaBar(delta / most), { class: "whisker-cell", "aria-hidden": "true" });
  const signed = (value: number) => `${value > 0 ? "+" : ""}${exactCount(value)}`;
  return filledTable<InstructionDelta>({
    caption: `Instructions per execution by ${kind}, with the difference B − A, largest first.`,
    sort: "delta", step: 15, key: ([name]) => name,
    columns: [
      columnOf("name", "function", "name", ([name]) => name),
      columnOf("a", "A", "exact", ([, a]) => a),
      columnOf("b", "B", "exact", ([, , b]) => b),
      { id: "delta", title: "difference", value: ([, , , delta]) => Math.abs(delta),
        cell: ([, , , delta]) => numberCell(signed(delta)) },
      { id: "bar", title: "bar", wide: true, cell: ([, , , delta]) => bar(delta) },
    ],
  }, rows);
}

function deltaBar(part: number) {
  const svg = draw("svg", { viewBox: "0 0 160 14", width: 160, height: 14 });
  const length = Math.abs(part) * 76;
  const kind = `delta-bar ${part > 0 ? "more" : "less"}`;
  svg.append(
    draw("rect", { x: part > 0 ? 80 : 80 - length, y: 2, width: length, height: 10, class: kind }),
    stroke(80, 0, 80, 14, "plot-base"));
  return svg;
}
