/* A table whose columns sort and whose rows can be picked; of thousands of rows the first ones are built. */
{
  const { make } = profkit;

  /**
   * `columns`: {id, title, hint, value(row) → number or string to sort by (null last), cell(row) → td,
   * rising: whether the first click sorts upwards, wide: whether it goes where there is little room, number:
   * whether its title stands on the right, by default if it sorts downwards first}; the cells of the first
   * column head their rows, with a button if rows can be picked. `show(rows)` and `mark(key)` of what is
   * returned fill the `element` and mark the row that is chosen.
   *
   * @param {{caption: string, columns: object[], sort: string, key: function, pick: ?function, step: number}} wanted
   */
  profkit.grid = ({ caption, columns, sort, key = (row) => row, pick = null, step = 50 }) => {
    const rising = columnOf(columns, sort).rising ?? false;
    const table = { columns, key, pick, step, sort, rising, rows: [], limit: step, marked: null };
    table.heads = columns.map((column) => headOf(table, column));
    table.body = make("tbody", {}, []);
    table.more = profkit.button("", () => grow(table), { class: "more" });
    table.count = make("span", { class: "count", role: "status" });
    table.foot = make("div", { class: "grid-foot" }, table.count, table.more);
    table.element = make("div", { class: "grid" },
      make("div", { class: "scroll" },
        make("table", { class: "figures" }, make("caption", {}, caption),
          make("thead", {}, make("tr", {}, table.heads)), table.body)),
      table.foot);
    if (pick) listen(table);
    return {
      element: table.element,
      show: (rows) => { table.rows = [...rows]; table.limit = step; arrange(table); },
      mark: (marked) => { table.marked = marked; mark(table); },
    };
  };

  const columnOf = (columns, id) => columns.find((column) => column.id === id);

  function headOf(table, column) {
    const number = column.number ?? (column.value && !column.rising);
    const kinds = [number ? "number" : "", column.wide ? "wide-only" : ""];
    const attributes = { scope: "col", class: kinds.filter(Boolean).join(" ") || null, "data-column": column.id };
    if (!column.value) return make("th", attributes, column.title);
    return make("th", attributes,
      profkit.button(column.title, () => sortBy(table, column), { class: "sort", title: column.hint ?? null }));
  }

  function sortBy(table, column) {
    table.rising = table.sort === column.id ? !table.rising : column.rising ?? false;
    table.sort = column.id;
    arrange(table);
  }

  function arrange(table) {
    const { value } = columnOf(table.columns, table.sort);
    table.rows.sort((a, b) => order(value(a), value(b), table.rising));
    for (const head of table.heads) {
      const sorted = head.dataset.column === table.sort;
      if (sorted) head.setAttribute("aria-sort", table.rising ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    build(table, 0);
  }

  function order(a, b, rising) {
    if (a === null || b === null) return (a === null) - (b === null);
    const less = typeof a === "string" ? a.localeCompare(b) : a - b;
    return rising ? less : -less;
  }

  function grow(table) {
    const from = table.limit;
    // Each time as many again: the last of ten thousand rows is a few clicks away.
    table.limit *= 2;
    build(table, from);
  }

  function build(table, from) {
    const rows = table.rows.slice(from, table.limit).map((row) => rowOf(table, row));
    if (from) table.body.append(...rows);
    else table.body.replaceChildren(...rows);
    const left = table.rows.length - table.limit;
    table.more.hidden = left <= 0;
    table.foot.hidden = left <= 0 && table.rows.length > 0;
    table.more.textContent = `${Math.min(left, table.limit)} more`;
    const [shown, all] = [table.limit, table.rows.length].map(profkit.exactCount);
    table.count.textContent = left > 0 ? `${shown} of ${all}` : table.rows.length ? "" : "None.";
    mark(table);
  }

  function rowOf(table, row) {
    const element = make("tr", { "data-key": String(table.key(row)) });
    table.columns.forEach((column, i) => {
      const cell = column.cell(row);
      if (column.wide) cell.classList.add("wide-only");
      element.append(i || cell.tagName === "TH" ? cell : make("th", { scope: "row" }, cell));
    });
    if (table.pick) element.pick = () => table.pick(row);
    return element;
  }

  function mark(table) {
    const marked = table.marked === null ? null : String(table.marked);
    let stop = null;
    for (const row of table.body.rows) {
      const chosen = row.dataset.key === marked;
      if (chosen) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      const button = row.querySelector("button");
      if (button) button.tabIndex = -1;
      if (chosen || !stop) stop = button;
    }
    if (stop) stop.tabIndex = 0;
  }

  /** Whether text of the row is marked: somebody wants to copy it. */
  function isMarked(row) {
    const selection = getSelection();
    return !selection.isCollapsed && selection.containsNode(row, true);
  }

  function listen(table) {
    table.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !isMarked(row)) row.pick();
    });
    table.body.addEventListener("keydown", (event) => {
      const row = event.target.closest("tr");
      const { firstElementChild: first, lastElementChild: last } = table.body;
      const rows = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling, Home: first, End: last };
      const to = rows[event.key];
      if (!to) return;
      event.preventDefault();
      row.querySelector("button").tabIndex = -1;
      const button = to.querySelector("button");
      button.tabIndex = 0;
      button.focus();
    });
  }
}
