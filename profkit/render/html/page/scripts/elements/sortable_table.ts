/* Tables with sortable columns and selectable rows; of thousands of rows, only the first are built. */

import { exactCount } from "../text/numbers.ts";
import { button, make } from "./markup.ts";
import { listenToRows, onPick, setTabStop } from "./rows.ts";
import type { Column, TableSpec } from "../types.ts";

type Table<Row> = ReturnType<typeof tableOf<Row>>;

/** Return a table: `show(rows)` fills its `element`, and `mark(key)` marks the selected row. */
export function sortableTable<Row>(spec: TableSpec<Row>) {
  const table = tableOf(spec);
  if (spec.pick) listenToRows(table.body);
  return {
    element: table.element,
    show: (rows: Iterable<Row>) => {
      table.rows = [...rows];
      table.limit = table.step;
      arrange(table);
    },
    mark: (marked: unknown) => {
      table.marked = marked;
      mark(table);
    },
  };
}

function tableOf<Row>({ caption, columns, sort, key = (row) => row, pick, step = 50 }: TableSpec<Row>) {
  const heads = columns.map((column) => headOf(column, () => sortBy(table, column)));
  const body = make("tbody");
  const more = button("", () => grow(table), { class: "more" });
  const count = make("span", { class: "count", role: "status" });
  const foot = make("div", { class: "grid-foot" }, count, more);
  const element = make("div", { class: "grid" },
    make("div", { class: "scroll" },
      make("table", { class: "figures" }, make("caption", {}, caption),
        make("thead", {}, make("tr", {}, heads)), body)),
    foot);
  const table = {
    columns, key, pick, step, sort, heads, body, more, count, foot, element,
    rising: columnOf(columns, sort).rising ?? false,
    rows: [] as Row[], limit: step, marked: null as unknown,
  };
  return table;
}

const columnOf = <Row>(columns: Column<Row>[], id: string) =>
  columns.find((column) => column.id === id) ?? columns[0];

function headOf<Row>(column: Column<Row>, onClick: () => void) {
  const number = column.number ?? (column.value && !column.rising);
  const kinds = [number ? "number" : "", column.wide ? "wide-only" : ""];
  const kind = kinds.filter(Boolean).join(" ") || null;
  const attributes = { scope: "col", class: kind, "data-column": column.id };
  if (!column.value) return make("th", attributes, column.title);
  return make("th", attributes,
    button(column.title, onClick, { class: "sort", title: column.hint ?? null }));
}

function sortBy<Row>(table: Table<Row>, column: Column<Row>) {
  table.rising = table.sort === column.id ? !table.rising : column.rising ?? false;
  table.sort = column.id;
  arrange(table);
}

function arrange<Row>(table: Table<Row>) {
  const { value } = columnOf(table.columns, table.sort);
  if (value) table.rows.sort((a, b) => order(value(a), value(b), table.rising));
  for (const head of table.heads) {
    const sorted = head.dataset.column === table.sort;
    if (sorted) head.setAttribute("aria-sort", table.rising ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  }
  build(table, 0);
}

function order(a: number | string | null, b: number | string | null, rising: boolean) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const less = typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b);
  return rising ? less : -less;
}

function grow<Row>(table: Table<Row>) {
  const from = table.limit;
  // Double the number each time, so that the last of ten thousand rows is a few clicks away.
  table.limit *= 2;
  build(table, from);
}

function build<Row>(table: Table<Row>, from: number) {
  const rows = table.rows.slice(from, table.limit).map((row) => rowOf(table, row));
  if (from) table.body.append(...rows);
  else table.body.replaceChildren(...rows);
  const left = table.rows.length - table.limit;
  table.more.hidden = left <= 0;
  table.foot.hidden = left <= 0 && table.rows.length > 0;
  table.more.textContent = `${Math.min(left, table.limit)} more`;
  const [shown, all] = [table.limit, table.rows.length].map(exactCount);
  table.count.textContent = left > 0 ? `${shown} of ${all}` : table.rows.length ? "" : "No rows.";
  mark(table);
}

function rowOf<Row>({ key, columns, pick }: Table<Row>, row: Row) {
  const element = make("tr", { "data-key": String(key(row)) });
  columns.forEach((column, i) => {
    const cell = column.cell(row);
    if (column.wide) cell.classList.add("wide-only");
    element.append(i || cell.tagName === "TH" ? cell : make("th", { scope: "row" }, cell));
  });
  if (pick) onPick(element, () => pick(row));
  return element;
}

/** Mark the selected row, and make one button of the table reachable by Tab. */
function mark<Row>(table: Table<Row>) {
  const marked = table.marked === null ? null : String(table.marked);
  const isMarked = (row: HTMLTableRowElement) => row.dataset.key === marked;
  for (const row of table.body.rows) {
    if (isMarked(row)) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  setTabStop(table.body, isMarked);
}
