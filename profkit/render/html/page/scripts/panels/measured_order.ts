/* Panel of the selected order: its facts, warnings, plot of times, and instruction counts. */

import {
  head, type CountedFunction, type Counts, type Order, type PythonCounts, type Timing,
} from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { barCell, folded, hint, keyFigures, titled } from "../elements/parts.ts";
import { columnOf, filledTable, type Column } from "../elements/sortable_table.ts";
import { places, type Panel } from "../layout.ts";
import { follow, setState, state } from "../state/state.ts";
import { exactCount, isNumber, plural, timesAlike } from "../text/numbers.ts";
import { formatShare } from "../text/run_text.ts";
import { timesFigure } from "./distribution.ts";
import { factList, warnings } from "./facts.ts";

/** Columns of functions, by their names in the data. */
const COLUMNS = { self: "exclusive", total: "inclusive", name: "name" };
const orders = head.measured?.orders ?? [];

/** Return the selected order. */
const currentOrder = () => orders[state.order] ?? orders[0];

export const selectedOrderPanel: Panel = {
  id: "plots",
  title: orders.length > 1 ? "The selected statement" : "Measurement",
  build(body) {
    const show = () => {
      body.replaceChildren(...about(currentOrder()));
      showGraph(currentOrder().run);
    };
    follow(["order"], show);
  },
  applies: () => head.kind === "measured" && orders.length > 0,
};

/** Show the graph and tables of the selected order; hide them if its calls were not counted. */
function showGraph(run: number | null | undefined) {
  places.workspace.hidden = places.tabs.hidden = !isNumber(run);
  if (isNumber(run)) setState({ run }, "address");
}

function about(order: Order) {
  const { label, variant, what, error, timing, counts, facts } = order;
  const alone = orders.length === 1;
  return [
    make("h3", { class: "order-name" }, label, variant ? make("span", { class: "variant" }, variant) : null),
    what && what !== label ? make("pre", { class: "statement" }, make("code", {}, what)) : null,
    error
      ? make("div", { class: "failure" }, make("strong", {}, "Failed"), make("pre", {}, error)) : null,
    warnings(order.warnings),
    timing ? timeFigures(timing) : null,
    timing ? timesFigure(timing, label) : null,
    counts ? countsSection(counts, isNumber(order.run)) : null,
    facts?.length ? folded("What was measured and how", factList(facts), alone) : null,
  ].filter((part) => part !== null);
}

/** Return median, interval and minimum in large type. */
function timeFigures(time: Timing) {
  const [median, low, high, min] = timesAlike([time.median_s, time.low_s, time.high_s, time.min_s]);
  return keyFigures([
    ["median", median, low ? `95 % interval ${low} to ${high}` : "no interval from fewer than 6 processes"],
    ["min", min, time.program ? "of all executions" : "of all blocks"],
    ...(time.program ? [] : processFigures(time)),
    time.program
      ? ["executions", exactCount(time.processes[0].length), "each a new process"]
      : ["executions", exactCount(time.number), "in each block"],
  ]);
}

const processFigures = ({ processes, zygotes }: Timing): [string, string, string][] =>
  [["processes", String(processes.length), `from ${plural(new Set(zygotes).size, "interpreter")}`]];

/** Return the figures and functions of counts; if there is a graph, the table is folded. */
const countsSection = (counts: Counts, graphed: boolean) => make("section", { class: "counts" },
  titled("h4", "Instructions", "per execution"),
  keyFigures([
    ["stripped", exactCount(counts.stripped), `without memory allocators${shareOf(counts)}`],
    ["net", exactCount(counts.net), "minus the baseline"],
    ["baseline", exactCount(counts.baseline), "the same loop with pass"],
    ["repeats", String(counts.raw.length), agreement(counts.raw)],
  ]),
  ...pythonFunctions(counts.python),
  counts.functions.length ? nativeFunctions(counts, graphed) : null);

function nativeFunctions(counts: Counts, graphed: boolean) {
  const first = !counts.python?.functions.length;
  return folded("Native functions", functions(counts, "Native functions"), first && !graphed);
}

/** Return the Python functions, or why there are none; nothing if they were not asked for. */
function pythonFunctions(python: PythonCounts | null) {
  if (!python) return [];
  const table = python.functions.length
    ? folded("Python functions", functions(python, "Python functions"), true) : null;
  return [table, hint(python.note)];
}

const shareOf = ({ net, stripped }: Counts) =>
  (net > stripped && net > 0 ? `, ${formatShare((net - stripped) / net)} of net` : "");

function agreement(raw: number[]) {
  const [low, high] = [Math.min(...raw), Math.max(...raw)];
  if (raw.length === 0) return "";
  if (raw.length === 1) return `raw ${exactCount(low)}`;
  if (low === high) return `agree: raw ${exactCount(low)}`;
  return `differ: raw ${exactCount(low)} to ${exactCount(high)}`;
}

function functions({ net, functions: rows }: PythonCounts | Counts, what: string) {
  const counted = (id: string, at: 1 | 2): Column<CountedFunction> =>
    ({ id, title: id, value: (row) => row[at], cell: (row) => partCell(row[at], net) });
  return filledTable<CountedFunction>({
    caption: `${what} by self and total instructions.`,
    sort: COLUMNS[head.initial?.sort ?? "self"], step: 12, key: ([name]) => name,
    columns: [
      columnOf("name", "function", "name", ([name]) => name),
      counted("exclusive", 1), counted("inclusive", 2),
      columnOf("calls", "calls", "exact", (row) => row[3] || null),
    ],
  }, rows);
}

function partCell(count: number, whole: number) {
  const share = whole > 0 ? count / whole : 0;
  return barCell(share, exactCount(count), formatShare(share));
}
