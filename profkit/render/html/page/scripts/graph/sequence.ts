/*
 * Samples in the order in which they were taken, for the chronological view. If their times are known, each
 * thread has a lane of its own on a common axis. Otherwise one lane has all threads, one after the other.
 */

import { activeWeight, type CallTree } from "../data/call_tree.ts";
import type { NumberColumn } from "../data/page_data.ts";
import { nearestSmaller, rangeMinimum } from "./range_minima.ts";
import type { Rows } from "./rows.ts";

export type Sequence = ReturnType<typeof sequenceOf>;
/**
 * Samples in order: stacks, weights and their waiting parts, the first sample of each thread, and the times
 * at which samples begin, in the unit of weights; none if they are unknown.
 */
interface Order {
  stack: NumberColumn;
  weight: NumberColumn;
  waiting: NumberColumn;
  start: NumberColumn;
  at: NumberColumn;
}
/** The first sample of a thread. */
type Start = { thread: number, first: number };
/** Samples from `first` to `end - 1` in the rows from `top` on; `thread` is null if it has several. */
export type Lane = { thread: number | null, first: number, end: number, top: number, rows: number };

/** Return whether the view has lanes: if times are known, and there are several threads to compare. */
export const hasLanes = (tree: CallTree, order: Order) =>
  order.at.length > 0 && tree.thread === "all" && keptSamples(tree, order).starts.length > 1;

/**
 * Return the samples of the tree's thread and activity, or of all threads; `stacks` are the front-coded
 * stacks of the run.
 */
export function sequenceOf(
  tree: CallTree, rows: Rows, order: Order, stacks: { length: NumberColumn, shared: NumberColumn },
) {
  const { kept, starts } = keptSamples(tree, order);
  const weights = weightsOf(tree, order, kept);
  const isTimed = hasLanes(tree, order);
  const from = isTimed ? Float64Array.from(kept, (sample) => order.at[sample]) : weights;
  const until = Float64Array.from(kept, (_, i) => from[i] + weights[i + 1] - weights[i]);
  const leaf = Uint32Array.from(kept, (sample) => tree.leaf[order.stack[sample]]);
  const depth = Uint16Array.from(leaf, (node) => rows.row[node]);
  const stackOf = (i: number) => order.stack[kept[i]];
  const common = sharedRows(depth, stackOf, sharedByStack(tree, rows, stacks));
  for (const { first } of starts) common[first] = 0;
  if (isTimed) for (let i = 1; i < kept.length; i++) if (from[i] > until[i - 1]) common[i] = 0;
  return {
    tree, rows, from, until, depth, leaf, weights, count: kept.length, below: nearestSmaller(common),
    total: isTimed ? until.reduce((a, b) => Math.max(a, b), 0) : weights[kept.length],
    lanes: lanesOf(isTimed ? starts : [], depth),
    marks: isTimed ? [] : starts.map(({ thread, first }) => ({ thread, at: from[first] })),
  };
}

/**
 * Return the indexes of the samples with weight in the tree's thread and activity, and the place of the first
 * one of each thread.
 */
function keptSamples({ thread, activity }: CallTree, order: Order) {
  const last = order.start.length - 1;
  const [first, end] = thread === "all" ? [0, last] : [thread, thread + 1];
  const kept = new Uint32Array(last > 0 ? order.start[end] - order.start[first] : 0);
  const starts: Start[] = [];
  let count = 0;
  for (let at = first; at < Math.min(end, last); at++) {
    for (let sample = order.start[at]; sample < order.start[at + 1]; sample++) {
      if (activity !== "all" && activeWeight(order, sample, activity) === 0) continue;
      if (starts.at(-1)?.thread !== at) starts.push({ thread: at, first: count });
      kept[count++] = sample;
    }
  }
  return { kept: kept.subarray(0, count), starts };
}

/** Return the weight before each sample, and at last the weight of all. */
function weightsOf({ activity }: CallTree, order: Order, kept: Uint32Array) {
  const weights = new Float64Array(kept.length + 1);
  for (let i = 0; i < kept.length; i++) weights[i + 1] = weights[i] + activeWeight(order, kept[i], activity);
  return weights;
}

/** Return the last row that each stack shares with the one before it, in the order of stacks. */
function sharedByStack(
  tree: CallTree, { row, head }: Rows, { length, shared }: { length: NumberColumn, shared: NumberColumn },
) {
  const found = new Uint16Array(length.length);
  let first = 1;
  for (let stack = 0; stack < found.length; stack++) {
    const added = length[stack] - shared[stack];
    // Nodes are numbered in the order of stacks: the first new one is below the last shared one.
    const node = added > 0 ? tree.parent[first] : tree.leaf[stack];
    found[stack] = row[head[node]];
    first += added;
  }
  return found;
}

/**
 * Return the last row that each sample shares with the one before it.
 * @param shared by stack
 */
function sharedRows(depth: Uint16Array, stackOf: (sample: number) => number, shared: Uint16Array) {
  const common = new Uint16Array(depth.length);
  const minimum = rangeMinimum(shared);
  for (let i = 1; i < depth.length; i++) {
    const [before, stack] = [stackOf(i - 1), stackOf(i)];
    const [low, high] = before < stack ? [before, stack] : [stack, before];
    // Two sorted stacks share the rows that all stacks between them share.
    common[i] = low === high ? depth[i] : minimum(low + 1, high + 1);
  }
  return common;
}

/** Return the lanes of threads, each as high as its deepest stack; without threads, one for all samples. */
function lanesOf(starts: Start[], depth: Uint16Array): Lane[] {
  const all = starts.length > 0 ? starts : [{ thread: null, first: 0 }];
  let top = 0;
  return all.map(({ thread, first }, i) => {
    const end = all[i + 1]?.first ?? depth.length;
    const rows = 1 + depth.subarray(first, end).reduce((a, b) => Math.max(a, b), 0);
    top += rows;
    return { thread, first, end, top: top - rows, rows };
  });
}
