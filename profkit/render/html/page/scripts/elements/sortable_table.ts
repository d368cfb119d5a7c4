/* Tables with sortable columns and selectable rows; of thousands of rows, only the first are built. */

import { exactCount } from "../text/numbers.ts";
import { button, make } from "./markup.ts";

/** Initial number of rows. */
const STEP = 50;

/** A column of a table. Without `value` it does not sort. */
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

/** A table: `sort` is the id of a column, by default none, and `step` the initial number of rows. */
export interface TableSpec<Row> {
  caption?: string;
  columns: Column<Row>[];
  sort?: string;
  /** Key of a row for `mark`; by default the row itself. */
  key?(row: Row): unknown;
  /** Called when a row is picked; the cells of the first column then have a button. */
  pick?(row: Row): void;
  /** Called when the pointer is on a row, with null when it leaves. */
  enter?(row: Row | null): void;
  step?: number;
}

/** A table: `show(rows)` fills its `element`, and `mark(key)` marks the selected row. */
export class SortableTable<Row> {
  readonly element: HTMLElement;
  readonly #spec: TableSpec<Row>;
  readonly #body = make("tbody");
  readonly #more = button("", () => this.#grow(), { class: "more" });
  readonly #count = make("span", { class: "count", role: "status" });
  readonly #foot = make("div", { class: "grid-foot" }, this.#count, this.#more);
  readonly #heads: HTMLElement[];
  #rows: Row[] = [];
  #limit = 0;
  #sorted: Column<Row> | undefined;
  #rising: boolean;
  #marked: unknown = null;

  constructor(spec: TableSpec<Row>) {
    const { caption, columns, sort, pick } = spec;
    this.#spec = spec;
    this.#sorted = columns.find(({ id }) => id === sort);
    this.#rising = this.#sorted?.rising ?? false;
    this.#heads = columns.map((column) => headOf(column, () => this.#sortBy(column)));
    const head = columns.some(({ title }) => title) ? make("thead", {}, make("tr", {}, this.#heads)) : null;
    const table =
      make("table", { class: "figures" }, caption && make("caption", {}, caption), head, this.#body);
    this.element = make("div", { class: "grid" }, make("div", { class: "scroll" }, table), this.#foot);
    if (pick) listenToRows(this.#body);
  }

  show(rows: Iterable<Row>) {
    this.#rows = [...rows];
    this.#limit = this.#spec.step ?? STEP;
    this.#arrange();
  }

  /** Mark the selected row, and make one button of the table reachable by Tab. */
  mark(marked: unknown) {
    this.#marked = marked;
    const isMarked = (row: HTMLTableRowElement) => marked !== null && row.dataset.key === String(marked);
    for (const row of this.#body.rows) {
      if (isMarked(row)) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    setTabStop(this.#body, isMarked);
  }

  #sortBy(column: Column<Row>) {
    this.#rising = this.#sorted === column ? !this.#rising : column.rising ?? false;
    this.#sorted = column;
    this.#arrange();
  }

  #arrange() {
    const { id, value } = this.#sorted ?? {};
    if (value) this.#rows.sort((a, b) => order(value(a), value(b), this.#rising));
    const direction = this.#rising ? "ascending" : "descending";
    for (const head of this.#heads) {
      if (head.dataset.column === id) head.setAttribute("aria-sort", direction);
      else head.removeAttribute("aria-sort");
    }
    this.#build(0);
  }

  #grow() {
    const from = this.#limit;
    // Double the number each time, so that the last of ten thousand rows is a few clicks away.
    this.#limit *= 2;
    this.#build(from);
  }

  #build(from: number) {
    const [all, limit] = [this.#rows.length, this.#limit];
    const rows = this.#rows.slice(from, limit).map((row) => this.#rowOf(row));
    if (from) this.#body.append(...rows);
    else this.#body.replaceChildren(...rows);
    const left = all - limit;
    this.#more.hidden = left <= 0;
    this.#foot.hidden = left <= 0 && all > 0;
    this.#more.textContent = `${Math.min(left, limit)} more`;
    const shown = `${exactCount(limit)} of ${exactCount(all)}`;
    this.#count.textContent = left > 0 ? shown : all ? "" : "No rows.";
    this.mark(this.#marked);
  }

  #rowOf(row: Row) {
    const { key, columns, pick, enter } = this.#spec;
    const element = make("tr", {
      "data-key": String(key ? key(row) : row), pointerenter: enter && (() => enter(row)),
      pointerleave: enter && (() => enter(null)),
    });
    columns.forEach((column, i) => {
      const content = column.cell(row);
      if (column.wide) content.classList.add("wide-only");
      element.append(i ? content : rowHead(content));
    });
    if (pick) onPick(element, () => pick(row));
    return element;
  }
}

/** Return a cell as the heading of its row. */
const rowHead = (cell: HTMLElement) => (cell.tagName === "TH" ? cell
  : make("th", { scope: "row", class: cell.className }, [...cell.childNodes] as Node[]));

function headOf<Row>(column: Column<Row>, onClick: () => void) {
  const number = column.number ?? (column.value && !column.rising);
  const kind = [number ? "number" : "", column.wide ? "wide-only" : ""].filter(Boolean).join(" ") || null;
  const content = column.value
    ? button(column.title, onClick, { class: "sort", title: column.hint ?? null }) : column.title;
  // An empty heading is none.
  if (!column.title) return make("td", { "data-column": column.id });
  return make("th", { scope: "col", class: kind, "data-column": column.id }, content);
}

function order(a: number | string | null, b: number | string | null, rising: boolean) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const less = typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b);
  return rising ? less : -less;
}

const picks = new WeakMap<Element, () => void>();

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
