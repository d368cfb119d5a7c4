/*
 * The chronological view: lanes of samples in the order in which they were taken. A frame is a run of samples
 * with the same stack down to its row; a spot is its first sample and its row within the lane as one number.
 * Frames are not stored: runs are found when they are drawn, so the cost depends on the visible window only.
 */

import type { Range } from "../data/page_data.ts";
import type { FrameBatch } from "./frame_batch.ts";
import { deepestMatches } from "./matches.ts";
import { boxAbove } from "./rows.ts";
import type { Lane, Sequence } from "./sequence.ts";
import type { GraphView } from "./views.ts";

/** Window, width, rows and matches that `layout` draws. */
interface Wanted {
  window: Range;
  widthPx: number;
  rows: Range;
  batch: FrameBatch;
  matched: Uint16Array | null;
}
/** Of samples in a row of a lane. */
type Run = [start: number, end: number, row: number];
type Sheet = Wanted & { scale: number, least: number, lane: Lane, pending: Run[] };

const MIN_PX = 0.5;
const ROWS = 65536;

/** Return the view of a sequence of samples. */
export function chronological(all: Sequence): GraphView {
  const { tree, rows, weights } = all;
  const run = (spot: number) => runAt(all, sampleOf(spot), rowOf(spot));
  return {
    tree, rows,
    total: all.total,
    height: all.lanes.reduce((sum, lane) => sum + lane.rows, 0),
    top: 0,
    row: (spot) => laneAt(all, sampleOf(spot)).top + rowOf(spot),
    lane: (row) => all.lanes.findLast(({ top }) => top <= row) ?? all.lanes[0],
    thread: (spot) => laneAt(all, sampleOf(spot)).thread,
    node: (spot) => nodeAt(all, sampleOf(spot), rowOf(spot)),
    spotOf: (node) => spotOf(all, node),
    extent: (spot) => extentOf(all, run(spot), rowOf(spot)),
    parent: (spot) => spotIn(all, sampleOf(spot), Math.max(0, rowOf(spot) - 1)),
    child: (spot) => child(all, run(spot), spot),
    sibling: (spot, step) => sibling(all, run(spot), spot, step),
    weight: (spot) => { const [a, b] = run(spot); return weights[b] - weights[a]; },
    marks: () => (all.marks.length > 1 ? all.marks : []),
    origins: () => (all.marks.length > 0 ? all.marks.map(({ at }) => at) : [0]),
    layout: (window, widthPx, seen, batch, matches) => {
      const matched = deepestMatches(tree, rows, matches);
      layout(all, { window, widthPx, rows: seen, batch, matched });
    },
  };
}

const sampleOf = (spot: number) => Math.floor(spot / ROWS);
const rowOf = (spot: number) => spot % ROWS;

/** Return the lane of a sample. */
function laneAt({ lanes }: Sequence, sample: number) {
  let [low, high] = [0, lanes.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lanes[middle].first <= sample) low = middle;
    else high = middle - 1;
  }
  return lanes[low];
}

/** Return the first node of the box that shows a sample's stack in a row. */
function nodeAt({ tree, rows, leaf }: Sequence, sample: number, row: number) {
  let node = rows.head[leaf[sample]];
  while (rows.row[node] > row) node = boxAbove(tree, rows, node);
  return node;
}

/**
 * Return the first sample and the end of the run to which a sample belongs in a row. The run in the top row
 * has all samples of its lane.
 */
function runAt(all: Sequence, sample: number, row: number): Range {
  if (row > 0) return [all.below.previous(sample, row), all.below.next(sample, row)];
  const { first, end } = laneAt(all, sample);
  return [first, end];
}

/** Return the extent of a run; that of a lane is the whole axis. */
function extentOf(all: Sequence, [start, end]: Range, row: number): Range {
  return row === 0 ? [0, all.total] : [all.from[start], all.until[end - 1]];
}

const spotIn = (all: Sequence, sample: number, row: number) => runAt(all, sample, row)[0] * ROWS + row;

function spotOf(all: Sequence, node: number) {
  for (let i = 0; node > 0 && i < all.count; i++) {
    const leaf = all.leaf[i];
    if (leaf >= node && leaf < all.tree.end[node]) return i * ROWS + all.rows.row[all.rows.head[node]];
  }
  return 0;
}

function child(all: Sequence, [from, to]: Range, spot: number) {
  const row = rowOf(spot) + 1;
  for (let i = from; i < to; i = all.below.next(i, row)) if (all.depth[i] >= row) return i * ROWS + row;
  return spot;
}

