/*
 * Panel of a trace by torch.profiler: its operators, ranges and kernels, and the busy shares of its threads
 * and streams.
 */

import {
  head, type Kernel, type Operator, type Trace, type TraceLane, type TraceRange,
} from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { barCell, cell, hint, numberCell, plainHead, titled } from "../elements/parts.ts";
import { sortableTable, type Column } from "../elements/sortable_table.ts";
import type { Panel } from "../layout.ts";
import { currentRun, onChange } from "../state/state.ts";
import { formatCount, formatPercent, formatTime } from "../text/numbers.ts";
import { formatShare } from "../text/run_text.ts";

export const operatorsPanel: Panel = {
  id: "operators",
  title: "Operators",
  build(body) {
    const show = () => body.replaceChildren(...partsOf(currentRun().trace));
    onChange(["run"], show);
    show();
  },
  applies: () => head.kind === "sampled" && head.runs.some((run) => run.trace),
};

function partsOf(trace: Trace | undefined) {
  if (!trace) return [hint("torch.profiler did not record this run.")];
  const grid = sortableTable({
    caption: "Operators of torch by their own time on the CPU.", sort: "self_cpu_ns", step: 50,
    columns: operatorColumns(trace), key: ({ name, shapes }) => `${name} ${shapes}`,
  });
  grid.show(trace.operators);
  return [
    ...trace.summary.map((sentence) => make("p", {}, sentence)),
    grid.element, ...rangesOf(trace), ...kernelsOf(trace), ...timelineOf(trace),
  ];
}

const time = (time_ns: number) => formatTime(time_ns / 1e9);

const timeColumn = (id: string, title: string): Column<any> => ({
  id, title, value: (row) => row[id], cell: (row) => numberCell(row[id] ? time(row[id]) : ""),
});

const CALLS: Column<any> = {
  id: "calls", title: "calls", value: ({ calls }) => calls,
  cell: ({ calls }) => numberCell(formatCount(calls)),
};
const NAME: Column<any> = {
  id: "name", title: "name", rising: true, value: ({ name }) => name, cell: ({ name }) => plainHead(name),
};

function operatorColumns({ span_ns, devices }: Trace): Column<Operator>[] {
  const share = (time_ns: number) => time_ns / (span_ns || 1);
  return [
    { ...NAME, title: "operator" },
    { id: "self_cpu_ns", title: "self CPU", value: ({ self_cpu_ns }) => self_cpu_ns,
      cell: ({ self_cpu_ns }) => barCell(share(self_cpu_ns), formatShare(share(self_cpu_ns))) },
    timeColumn("self_cpu_ns", "time"),
    timeColumn("total_cpu_ns", "total CPU"),
    ...(devices ? [timeColumn("self_device_ns", "self GPU")] : []),
    ...(devices ? [timeColumn("total_device_ns", "total GPU")] : []),
    CALLS,
    { id: "shapes", title: "shapes", rising: true, value: ({ shapes }) => shapes,
      cell: ({ shapes }) => cell(shapes, { class: "commit" }) },
  ];
}

function rangesOf({ ranges, devices }: Trace) {
  if (!ranges.length) return [];
  const columns: Column<TraceRange>[] = [
    { ...NAME, title: "range" }, timeColumn("total_cpu_ns", "time"),
    ...(devices ? [timeColumn("total_device_ns", "GPU")] : []), CALLS,
  ];
  const grid = sortableTable({
    caption: "Ranges in the traced calls.", sort: "total_cpu_ns", columns, key: ({ name }) => name,
  });
  grid.show(ranges);
  return [titled("h3", "Ranges", "regions of profkit, and record_function of the program"), grid.element];
}

function kernelsOf({ kernels }: Trace) {
  if (!kernels.length) return [];
  const columns: Column<Kernel>[] = [
    NAME, timeColumn("total_ns", "time"), CALLS,
    { id: "kind", title: "kind", cell: ({ kind }) => cell(kind) },
  ];
  const grid = sortableTable({
    caption: "Kernels and copies by their time.", sort: "total_ns", columns,
    key: ({ name, kind }) => `${kind} ${name}`,
  });
  grid.show(kernels);
  return [titled("h3", "Kernels and copies", "on the GPU"), grid.element];
}

function timelineOf({ lanes, last_span_ns }: Trace) {
  if (!lanes.length) return [];
  const columns: Column<TraceLane>[] = [
    { ...NAME, title: "thread or stream" },
    { id: "busy_ns", title: "busy", value: ({ busy_ns }) => busy_ns,
      cell: ({ busy_ns }) => numberCell(formatPercent(busy_ns / (last_span_ns || 1), 1)) },
    { id: "drawn", title: `over ${time(last_span_ns)}`,
      cell: ({ drawn }) => cell(drawn, { class: "commit" }) },
  ];
  const grid = sortableTable({
    caption: "How busy each thread and stream was.", sort: "busy_ns", columns, key: ({ name }) => name,
  });
  grid.show(lanes);
  return [titled("h3", "Timeline", "of the last traced call"), grid.element];
}
