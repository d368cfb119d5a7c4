/* Tables with sortable columns and selectable rows; of thousands of rows, only the first are built. */

import { exactCount } from "../text/numbers.ts";
import { button, make } from "./markup.ts";

/** A column of a table; see `sortableTable`. Without `value` it does not sort. */
export interface Column<Row> {
  id: string;
  title: string;
  hint?: string;
  /** Sort key; null comes last. */
  value?(row: Row): number | string | null;
  /** The cell; those of the first column are row headers. */
  cell(row: Row): HTMLElement;
  /** Whether the first click sorts in ascending order. */
  rising?: boolean;
  /** Whether it is hidden on narrow screens. */
  wide?: boolean;
  /** Whether the title is right-aligned; by default if the first order is descending. */
  number?: boolean;
}

/** A table: `sort` is the id of a column, `step` the initial number of rows. */
export interface TableSpec<Row> {
  caption: string;
  columns: Column<Row>[];
  sort: string;
  /** Key of a row for `mark`; by default the row itself. */
  key?(row: Row): unknown;
  /** Called when a row is picked; the cells of the first column then have a button. */
  pick?(row: Row): void;
  step?: number;
}

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
    rising: columnNamed(columns, sort).rising ?? false,
    rows: [] as Row[], limit: step, marked: null as unknown,
  };
  return table;
}

const columnNamed = <Row>(columns: Column<Row>[], id: string) =>
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
  const { value } = columnNamed(table.columns, table.sort);
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

const picks: WeakMap<Element, () => void> = new WeakMap();

/** Call a function when a row is picked. */
export function onPick(row: Element, action: () => void) {
  picks.set(row, action);
}

/** Listen to clicks on the rows of a table's body, and to the arrows, Home and End in them. */
export function listenToRows(body: HTMLElement) {
  body.addEventListener("click", (event) => {
    const row = rowAt(event);
    if (row && !isTextSelected(row)) picks.get(row)?.();
  });
  body.addEventListener("keydown", (event) => {
    const row = rowAt(event);
    const target = row && buttonAfter(body, row, event.key);
    const from = row?.querySelector("button");
    if (!target || !from) return;
    event.preventDefault();
    from.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  });
}

/** Make one button of the rows reachable by Tab: that of the first marked row, else the first. */
export function setTabStop(body: HTMLTableSectionElement, isMarked: (row: HTMLTableRowElement) => boolean) {
  let stop = null;
  let found = false;
  for (const row of body.rows) {
    const first = row.querySelector("button");
    if (!first) continue;
    first.tabIndex = -1;
    if (stop && (found || !isMarked(row))) continue;
    found = isMarked(row);
    stop = first;
  }
  if (stop) stop.tabIndex = 0;
}

const rowAt = ({ target }: Event) => (target instanceof Element ? target.closest("tr") : null);

/** Return the button to which a key leads; rows without a button are passed over. */
function buttonAfter(body: HTMLElement, row: Element, key: string) {
  const buttons = [...body.children].map((each) => each.querySelector("button"))
    .filter((each) => each !== null);
  const at = buttons.findIndex((each) => row.contains(each));
  const places: Record<string, number> =
    { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 };
  return Object.hasOwn(places, key) ? buttons[places[key]] : undefined;
}

/** Return whether text of a row is selected, as for copying. */
function isTextSelected(row: Element) {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
}
