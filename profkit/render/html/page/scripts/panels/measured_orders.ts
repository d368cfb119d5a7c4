/* Panel with the table of measured orders; another panel shows the selected order in full. */

import { head, type Timing } from "../data/page_data.ts";
import { button, draw, make } from "../elements/markup.ts";
import { badge, cell, folded, numberCell } from "../elements/parts.ts";
import { linearScale, paddedExtent, stroke, whisker, type Scale } from "../elements/plots.ts";
import { SortableTable, type Column } from "../elements/sortable_table.ts";
import type { Panel } from "../layout.ts";
import { follow, setState, state } from "../state/state.ts";
import { decimals, exactCount, plural, timesAlike } from "../text/numbers.ts";
import { factList } from "./facts.ts";

const FAR_APART = 20;
const orders = head.measured?.orders ?? [];

export const measuredOrdersPanel: Panel = {
  id: "measured",
  title: `${orders.length} statements`,
  build(body) {
    const grid = new SortableTable({
      caption: "Times and instructions per execution. The median is that of the processes' minimum times.",
      columns: columns(), sort: "order", pick: (order) => setState({ order }), step: 100,
    });
    body.append(grid.element, sharedFacts() ?? "");
    grid.show(orders.keys());
    const mark = () => grid.mark(state.order);
    follow(["order"], mark);
  },
  applies: () => orders.length > 1,
};

function sharedFacts() {
  const facts = head.measured?.facts ?? [];
  return facts.length ? folded("What all statements have in common", factList(facts)) : null;
}

function columns(): Column<number>[] {
  const times = orders.map((order) => order.timing);
  const medians = timesAlike([...times.map((time) => time?.median_s), ...times.map((time) => time?.min_s)]);
  const counts = orders.map((order) => order.counts?.stripped ?? null);
  const at = whiskerScale(times.filter((time) => time !== null));
  const number = numberCell;
  const timed: Column<number>[] = [
    { id: "median", title: "median", value: (i) => times[i]?.median_s ?? null,
      cell: (i) => number(make("strong", {}, medians[i])) },
    { id: "sure", title: "±", wide: true, hint: "half the 95 % interval of the median, relative to it",
      value: (i) => sureness(times[i]), cell: (i) => number(sureText(times[i])) },
    { id: "interval", title: "interval", wide: true,
      cell: (i) => cell(miniature(times[i], at) ?? "", { class: "whisker-cell" }) },
    { id: "min", title: "min", wide: true, value: (i) => times[i]?.min_s ?? null,
      cell: (i) => number(medians[orders.length + i]) },
    { id: "blocks", title: "processes × blocks", wide: true, number: true,
      cell: (i) => cell(blocksOf(times[i]), { class: "number faint" }) },
  ];
  const counted: Column<number>[] = [{
    id: "instructions", title: "instructions", hint: "without memory allocators", value: (i) => counts[i],
    cell: (i) => number(exactCount(counts[i])),
  }];
  return [
    { id: "order", title: "name", rising: true, value: (i) => i, cell: nameCell },
    ...(times.some(Boolean) ? timed : []),
    ...(counts.some((count) => count !== null) ? counted : []),
    { id: "warnings", title: "warnings", wide: true, number: false,
      value: (i) => (orders[i].error ? 100 : orders[i].warnings.length),
      cell: (i) => cell(trustOf(i) ?? "none", { class: trustOf(i) ? null : "faint" }) },
  ];
}

function nameCell(i: number) {
  const { label, variant, what } = orders[i];
  return make("th", { scope: "row", class: "name" },
    button(label, () => {}, { class: "link", title: what === label ? null : what }),
    variant ? make("span", { class: "variant" }, variant) : null,
    make("span", { class: "narrow-only" }, trustOf(i)));
}

/** Return a badge with the warnings about an order's numbers; null if there are none. */
function trustOf(i: number) {
  const { warnings, error } = orders[i];
  if (error) return badge("failed", "tone-bad");
  return warnings.length ? badge(plural(warnings.length, "warning"), "tone-warn", warnings.join("\n")) : null;
}

/** Return half the interval as a part of the median; null if there is none. */
function sureness(time: Timing | null) {
  if (!time || time.low_s === null || time.high_s === null || !(time.low_s > 0)) return null;
  return (time.high_s - time.low_s) / 2 / time.median_s;
}

function sureText(time: Timing | null) {
  const part = sureness(time);
  if (part === null) return "";
  return part > 0 && part < 0.0005 ? "<0.1 %" : `${decimals(part * 100, part < 0.0995 ? 1 : 0)} %`;
}

function blocksOf(time: Timing | null) {
  if (!time) return "";
  const blocks = time.processes.map((process) => process.length);
  return `${time.processes.length} × ${Math.min(...blocks)}`;
}

/** Return one scale for all cells; logarithmic if the times are far apart. */
function whiskerScale(times: Timing[]) {
  const bounds = times.flatMap(({ low_s, high_s, median_s }) => [low_s ?? median_s, high_s ?? median_s]);
  const ends = bounds.filter((end) => end > 0);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const map = high > low * FAR_APART ? Math.log10 : (value: number) => value;
  const scale = linearScale(paddedExtent([map(low), map(high)], 0.04), [4, 136]);
  return (value: number) => scale(map(value));
}

function miniature(time: Timing | null, at: Scale) {
  // A logarithmic scale has no zero.
  if (!time || !((time.low_s ?? time.median_s) > 0)) return null;
  const svg = draw("svg", { viewBox: "0 0 140 18", width: 140, height: 18, "aria-hidden": "true" });
  svg.append(stroke(2, 9, 138, 9, "plot-grid"));
  whisker(svg, { at, low: time.low_s, high: time.high_s, middle: time.median_s, y: 9, size: 4 });
  return svg;
}
