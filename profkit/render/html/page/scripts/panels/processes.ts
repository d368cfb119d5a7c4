/* Panel of a merged run's processes: figures of each, and the functions whose shares differ between them. */

import { head, type DifferingFunction, type Merged, type ProcessRow } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { barCell, cell, hint, numberCell, plainHead, titled } from "../elements/parts.ts";
import { sortableTable, type Column, type TableSpec } from "../elements/sortable_table.ts";
import type { Panel } from "../layout.ts";
import { currentRun, onChange } from "../state/state.ts";
import { formatBytes, formatCount } from "../text/numbers.ts";
import { formatShare } from "../text/run_text.ts";

const ODD = 4;

export const processesPanel: Panel = {
  id: "processes",
  title: "Processes",
  build(body) {
    const show = () => body.replaceChildren(...partsOf(currentRun().merged));
    onChange(["run"], show);
    show();
  },
  applies: () => head.kind === "sampled" && head.runs.some((run) => run.merged),
};

function partsOf(merged: Merged | null | undefined) {
  if (!merged) return [hint("This run has one process.")];
  const isKnown = merged.processes.every((row) => row.working_share !== null);
  const grid = sortableTable({
    caption: `Processes by ${isKnown ? "working" : "CPU"} time.`, step: 50,
    sort: isKnown ? "working_share" : "cpu_share", columns: processColumns(isKnown),
    key: ({ host, pid, started }) => `${host} ${pid} ${started}`,
  });
  grid.show(merged.processes);
  return [grid.element, ...differing(merged)];
}

/** @param isKnown whether the working time of all processes is known */
function processColumns(isKnown: boolean): Column<ProcessRow>[] {
  type Name = "samples" | "calls" | "cpu_share" | "working_share" | "peak_rss_bytes";
  const number = (id: Name, title: string, write: (value: number) => string): Column<ProcessRow> => ({
    id, title, value: (row) => row[id],
    cell: (row) => { const value = row[id]; return numberCell(value === null ? "" : write(value)); },
  });
  return [
    { id: "pid", title: "process", rising: true, value: ({ pid }) => pid,
      cell: ({ pid }) => make("th", { scope: "row", class: "name plain" }, String(pid)) },
    { id: "share", title: "share", value: ({ share }) => share,
      cell: ({ share }) => barCell(share, formatShare(share)) },
    number("samples", "samples", formatCount),
    number("calls", "calls", formatCount),
    number("cpu_share", "CPU", (share) => `${Math.round(share * 100)} %`),
    ...(isKnown ? [number("working_share", "worked", formatShare)] : []),
    number("peak_rss_bytes", "peak memory", formatBytes),
    { id: "started", title: "started (UTC)", rising: true, value: ({ started }) => started,
      cell: ({ started }) => cell(started.slice(0, 19).replace("T", " "), { class: "commit" }) },
    { id: "host", title: "host", rising: true, value: ({ host }) => host, cell: ({ host }) => cell(host) },
  ];
}

function differing({ differing: rows, processes }: Merged) {
  if (processes.length < 2) return [];
  const title = titled("h3", "Shares that differ between processes",
    "of functions, including their library calls");
  if (!rows.length) return [title, hint("No share differs by more than noise and 5 points.")];
  const spec: TableSpec<DifferingFunction> = {
    caption: "Functions whose share in one process differs from that in all others.", sort: "share", step: 20,
    key: ({ name, file }) => `${name} ${file}`,
    columns: [
      { id: "name", title: "function", rising: true, value: ({ name }) => name,
        cell: ({ name }) => plainHead(name) },
      { id: "share", title: "all processes", value: ({ share }) => share,
        cell: ({ share }) => barCell(share, formatShare(share)) },
      { id: "odd", title: "differing processes", cell: (row) => cell(oddOf(row)) },
    ],
  };
  const grid = sortableTable(spec);
  grid.show(rows);
  return [title, grid.element];
}

/** Return the differing processes most: `90 % in 4242, 2 % in 4250`. */
function oddOf({ share, processes }: DifferingFunction) {
  const odd = processes.filter(({ differs }) => differs)
    .sort((a, b) => Math.abs(b.share - share) - Math.abs(a.share - share));
  const several = new Set(processes.map(({ pid }) => pid)).size < processes.length;
  const said = odd.slice(0, ODD).map((one) =>
    `${formatShare(one.share)} in ${one.pid}${several ? ` on ${one.host}` : ""}`);
  return [...said, ...(odd.length > ODD ? [`${odd.length - ODD} more`] : [])].join(", ");
}
