/* Tables of documents: cells have texts, by whose numbers and units columns sort. */

import type { Bounds, TableBlock, TableColumn, Tone } from "../data/page_data.ts";
import { button, draw, make, type Child } from "../elements/markup.ts";
import { barCell, cell } from "../elements/parts.ts";
import { stroke, whisker } from "../elements/plots.ts";
import { SortableTable, type Column } from "../elements/sortable_table.ts";
import { follow, setState, state } from "../state/state.ts";
import { numberIn } from "../text/numbers.ts";
import type { TrendPlot } from "./trend.ts";

/** Roles of columns whose cells have no order. */
const UNSORTED = new Set(["drawing", "curve", "call", "bounds", "prose"]);
/** Width and height of a drawn interval. */
const [WIDTH, HEIGHT] = [140, 18];
/** Columns with shares from which on a table is a heat map, and from which on this has colours alone. */
const [HEAT_MAP, DENSE] = [4, 12];
const KINDS: Record<string, string> = { bad: "more", good: "less", faint: "noise" };

/** Return the table of a block: its rows open orders, or are the points of a trend, the newest first. */
export function tableElement({ columns, orders }: TableBlock, trend: TrendPlot | null) {
  const count = columns[0]?.texts.length ?? 0;
  const isTree = columns.some(({ role }) => role === "call");
  const isOpening = orders.length > 0 && orders.length === count && state.order < count;
  const shades = columns.flatMap(({ heats }) => (heats ? [Math.max(...heats.map((heat) => heat ?? 0))] : []));
  const most = shades.length < HEAT_MAP ? 0 : Math.max(...shades);
  const keyOf = (row: number) => (trend ? count - 1 - row : isOpening ? orders[row] : row);
  const grid = new SortableTable<number>({
    columns: inOrder(columns, isTree).map((each, i) => columnOf(each, i, isTree, isOpening, most)),
    key: keyOf, pick: isOpening ? (row) => setState({ order: orders[row] }) : undefined,
    enter: trend ? (row) => trend.choose(row === null ? null : keyOf(row)) : undefined,
  });
  grid.show(Array(count).keys());
  if (most > 0) grid.element.classList.add("shaded", ...(shades.length > DENSE ? ["dense"] : []));
  if (isOpening) follow(["order"], () => grid.mark(state.order));
  if (trend) trend.onChoose = (point) => grid.mark(point);
  return grid.element;
}

/** Return the columns, that with the headings of the rows first. A tree stays on the right. */
function inOrder(columns: TableColumn[], isTree: boolean) {
  const first = columns.find((column) => column.names_rows)
    ?? columns.find(({ role }) => role === "name") ?? columns.find(({ role }) => role === "words");
  return !first || isTree ? columns : [first, ...columns.filter((column) => column !== first)];
}

/** Return a column; `most` is the largest share if the table is a heat map, else 0. */
function columnOf(
  column: TableColumn, place: number, isTree: boolean, isOpening: boolean, most: number,
): Column<number> {
  const { head, role, texts, heats } = column;
  const numbers = texts.map((text, row) => heats?.[row] ?? numberIn(text));
  const isNumeric = role === "figure" && numbers.some((each) => each !== null);
  const key = (row: number) => (isNumeric ? numbers[row] : texts[row] || null);
  const isSorted = head && !isTree && !UNSORTED.has(role);
  return {
    id: head || `column-${place}`, title: head, rising: !isNumeric, number: role === "figure",
    value: isSorted ? key : undefined,
    cell: (row) => (most > 0 && heats ? shadedCell(column, row, most)
      : cellOf(column, row, place === 0 && isOpening)),
  };
}

function cellOf(column: TableColumn, row: number, isLink: boolean) {
  const { role, texts, mores, marks, tones, depths, bounds } = column;
  const tone = tones[row] ?? tones[0];
  if (role === "bounds") return cell(drawnBounds(bounds?.[row] ?? null, tone), { class: "whisker-cell" });
  const text = isLink ? button(texts[row], () => {}, { class: "link" }) : texts[row];
  const more = mores?.[row] && make("span", { class: "addition" }, mores[row]);
  const content: Child[] = [marks?.[row] && `${marks[row]} `, text, more && " ", more];
  const kind = `${role}-cell tone-${tone}`;
  const heat = column.heats?.[row] ?? null;
  if (heat !== null) return heatCell(heat, content, tone, column.heats ?? []);
  if (role === "name") return make("th", { scope: "row", class: `name plain ${kind}` }, content);
  const style: Record<string, string> = depths ? { "padding-left": `${0.5 + depths[row]}rem` } : {};
  return cell(content, { class: role === "figure" ? `number ${kind}` : kind, style });
}

/** Return a cell of a heat map: its colour is its share. */
function shadedCell({ head, texts, heats }: TableColumn, row: number, most: number) {
  const [title, style] = [`${head}: ${texts[row] || "0 %"}`, { "--heat": (heats?.[row] ?? 0) / most }];
  return cell(texts[row], { class: "number shade", title, style });
}

/** Return a cell with a bar; bars of differences have the colours of more and less. */
function heatCell(heat: number, content: Child[], tone: Tone, all: (number | null)[]) {
  const bar = barCell(Math.abs(heat), content);
  bar.classList.add(`tone-${tone}`);
  if (all.some((each) => (each ?? 0) < 0)) bar.classList.add(heat > 0 ? "more" : "less");
  return bar;
}

/** Return the picture of a value with its interval; other columns have their numbers. */
function drawnBounds(places: Bounds | null, tone: Tone) {
  if (!places) return null;
  const [size, y] = [{ width: WIDTH, height: HEIGHT }, HEIGHT / 2];
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, ...size, "aria-hidden": "true" });
  const [middle, low, high, zero] = places;
  const at = (part: number) => part * WIDTH;
  svg.append(zero === null ? stroke(2, y, WIDTH - 2, y, "plot-grid")
    : stroke(at(zero), 0, at(zero), HEIGHT, "plot-zero"));
  whisker(svg, { at, low, high, middle, y, size: 4, kind: KINDS[tone] ?? "" });
  return svg;
}
