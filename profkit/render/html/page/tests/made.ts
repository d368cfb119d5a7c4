/* Random numbers, stacks and call trees for property tests, reproducible by seed. */

import { foldStacks, weighTree, type CallTree } from "../scripts/data/call_tree.ts";
import type { Activity, Range } from "../scripts/data/page_data.ts";
import { chronological } from "../scripts/graph/chronological.ts";
import { FrameBatch } from "../scripts/graph/frame_batch.ts";
import { rowsOf } from "../scripts/graph/rows.ts";
import { sequenceOf } from "../scripts/graph/sequence.ts";
import type { GraphView } from "../scripts/graph/views.ts";

export type Random = ReturnType<typeof randomOf>;
export type Sample = { stack: number[], thread: number, weight: number, waiting?: number, at?: number };

/** Return a source of random numbers (mulberry32). */
function randomOf(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    /** Return a whole number from 0 to `most`. */
    upTo: (most: number) => Math.floor(next() * (most + 1)),
    /** Return a number between 10 ** low and 10 ** high. */
    power: (low: number, high: number) => 10 ** (low + next() * (high - low)),
  };
}

/** Call a check with a random source for each of many seeds; a failure names its seed. */
export function forSeeds(check: (random: Random) => void, count = 60) {
  for (let seed = 1; seed <= count; seed++) {
    try {
      check(randomOf(seed));
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
}

export const FUNCTIONS = 7;
export const THREADS = 2;

/** Return random samples with few functions, so that stacks recurse and share frames. */
export function randomSamples(random: Random, most = 40, deepest = 6): Sample[] {
  return Array.from({ length: 1 + random.upTo(most) }, () => ({
    stack: Array.from({ length: 1 + random.upTo(deepest - 1) }, () => random.upTo(FUNCTIONS - 1)),
    thread: random.upTo(THREADS - 1),
    weight: 1 + random.upTo(9),
    waiting: random.upTo(1),
  }));
}

/** Compare stacks lexicographically. */
function compareStacks(a: number[], b: number[]) {
  const at = a.findIndex((fn, i) => fn !== b[i]);
  return at < 0 ? a.length - b.length : a[at] - (b[at] ?? -1);
}

/** Return samples as the columns of a page. */
export function columnsOf(samples: Sample[]) {
  const texts = new Map(samples.map(({ stack }) => [stack.join(), stack]));
  const sorted = [...texts.values()].sort(compareStacks);
  const place = new Map(sorted.map((stack, i) => [stack.join(), i]));
  const placeOf = ({ stack }: Sample) => place.get(stack.join()) as number;
  const shared = sorted.map((stack, i) => {
    const before = sorted[i - 1] ?? [];
    const at = stack.findIndex((fn, depth) => fn !== before[depth]);
    return at < 0 ? stack.length : at;
  });
  const byThread = Array.from(
    { length: THREADS }, (_, thread) => samples.filter((each) => each.thread === thread));
  const ordered = byThread.flat();
  return {
    stacks: {
      shared: Uint16Array.from(shared),
      length: Uint16Array.from(sorted, (stack) => stack.length),
      frames: Uint16Array.from(sorted.flatMap((stack, i) => stack.slice(shared[i]))),
    },
    pairs: {
      stack: Uint32Array.from(samples, placeOf),
      thread: Uint16Array.from(samples, ({ thread }) => thread),
      weight: Uint32Array.from(samples, ({ weight }) => weight),
      waiting: Uint32Array.from(samples, ({ waiting }) => waiting ?? 0),
    },
    order: {
      stack: Uint32Array.from(ordered, placeOf),
      weight: Uint32Array.from(ordered, ({ weight }) => weight),
      waiting: Uint32Array.from(ordered, ({ waiting }) => waiting ?? 0),
      at: Float64Array.from(ordered.flatMap(({ at }) => at ?? [])),
      start: Uint32Array.from([0, ...byThread.map((_, i) => byThread.slice(0, i + 1).flat().length)]),
    },
  };
}

/** Return the call tree of samples for one thread or all, and an activity. */
export function treeOf(samples: Sample[], thread: number | "all" = "all", activity: Activity = "all") {
  const { stacks, pairs } = columnsOf(samples);
  return weighTree(foldStacks(stacks), pairs, 0, thread, activity);
}

/** Return the rows of a tree, one for each call. */
export const plainRows = (tree: CallTree) => rowsOf(tree, { isFolded: () => false, isTopMerged: false });

/** Return the sum of numbers. */
export const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);

/** A width at which no frame of the samples is too narrow. */
export const WIDE = 100_000;

/** Return the frames that a view lays out, row by row. */
export function framesOf(
  view: GraphView, window: Range = [0, view.total], widthPx: number = WIDE,
  { rows = [0, view.height - 1], matches = null }: { rows?: Range, matches?: Uint8Array | null } = {},
) {
  const batch = new FrameBatch();
  view.layout(window, widthPx, rows, batch, matches);
  const frames = Array.from({ length: batch.count }, (_, i) => ({
    x: batch.x[i], width: batch.width[i], depth: batch.depth[i], node: batch.node[i], spot: batch.spot[i],
    small: batch.small[i],
  }));
  return frames.sort((a, b) => a.depth - b.depth || a.x - b.x);
}

/** Return the chronological view of samples in a tree; their starts are known if they have `at`. */
export function chronologicalOf(samples: Sample[], tree: CallTree, rows = plainRows(tree)) {
  const { order, stacks } = columnsOf(samples);
  return chronological(sequenceOf(tree, rows, order, stacks));
}
