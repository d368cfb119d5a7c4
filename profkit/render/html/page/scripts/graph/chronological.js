/*
 * The chronological view: samples in the order in which they were taken, thread after thread. A frame is a
 * run of samples with the same stack down to its row; a spot is its first sample and its row as one number.
 * Frames are not stored: runs are found when they are drawn, so the cost depends on the visible window
 * only.
 */

import { activeWeight } from "../data/call_tree.js";
import { deepestMatches } from "./matches.js";
import { nearestSmaller, rangeMinimum } from "./range_minima.js";

/** @import { CallTree, FrameSink, GraphView, NumberColumn, Range } from "../types.js" */
/** @typedef {ReturnType<typeof sequenceOf>} Sequence */
/**
 * Samples in order: stacks, weights and their waiting parts, and the first sample of each thread.
 * @typedef {object} Order
 * @property {NumberColumn} stack
 * @property {NumberColumn} weight
 * @property {NumberColumn} waiting
 * @property {NumberColumn} start
 */
/**
 * Window, width, rows and matches that `layout` draws.
 * @typedef {object} Wanted
 * @property {Range} window
 * @property {number} widthPx
 * @property {Range} rows
 * @property {FrameSink} batch
 * @property {Uint16Array | null} matched
 */
/** @typedef {[start: number, end: number, row: number]} Run of samples in a row */
/** @typedef {Wanted & { scale: number, least: number, pending: Run[] }} Sheet */

const MIN_PX = 0.5;
const ROWS = 65536;

/**
 * Return the view of a sequence of samples.
 * @param {Sequence} all
 * @returns {GraphView}
 */
export function chronological(all) {
  const run = (/** @type {number} */ spot) => runAt(all, Math.floor(spot / ROWS), spot % ROWS);
  return {
    tree: all.tree,
    total: all.at[all.count],
    node: (spot) => nodeAt(all, Math.floor(spot / ROWS), spot % ROWS),
    spotOf: (node) => spotOf(all, node),
    extent: (spot) => { const [a, b] = run(spot); return [all.at[a], all.at[b]]; },
    parent: (spot) => spotIn(all, Math.floor(spot / ROWS), Math.max(0, (spot % ROWS) - 1)),
    child: (spot) => child(all, run(spot), spot),
    sibling: (spot, step) => sibling(all, run(spot), spot, step),
    weight: (spot) => { const [a, b] = run(spot); return all.at[b] - all.at[a]; },
    marks: () => (all.marks.length > 1 ? all.marks : []),
    origins: () => all.marks.map(({ at }) => at),
    layout: (window, widthPx, rows, batch, matches) => {
      layout(all, { window, widthPx, rows, batch, matched: deepestMatches(all.tree, matches) });
    },
  };
}

/**
 * Return the samples of the tree's thread and activity, or of all threads in sequence; `stacks` are the
 * front-coded stacks of the run.
 * @param {CallTree} tree
 * @param {Order} order
 * @param {{ length: NumberColumn, shared: NumberColumn }} stacks
 */
export function sequenceOf(tree, order, { length, shared }) {
  const { kept, starts } = keptSamples(tree, order);
  const count = kept.length;
  const [at, common, depth] = [new Float64Array(count + 1), new Uint16Array(count), new Uint16Array(count)];
  const minimum = rangeMinimum(shared);
  const firsts = new Set(starts.values());
  for (let i = 0; i < count; i++) {
    const stack = order.stack[kept[i]];
    at[i + 1] = at[i] + activeWeight(order, kept[i], tree.activity);
    depth[i] = length[stack];
    // Two sorted stacks share the frames that all stacks between them share.
    if (!firsts.has(i)) {
      const before = order.stack[kept[i - 1]];
      const [low, high] = before < stack ? [before, stack] : [stack, before];
      common[i] = low === high ? depth[i] : minimum(low + 1, high + 1);
    }
  }
  const marks = [...starts].map(([thread, first]) => ({ thread, at: at[first] }));
  const leaf = (/** @type {number} */ i) => tree.leaf[order.stack[kept[i]]];
  return { tree, count, at, depth, marks, leaf, below: nearestSmaller(common) };
}

/**
 * Return the indexes of the samples with weight in the tree's thread and activity, and the place of the first
 * one of each thread.
 * @param {CallTree} tree
 * @param {Order} order
 */
function keptSamples({ thread, activity }, order) {
  const last = order.start.length - 1;
  const [first, end] = thread === "all" ? [0, last] : [thread, thread + 1];
  const kept = new Uint32Array(last > 0 ? order.start[end] - order.start[first] : 0);
  /** @type {Map<number, number>} */
  const starts = new Map();
  let count = 0;
  for (let at = first; at < Math.min(end, last); at++) {
    for (let sample = order.start[at]; sample < order.start[at + 1]; sample++) {
      if (activity !== "all" && activeWeight(order, sample, activity) === 0) continue;
      if (!starts.has(at)) starts.set(at, count);
      kept[count++] = sample;
    }
  }
  return { kept: kept.subarray(0, count), starts };
}

/**
 * Return the node of a sample's stack in a row.
 * @param {Sequence} all
 * @param {number} sample
 * @param {number} row
 */
function nodeAt(all, sample, row) {
  let node = all.leaf(sample);
  while (all.tree.depth[node] > row) node = all.tree.parent[node];
  return node;
}

