/*
 * Plot of an order's distribution of times: a histogram of all blocks above a strip of dots for each
 * process.
 */

import type { Distribution, Range, Times } from "../data/page_data.ts";
import { draw, make } from "../elements/markup.ts";
import {
  axisBelow, linearScale, numbersTable, paddedExtent, plotFigure, plotLabel, roundTicks, stroke, type Scale,
} from "../elements/plots.ts";
import { axisTexts, exactTime, timesAlike } from "../text/numbers.ts";

/** Times of a side: blocks by process, and whether these are executions of a program. */
type Timing = ReturnType<typeof timingOf>;
type Row = ReturnType<typeof rowsOf>[number];
type Place = { y: number, each: number, at: Scale, range: Range, left: number, width: number };

const HISTOGRAM = 64, TOP = 22, BELOW = 28, RIGHT = 44;
const HEADS = ["process", "interpreter", "blocks", "min", "median", "max"];
const HEADS_OF_PROGRAM = ["executions", "min", "median", "max"];
/** Width of a plot, as a multiple of the range of the fastest quarter of blocks. */
const REACH = 8;

/** Return the figures of the sides on one scale, each with its key and its numbers. */
export function timesFigure({ sides, is_program: program }: Distribution) {
  const timings = sides.map((side) => timingOf(side, program));
  const range = usualRange(timings);
  return make("div", {}, timings.map((timing) => [
    timings.length > 1 ? make("h4", {}, timing.name) : null, sideFigure(timing, range)]).flat());
}

const timingOf = ([name, processes, zygotes, median_s, low_s, high_s]: Times, program: boolean) =>
  ({ name, processes, zygotes, median_s, low_s, high_s, program });

function sideFigure(timing: Timing, range: Range) {
  const rows = rowsOf(timing);
  const named = { title: `Times of ${timing.name}`, described: wordsOf(timing, rows) };
  return make("div", { class: "distribution" },
    plotFigure(named, (svg, width) => paint(svg, width, { rows, timing, range })),
    keyOf(timing),
    timing.program
      ? numbersTable("Times as a table", HEADS_OF_PROGRAM, numbers(rows).map((row) => row.slice(2)))
      : numbersTable("Times of each process as a table", HEADS, numbers(rows)));
}

/** Return processes sorted by zygote; `first` marks the first process of each. */
function rowsOf({ processes, zygotes }: Timing) {
  const rows = processes.map((times_s, process) => ({ process, zygote: zygotes[process] ?? 0, times_s }));
  rows.sort((a, b) => a.zygote - b.zygote || a.process - b.process);
  return rows.map((row, i) => ({ ...row, first: i === 0 || rows[i - 1].zygote !== row.zygote }));
}

