/* Views of the graph for the state of the page. */

import { childrenOf, type CallTree } from "../data/call_tree.ts";
import { column, head, type Range } from "../data/page_data.ts";
import { cached } from "../data/trees.ts";
import { currentTree, state, type State } from "../state/state.ts";
import { formatShare, nodeName, packageOf, rootName } from "../text/run_text.ts";
import { chronological } from "./chronological.ts";
import type { FrameBatch } from "./frame_batch.ts";
import { allNative, isDifference } from "./function_colors.ts";
import { leftHeavy } from "./left_heavy.ts";
import { nodesOfBox, rowsOf, type Rows } from "./rows.ts";
import { hasLanes, sequenceOf } from "./sequence.ts";

/** Rows of a graph from `top` on. */
export interface Lane {
  top: number;
  rows: number;
}

/**
 * A layout of a tree along the weights, or the time, from 0 to `total`. A spot is a view-specific number of
 * a box, and the node of a box is its first one.
 */
export interface GraphView {
  tree: CallTree;
  rows: Rows;
  total: number;
  /** The number of rows. */
  height: number;
  /** The spot of the topmost box. */
  top: number;
  /** The row of a spot. */
  row(spot: number): number;
  /** The rows of the lane that has a row: callers are below in each lane of a flame graph. */
  lane(row: number): Lane;
  /** The thread whose lane has a spot; null without lanes. The title of a lane has the node 0. */
  thread(spot: number): number | null;
  node(spot: number): number;
  spotOf(node: number): number;
  extent(spot: number): Range;
  parent(spot: number): number;
  child(spot: number): number;
  sibling(spot: number, step: number): number;
  weight(spot: number): number;
  /** The start of each thread. */
  marks(): { thread: number; at: number }[];
  /** The zero points of the scale. */
  origins(window: Range): number[];
  /** Fill a batch with the visible frames of a window in a range of rows. */
  layout(window: Range, widthPx: number, rows: Range, batch: FrameBatch, matches: Uint8Array | null): void;
}

/** The last views of each tree; sequences of samples take long to build. */
const views = new WeakMap<CallTree, Map<string, GraphView>>();
const FOLDED_KINDS = new Set(allNative ? ["library"] : ["library", "native"]);

/** Whether chains of library calls can be folded; colours of differences are those of single functions. */
export const canFold = !isDifference && head.packages.some(({ kind }) => FOLDED_KINDS.has(kind));

/** Return the view for the run, thread, activity, view and folding in the state. */
export function currentView() {
  const tree = currentTree();
  const known = cached(views, tree, () => new Map());
  return cached(known, `${state.view} ${state.chains}`, () => viewOf(tree, state));
}

function viewOf(tree: CallTree, { view, chains }: Readonly<State>) {
  const isFolded = canFold && chains === "folded" ? isLibrary : () => false;
  const isTopMerged = repeatsRoot(tree);
  if (view !== "chronological") return leftHeavy(tree, rowsOf(tree, { isFolded, isTopMerged }));
  const read = (name: string) => column(`r${tree.run}.${name}`);
  const order = {
    stack: read("order.stack"), weight: read("order.weight"), waiting: read("order.waiting"),
    start: read("order.start"), at: read("order.at"),
  };
  // In lanes, the top row has the names of threads.
  const rows = rowsOf(tree, { isFolded, isTopMerged: isTopMerged && !hasLanes(tree, order) });
  return chronological(sequenceOf(tree, rows, order, { length: read("length"), shared: read("shared") }));
}

const isLibrary = (fn: number) => FOLDED_KINDS.has(head.packages[head.functions.package[fn]].kind);

/**
 * Return whether the root has one callee with its whole weight and its name, as the function of a region has.
 */
function repeatsRoot(tree: CallTree) {
  const [only, ...others] = childrenOf(tree, 0);
  if (only === undefined || others.length > 0 || tree.self[0] > 0) return false;
  return head.functions.name[tree.fn[only]] === rootName(tree);
}

/** Return the name of the box at a spot. */
export function boxName(view: GraphView, spot: number) {
  const { tree, rows } = view;
  const thread = view.thread(spot);
  if (thread !== null && view.node(spot) === 0) {
    return `${head.runs[tree.run].threads[thread].name} · ${formatShare(view.weight(spot) / tree.total[0])}`;
  }
  const nodes = nodesOfBox(rows, view.node(spot));
  const [first, last] = [nodes[0], nodes[nodes.length - 1]].map((node) => nodeName(tree, node));
  if (nodes.length === 1) return first;
  const packages = [...new Set(nodes.map((node) => packageOf(tree.fn[node])))];
  const where = packages.length > 2 ? `${packages.length} packages` : packages.join(", ");
  return `${first} … ${last} (${nodes.length} in ${where})`;
}