/**
 * Return the first sample and the end of the run to which a sample belongs in a row. The root's run has all
 * samples.
 * @param {Sequence} all
 * @param {number} sample
 * @param {number} row
 * @returns {Range}
 */
function runAt(all, sample, row) {
  return row === 0 ? [0, all.count] : [all.below.previous(sample, row), all.below.next(sample, row)];
}

/**
 * @param {Sequence} all
 * @param {number} sample
 * @param {number} row
 */
const spotIn = (all, sample, row) => runAt(all, sample, row)[0] * ROWS + row;

/**
 * @param {Sequence} all
 * @param {number} node
 */
function spotOf(all, node) {
  for (let i = 0; node > 0 && i < all.count; i++) {
    const leaf = all.leaf(i);
    if (leaf >= node && leaf < all.tree.end[node]) return i * ROWS + all.tree.depth[node];
  }
  return 0;
}

/**
 * @param {Sequence} all
 * @param {Range} range
 * @param {number} spot
 */
function child(all, [from, to], spot) {
  const row = (spot % ROWS) + 1;
  for (let i = from; i < to; i = all.below.next(i, row)) if (all.depth[i] >= row) return i * ROWS + row;
  return spot;
}

/**
 * Return the previous or next run, below the same caller or another one.
 * @param {Sequence} all
 * @param {Range} range
 * @param {number} spot
 * @param {number} step
 */
function sibling(all, [from, to], spot, step) {
  const row = spot % ROWS;
  let i = step > 0 ? to : from - 1;
  while (i >= 0 && i < all.count) {
    if (all.depth[i] >= row) return spotIn(all, i, row);
    i += step;
  }
  return spot;
}

/**
 * @param {Sequence} all
 * @param {Wanted} wanted
 */
function layout(all, wanted) {
  const { window, widthPx, rows, batch } = wanted;
  const scale = widthPx / (window[1] - window[0]);
  /** @type {Sheet} */
  const sheet = { ...wanted, scale, least: MIN_PX / scale, pending: [[0, all.count, 0]] };
  for (let next = sheet.pending.pop(); next; next = sheet.pending.pop()) {
    const [start, end, row] = next;
    if (row >= rows[0]) {
      const [x, width] = place(all, sheet, start, end);
      batch.add(x, width, row, nodeAt(all, start, row), start * ROWS + row);
    }
    if (row < rows[1]) divide(all, sheet, start, end, row + 1);
  }
}

/**
 * @param {Sequence} all
 * @param {Sheet} sheet
 * @param {number} start
 * @param {number} end
 */
function place(all, { window, scale }, start, end) {
  return [(all.at[start] - window[0]) * scale, (all.at[end] - all.at[start]) * scale];
}

/**
 * Split a run into those of the row below it: wide ones become pending, narrow neighbours become one area.
 * @param {Sequence} all
 * @param {Sheet} sheet
 * @param {number} start
 * @param {number} end
 * @param {number} row
 */
function divide(all, sheet, start, end, row) {
  const { window: [from, to], least, pending } = sheet;
  let i = Math.max(start, runAt(all, sampleAt(all, from), row)[0]);
  let narrow = -1;
  while (i < end && all.at[i] < to) {
    const next = Math.min(all.below.next(i, row), end);
    const isWide = all.at[next] - all.at[i] >= least;
    // Neighbours of equal depth become one area, so that the outline of the omitted frames is visible.
    if (narrow >= 0 && (isWide || all.depth[i] !== all.depth[narrow])) {
      outline(all, sheet, narrow, i, row);
      narrow = -1;
    }
    if (isWide) {
      if (all.depth[i] >= row) pending.push([i, next, row]);
      i = next;
    } else {
      if (narrow < 0) narrow = i;
      // Runs that end before the next half pixel are as narrow: continue at that position.
      i = Math.min(end, Math.max(next, all.below.previous(sampleAt(all, all.at[i] + least), row)));
    }
  }
  if (narrow >= 0) outline(all, sheet, narrow, i, row);
}

/**
 * Add an area for samples that are too narrow to distinguish, with their depth; it belongs to their caller.
 * @param {Sequence} all
 * @param {Sheet} sheet
 * @param {number} start
 * @param {number} end
 * @param {number} row
 */
function outline(all, sheet, start, end, row) {
  if (all.at[end] - all.at[start] < sheet.least) return;
  const [first, last] = sheet.rows;
  const [x, width] = place(all, sheet, start, end);
  const [node, spot] = [nodeAt(all, start, row - 1), start * ROWS + row - 1];
  const deepest = Math.min(all.depth[start], last);
  const part = sheet.matched ? matchedPart(all, sheet.matched, start, end, row) : 0;
  for (let at = Math.max(row, first); at <= deepest; at++) {
    sheet.batch.addMany(x, width, at, node, spot, part);
  }
}

/**
 * Return the part of the weight of the samples from start to end that has a match in a row or below it.
 * @param {Sequence} all
 * @param {Uint16Array} matched
 * @param {number} start
 * @param {number} end
 * @param {number} row
 */
function matchedPart(all, matched, start, end, row) {
  let found = 0;
  for (let i = start; i < end; i++) if (matched[all.leaf(i)] >= row) found += all.at[i + 1] - all.at[i];
  return found / (all.at[end] - all.at[start]);
}

/**
 * Return the sample at a position.
 * @param {Sequence} all
 * @param {number} position
 */
function sampleAt(all, position) {
  let [low, high] = [0, all.count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (all.at[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
