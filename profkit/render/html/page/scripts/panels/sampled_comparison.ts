/* Panel of the functions that differ between sampled sides, to select them. */

import { head, type ChangedFunction } from "../data/page_data.ts";
import { draw, make } from "../elements/markup.ts";
import { badge, barCell, cell, functionLink, hint, numberCell } from "../elements/parts.ts";
import { linearScale, stroke, whisker, type Scale } from "../elements/plots.ts";
import { SortableTable, type Column } from "../elements/sortable_table.ts";
import { matchingFunctions } from "../graph/search.ts";
import type { Panel } from "../layout.ts";
import { follow, onChange, setState, state } from "../state/state.ts";
import { formatPoints, plural } from "../text/numbers.ts";
import { formatShare } from "../text/run_text.ts";

const NOISE = "noise";

const { functions = [] } = head.comparison ?? {};

export const sampledComparisonPanel: Panel = {
  id: "comparison",
  title: "Functions that differ",
  build(body) { body.append(differences(functions)); },
  applies: () => functions.length > 0,
};

/** Return the table. Changes come first; differences within noise are grey, and hidden until requested. */
function differences(rows: ChangedFunction[]) {
  const changed = rows.filter((row) => row.change !== NOISE);
  const ends = rows.flatMap(({ low, high, a, b }) => [low ?? 0, high ?? 0, b - a]);
  const most = Math.max(...ends.map(Math.abs), 0.01);
  const at = linearScale([-most, most], [6, 154]);
  const grid = new SortableTable({
    caption: "Self or total share of each function: " +
      "the difference in points, with its interval.",
    columns: columns(at), sort: "difference", key: (row) => row.function, step: 30,
    pick: ({ function: fn }) => setState({ selected: state.selected === fn ? null : fn }),
  });
  const all = make("input", { type: "checkbox", change: () => show() });
  const show = () => {
    const matches = matchingFunctions(state.search);
    grid.show((all.checked || matches ? rows : changed).filter((row) => !matches || matches[row.function]));
    grid.mark(state.selected);
    grid.element.hidden = !changed.length && !all.checked && !matches;
  };
  const none = changed.length ? null : hint("No function differs by more than the noise.");
  follow(["search"], show);
  onChange(["selected"], () => grid.mark(state.selected));
  const noise = rows.length - changed.length;
  const remark = `${plural(noise, "function")} within noise, in grey`;
  const choice = make("label", { class: "check" }, all, remark);
  return make("div", { class: "differences" }, none, grid.element, noise ? choice : null);
}

function columns(at: Scale): Column<ChangedFunction>[] {
  const share = (side: "a" | "b"): Column<ChangedFunction> => ({
    id: side, title: side.toUpperCase(), hint: `share of ${side.toUpperCase()}`, value: (row) => row[side],
    cell: (row) => barCell(row[side], [
      make("span", { class: "share" }, formatShare(row[side])), " ",
      make("span", { class: "interval" }, `±${(row.halves[side] * 100).toFixed(1)}`),
    ]),
  });
  const wide = { wide: true, rising: true };
  return [
    { id: "name", title: "function", rising: true, value: nameOf, cell: nameCell },
    share("a"), share("b"),
    { id: "difference", title: "difference", hint: "changes first, largest first", value: weightOf,
      cell: (row) => numberCell(formatPoints(row.b - row.a)) },
    { id: "interval", title: "interval", wide: true, cell: (row) => intervalCell(row, at) },
    { id: "of", title: "share", ...wide, value: shareOf,
      cell: (row) => cell(shareOf(row), { class: "faint words" }) },
    { id: "change", title: "change", ...wide, value: ({ change }) => change,
      cell: ({ change }) => cell(badge(change, `change-${change}`)) },
  ];
}

const nameOf = (row: ChangedFunction) => head.functions.name[row.function];
const shareOf = (row: ChangedFunction) => (row.of === "self" ? "self" : "total");
const weightOf = (row: ChangedFunction) => (row.change === NOISE ? 0 : 10) + Math.abs(row.b - row.a);

function nameCell(row: ChangedFunction) {
  return make("th", { scope: "row", class: `name ${row.change}` }, functionLink(row.function));
}

function intervalCell({ a, b, low, high, change }: ChangedFunction, at: Scale) {
  const title = low === null || high === null
    ? "no interval" : `${formatPoints(low)} to ${formatPoints(high)} points`;
  const svg = draw("svg", {
    viewBox: "0 0 160 18", width: 160, height: 18, role: "img", "aria-label": title,
  });
  svg.append(stroke(at(0), 0, at(0), 18, "plot-zero"));
  whisker(svg, { at, low, high, middle: b - a, y: 9, size: 4, kind: change });
  return cell(svg, { class: "whisker-cell", title });
}
