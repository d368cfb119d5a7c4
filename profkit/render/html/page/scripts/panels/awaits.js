/* Panel of the lines at which calls were suspended. */

import { head } from "../data/page_data.js";
import { barCell, cell, hint, numberCell, plainHead } from "../elements/parts.js";
import { sortableTable } from "../elements/sortable_table.js";
import { currentRun, onChange } from "../state/state.js";
import { formatCount, formatTime } from "../text/numbers.js";
import { formatShare } from "../text/run_text.js";

/** @import { Await, Column, Panel } from "../types.js" */

/** @type {Panel} */
export const awaitsPanel = {
  id: "awaits",
  title: "Suspended, by await",
  build(body) {
    const show = () => body.replaceChildren(tableOf(currentRun().awaits ?? []));
    onChange(["run"], show);
    show();
  },
  applies: () => head.kind === "sampled" && head.runs.some((run) => run.awaits),
};

/** @param {Await[]} awaits */
function tableOf(awaits) {
  if (!awaits.length) return hint("No call of this run was suspended at a known line.");
  const grid = sortableTable({
    caption: "Lines that awaited something, by their share of the wall time of all calls.", sort: "share",
    step: 20, columns: COLUMNS, key: (row) => `${whereOf(row)} ${row.function} ${row.awaited}`,
  });
  grid.show(awaits);
  return grid.element;
}

/** @param {Await} row */
const whereOf = ({ file, line }) => `${file}:${line}`;

/** @type {Column<Await>[]} */
const COLUMNS = [
  { id: "awaited", title: "awaiting", rising: true, value: ({ awaited }) => awaited,
    cell: ({ awaited }) => plainHead(awaited) },
  { id: "share", title: "share", value: ({ share }) => share,
    cell: ({ share }) => barCell(share, formatShare(share)) },
  { id: "suspended_s", title: "time", value: ({ suspended_s }) => suspended_s,
    cell: ({ suspended_s }) => numberCell(formatTime(suspended_s)) },
  { id: "times", title: "times", value: ({ times }) => times,
    cell: ({ times }) => numberCell(formatCount(times)) },
  { id: "function", title: "function", rising: true, value: (row) => row.function,
    cell: (row) => cell(row.function) },
  { id: "where", title: "where", rising: true, value: whereOf,
    cell: (row) => cell(whereOf(row), { class: "commit" }) },
];
