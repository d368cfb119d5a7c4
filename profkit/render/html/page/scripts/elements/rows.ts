/* Rows of tables that are picked by a click or a key; only one of their buttons is reached by Tab. */

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