/**
 * Return the previous or next run of the lane, below the same caller or another one; in the top row, the lane
 * above or below.
 */
function sibling(all: Sequence, [from, to]: Range, spot: number, step: number) {
  const row = rowOf(spot);
  const lane = laneAt(all, sampleOf(spot));
  const [first, end] = row === 0 ? [0, all.count] : [lane.first, lane.end];
  let i = step > 0 ? to : from - 1;
  while (i >= first && i < end) {
    if (all.depth[i] >= row) return spotIn(all, i, row);
    i += step;
  }
  return spot;
}

function layout(all: Sequence, wanted: Wanted) {
  const { window, widthPx, rows: [first, last] } = wanted;
  const scale = widthPx / (window[1] - window[0]);
  for (const lane of all.lanes) {
    if (lane.top > last || lane.top + lane.rows <= first) continue;
    const rows = [first - lane.top, last - lane.top] as Range;
    const pending: Run[] = [[lane.first, lane.end, 0]];
    layoutLane(all, { ...wanted, rows, scale, least: MIN_PX / scale, lane, pending });
  }
}

function layoutLane(all: Sequence, sheet: Sheet) {
  const { rows, batch, lane, pending } = sheet;
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [start, end, row] = next;
    if (row >= rows[0]) {
      const [x, width] = place(sheet, extentOf(all, [start, end], row));
      batch.add(x, width, lane.top + row, nodeAt(all, start, row), start * ROWS + row);
    }
    if (row < rows[1]) divide(all, sheet, start, end, row + 1);
  }
}

/** Return the position and the width of an extent in pixels. */
const place = ({ window, scale }: Sheet, [from, until]: Range) =>
  [(from - window[0]) * scale, (until - from) * scale];

/**
 * Split a run into those of the row below it: wide ones become pending, narrow neighbours become one area.
 */
function divide(all: Sequence, sheet: Sheet, start: number, end: number, row: number) {
  const { window: [left, right], least, lane, pending } = sheet;
  const [first, following] = runAt(all, sampleAt(all, lane, left), row);
  // The last run before a gap can end before the window.
  let i = Math.max(start, all.until[following - 1] > left ? first : following);
  let narrow = -1;
  while (i < end && all.from[i] < right) {
    const next = Math.min(all.below.next(i, row), end);
    const isWide = all.until[next - 1] - all.from[i] >= least;
    // Neighbours of equal depth become one area, so that the outline of the omitted frames is visible.
    const isOther = isWide || all.depth[i] !== all.depth[narrow] || all.from[i] - all.until[i - 1] >= least;
    if (narrow >= 0 && isOther) {
      outline(all, sheet, narrow, i, row);
      narrow = -1;
    }
    if (isWide) {
      if (all.depth[i] >= row) pending.push([i, next, row]);
      i = next;
    } else {
      if (narrow < 0) narrow = i;
      // Runs that end before the next half pixel are as narrow: continue at that position.
      i = Math.min(end, Math.max(next, all.below.previous(sampleAt(all, lane, all.from[i] + least), row)));
    }
  }
  if (narrow >= 0) outline(all, sheet, narrow, i, row);
}

/**
 * Add an area for samples that are too narrow to distinguish, with their depth; it belongs to their caller.
 */
function outline(all: Sequence, sheet: Sheet, start: number, end: number, row: number) {
  const [from, until] = [all.from[start], all.until[end - 1]];
  if (until - from < sheet.least) return;
  const [first, last] = sheet.rows;
  const [x, width] = place(sheet, [from, until]);
  const [node, spot] = [nodeAt(all, start, row - 1), start * ROWS + row - 1];
  const deepest = Math.min(all.depth[start], last);
  const part = sheet.matched ? matchedPart(all, sheet.matched, start, end, row) : 0;
  for (let at = Math.max(row, first); at <= deepest; at++) {
    sheet.batch.addMany(x, width, sheet.lane.top + at, node, spot, part);
  }
}

/** Return the part of the weight of the samples from start to end that has a match in a row or below it. */
function matchedPart(all: Sequence, matched: Uint16Array, start: number, end: number, row: number) {
  let found = 0;
  const { weights, leaf } = all;
  for (let i = start; i < end; i++) if (matched[leaf[i]] >= row) found += weights[i + 1] - weights[i];
  return found / (weights[end] - weights[start]);
}

/** Return the last sample of a lane that begins at a position or before it, or the first one. */
function sampleAt(all: Sequence, lane: Lane, position: number) {
  let [low, high] = [lane.first, lane.end - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (all.from[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