const sorted = (times_s: number[]) => [...times_s].sort((a, b) => a - b);
function medianOf(times_s: number[]) {
  const [values, half] = [sorted(times_s), times_s.length >> 1];
  return times_s.length % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/**
 * Return the range from the shortest time to the end of the undisturbed blocks; a full range would compress
 * them.
 */
const usualRange = (timings: Timing[]) =>
  paddedExtent(timings.flatMap(({ processes, median_s, high_s }) => {
  const all = sorted(processes.flat());
  const far = all[0] + REACH * (all[Math.floor(all.length / 4)] - all[0]);
  const least = processes.map((times_s) => Math.min(...times_s));
  const usual = all.filter((time_s) => time_s <= far);
  return [all[0], usual[usual.length - 1], median_s, high_s ?? median_s, ...least];
}), 0.04);

function paint(
  svg: SVGElement, width: number, { rows, timing, range }: { rows: Row[], timing: Timing, range: Range },
) {
  const left = width < 520 ? 40 : 88;
  const each = rows.length > 30 ? 9 : 15;
  const at = linearScale(range, [left, width - RIGHT]);
  const top = TOP + HISTOGRAM + 12;
  const gaps = rows.filter((row, i) => i && row.first).length;
  const bottom = top + rows.length * each + gaps * 6;
  const values = roundTicks(...range, Math.max(3, Math.floor((width - left - RIGHT) / 110)));
  axisBelow(svg, at, values, axisTexts("time", values), [TOP, bottom + 2]);
  paintMedian(svg, timing, at, bottom + 2);
  paintHistogram(svg, rows, range, { at, counted: timing.program ? "executions" : "blocks" });
  let y = top - each / 2;
  rows.forEach((row, i) => {
    y += each + (i && row.first ? 6 : 0);
    if (row.first && !timing.program) svg.append(zygoteLabel(row, left, y));
    paintRow(svg, row, { y, each, at, range, left, width });
  });
  return bottom + BELOW;
}

function paintMedian(svg: SVGElement, { median_s, low_s, high_s }: Timing, at: Scale, bottom: number) {
  const x = at(median_s);
  if (low_s !== null && high_s !== null) {
    const width = Math.max(1, at(high_s) - at(low_s));
    svg.append(draw("rect", { x: at(low_s), y: TOP, width, height: bottom - TOP, class: "interval-band" }));
  }
  svg.append(stroke(x, TOP - 4, x, bottom, "median-line"));
  svg.append(plotLabel(x, TOP - 9, `median ${exactTime(median_s)}`, { class: "plot-label median-label" }));
}

function paintHistogram(
  svg: SVGElement, rows: Row[], [low, high]: Range, { at, counted }: { at: Scale, counted: string },
) {
  const all = rows.flatMap((row) => row.times_s).filter((time) => time <= high);
  const many = Math.min(60, Math.max(8, Math.round(2 * Math.sqrt(all.length))));
  const bins = new Uint32Array(many);
  for (const time of all) bins[Math.min(many - 1, Math.floor(((time - low) / (high - low)) * many))]++;
  const most = Math.max(...bins, 1);
  const step = (at(high) - at(low)) / many;
  const base = TOP + HISTOGRAM;
  const width = Math.max(1, step - 1);
  bins.forEach((count, i) => {
    const height = (count / most) * HISTOGRAM;
    const x = at(low) + i * step + 0.5;
    if (count) svg.append(draw("rect", { x, y: base - height, width, height, class: "histogram-bar" }));
  });
  svg.append(stroke(at(low), base, at(high), base, "plot-base"));
  svg.append(plotLabel(at(low) - 6, TOP + 10, String(most), { "text-anchor": "end" }));
  svg.append(plotLabel(at(low) - 6, base, counted, { "text-anchor": "end", class: "plot-label plot-name" }));
}

function zygoteLabel({ zygote }: Row, left: number, y: number) {
  const text = left < 60 ? `#${zygote}` : `interpreter ${zygote}`;
  return plotLabel(left - 8, y + 4, text, { "text-anchor": "end" });
}

function paintRow(svg: SVGElement, row: Row, { y, each, at, range, left, width }: Place) {
  svg.append(stroke(left, y, width - RIGHT, y, "plot-row"));
  const inside = row.times_s.filter((time) => time <= range[1]);
  // One path per row, since there can be a thousand blocks. Dots vary in height so that they overlap less.
  const height = (i: number) => y + (((i * 0.618) % 1) - 0.5) * each * 0.5;
  const dots = inside.map((time, i) => `M${at(time).toFixed(1)},${height(i).toFixed(1)}h0`);
  const least = Math.min(...row.times_s);
  svg.append(draw("path", { d: dots.join(""), class: "block-dots" }));
  svg.append(draw("circle", { cx: at(least), cy: y, r: Math.min(4, each / 2.5), class: "least-dot" }));
  const beyond = row.times_s.length - inside.length;
  if (beyond) svg.append(plotLabel(width - RIGHT + 6, y + 4, `+${beyond} →`, { "text-anchor": "start" }));
}

function keyOf({ low_s, program }: Timing) {
  const sign = (kind: string) =>
    make("span", { class: `key-sign ${kind}`, "aria-hidden": "true" });
  const entry = (kind: string, text: string) => make("li", {}, sign(kind), text);
  return make("ul", { class: "plot-key" },
    entry("sign-least", program ? "fastest execution" : "fastest block of a process"),
    entry("sign-block", program ? "the others" : "its other blocks"),
    entry("sign-median", [
      program ? "median" : "median of the fastest blocks", low_s === null ? "" : ", with its 95 % interval",
    ].join("")),
    make("li", {}, `+n → number of slower ${program ? "executions" : "blocks"} beyond the axis`));
}

function wordsOf({ median_s, low_s, high_s, processes, program }: Timing, rows: Row[]) {
  const min_s = Math.min(...processes.map((times_s) => Math.min(...times_s)));
  const [median, low, high, min] = timesAlike([median_s, low_s, high_s, min_s]);
  const sure = low ? `, 95 % between ${low} and ${high}` : "";
  const counted = program ? `${rows[0].times_s.length} executions` : `${rows.length} processes`;
  return `${counted}; median ${median}${sure}, min ${min}.`;
}

function numbers(rows: Row[]) {
  const figures = rows.map(({ times_s }) => [Math.min(...times_s), medianOf(times_s), Math.max(...times_s)]);
  const texts = timesAlike(figures.flat());
  return rows.map(({ process, zygote, times_s }, i) =>
    [process + 1, zygote, times_s.length, ...texts.slice(3 * i, 3 * i + 3)].map(String));
}
