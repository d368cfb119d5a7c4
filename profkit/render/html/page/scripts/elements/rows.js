/* Rows of tables that are picked by a click or a key; only one of their buttons is reached by Tab. */

/** @type {WeakMap<Element, () => void>} */
const picks = new WeakMap();

/**
 * Call a function when a row is picked.
 * @param {Element} row
 * @param {() => void} action
 */
export function onPick(row, action) {
  picks.set(row, action);
}

/**
 * Listen to clicks on the rows of a table's body, and to the arrows, Home and End in them.
 * @param {HTMLElement} body
 */
export function listenToRows(body) {
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

/**
 * Make one button of the rows reachable by Tab: that of the first marked row, else the first.
 * @param {HTMLTableSectionElement} body
 * @param {(row: HTMLTableRowElement) => boolean} isMarked
 */
export function setTabStop(body, isMarked) {
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

/** @param {Event} event */
const rowAt = ({ target }) => (target instanceof Element ? target.closest("tr") : null);

/**
 * Return the button to which a key leads; rows without a button are passed over.
 * @param {HTMLElement} body
 * @param {Element} row
 * @param {string} key
 */
function buttonAfter(body, row, key) {
  const buttons = [...body.children].map((each) => each.querySelector("button"))
    .filter((each) => each !== null);
  const at = buttons.findIndex((each) => row.contains(each));
  /** @type {Record<string, number>} */
  const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 };
  return Object.hasOwn(places, key) ? buttons[places[key]] : undefined;
}

/**
 * Return whether text of a row is selected, as for copying.
 * @param {Element} row
 */
function isTextSelected(row) {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
}
