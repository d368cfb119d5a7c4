/* Panel of the hottest functions: self and total, sortable, filtered by the search. */

import { head } from "../data/page_data.ts";
import { costsOf, hasStatedTotals } from "../data/trees.ts";
import { make } from "../elements/markup.ts";
import { barCell, cell, functionLink, placeElement, sureShare } from "../elements/parts.ts";
import { SortableTable, type Column } from "../elements/sortable_table.ts";
import { matchingFunctions } from "../graph/search.ts";
import type { Panel } from "../layout.ts";
import { currentTree, follow, hasGraph, onChange, setState, state } from "../state/state.ts";
import { amountText, packageOf, placeOf, weightText } from "../text/run_text.ts";

export const hotFunctionsPanel: Panel = {
  id: "functions",
  title: "Hot functions",
  build(body) {
    const grid = new SortableTable({
      caption: "Functions by self and total weight; click one to select it.",
      columns: columns(), sort: head.initial?.sort ?? "self", step: 40,
      pick: (fn) => setState({ selected: state.selected === fn ? null : fn }),
    });
    body.append(grid.element);
    const show = () => { grid.show(found()); grid.mark(state.selected); };
    follow(["run", "thread", "activity", "search"], show);
    onChange(["selected"], () => grid.mark(state.selected));
  },
  applies: hasGraph,
};

const tree = currentTree;
const costs = () => costsOf(tree());

function columns(): Column<number>[] {
  const { functions } = head;
  const words = { rising: true, wide: true };
  const weights = (name: "self" | "total", hint: string): Column<number> => ({
    id: name, title: name, hint, value: (fn) => costs()[name][fn], cell: (fn) => weightCell(name, fn),
  });
  return [
    { id: "name", title: "function", rising: true, value: (fn) => functions.name[fn], cell: nameCell },
    weights("self", "the function itself"),
    weights("total", hasStatedTotals(tree())
      ? "including callees, as stated by the file" : "including callees; recursion counts once"),
    { id: "package", title: "package", ...words, value: packageOf, cell: (fn) => cell(packageOf(fn)) },
    { id: "place", title: "place", ...words, value: placeOf,
      cell: (fn) => cell(placeElement(placeOf(fn))) },
  ];
}

function nameCell(fn: number) {
  return make("th", { scope: "row", class: "name" }, functionLink(fn),
    placeElement(placeOf(fn), { class: "narrow-only place" }));
}

/** Return a weight with a bar for its share. */
function weightCell(name: "self" | "total", fn: number) {
  const weight = costs()[name][fn];
  const whole = tree().total[0] || 1;
  const amount = make("span", { class: "amount wide-only" }, amountText(weight));
  const text = weight ? [amount, " ", ...sureShare(weight, whole)] : "";
  return barCell(weight / whole, text, weightText(weight));
}

function found() {
  const { total } = costs();
  const matches = matchingFunctions(state.search);
  const rows = [] as number[];
  total.forEach((weight, fn) => { if (weight && (!matches || matches[fn])) rows.push(fn); });
  return rows;
}
