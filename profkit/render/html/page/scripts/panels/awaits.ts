/* Panel of the lines at which calls were suspended. */

import { head, type Await, type Run } from "../data/page_data.ts";
import { barCell, cell, hint, numberCell, plainHead } from "../elements/parts.ts";
import { sortableTable, type Column } from "../elements/sortable_table.ts";
import type { Panel } from "../layout.ts";
import { currentRun, onChange } from "../state/state.ts";
import { formatCount, formatTime } from "../text/numbers.ts";
import { formatShare } from "../text/run_text.ts";

export const awaitsPanel: Panel = {
  id: "awaits",
  title: "Suspended, by await",
  build(body) {
    const show = () => body.replaceChildren(tableOf(currentRun()));
    onChange(["run"], show);
    show();
  },
  applies: () => head.kind === "sampled" && head.runs.some((run) => run.awaits),
};

function tableOf({ awaits = [], awaits_of_tasks: ofTasks = false }: Run) {
  if (!awaits.length) return hint("No call of this run was suspended at a known line.");
  const grid = sortableTable({
    caption: ofTasks ? "Lines that awaited something, by the mean number of tasks suspended there."
      : "Lines that awaited something, by their share of the wall time of all calls.",
    sort: "share", step: 20, columns: [NAME, ...(ofTasks ? [TASKS] : FIGURES), ...PLACE],
    key: (row) => `${whereOf(row)} ${row.function} ${row.awaited}`,
  });
  grid.show(awaits);
  return grid.element;
}

const whereOf = ({ file, line }: Await) => `${file}:${line}`;

const NAME: Column<Await> = {
  id: "awaited", title: "awaiting", rising: true, value: ({ awaited }) => awaited,
  cell: ({ awaited }) => plainHead(awaited),
};
const TASKS: Column<Await> = {
  id: "share", title: "tasks", value: ({ share }) => share,
  cell: ({ share }) => numberCell(share.toFixed(share < 1 ? 2 : 1)),
};
const FIGURES: Column<Await>[] = [
  { id: "share", title: "share", value: ({ share }) => share,
    cell: ({ share }) => barCell(share, formatShare(share)) },
  { id: "suspended_s", title: "time", value: ({ suspended_s }) => suspended_s,
    cell: ({ suspended_s }) => numberCell(formatTime(suspended_s)) },
  { id: "times", title: "times", value: ({ times }) => times,
    cell: ({ times }) => numberCell(formatCount(times)) },
];
const PLACE: Column<Await>[] = [
  { id: "function", title: "function", rising: true, value: (row) => row.function,
    cell: (row) => cell(row.function) },
  { id: "where", title: "where", rising: true, value: whereOf,
    cell: (row) => cell(whereOf(row), { class: "commit" }) },
];
