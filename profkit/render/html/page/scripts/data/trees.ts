/* Call trees and function costs of the page's runs, computed on first use. */

import { foldStacks, outermostGroup, sumCosts, weighTree } from "./call_tree.ts";
import { column, head } from "./page_data.ts";
import type { Activity, ThreadChoice } from "./head.ts";
import type { CallGroup, CallTree, FunctionCosts, TreeShape } from "../types.ts";

/** Maximum number of cached trees: they can be large, and there can be many threads. */
const MAX_TREES = 6;

const shapes: Map<number, TreeShape> = new Map();
const trees: Map<string, CallTree> = new Map();
const costs: WeakMap<CallTree, FunctionCosts> = new WeakMap();

/** Return the nodes that the threads of a run share. */
export function shapeOf(run: number) {
  const known = shapes.get(run);
  if (known) return known;
  const read = (name: string) => column(`r${run}.${name}`);
  const shape = foldStacks({ shared: read("shared"), length: read("length"), frames: read("frames") });
  shapes.set(run, shape);
  return shape;
}

/** Return the call tree of a run, a thread and an activity. */
export function treeOf(run: number, thread: ThreadChoice = "all", activity: Activity = "all") {
  const key = `${run}/${thread}/${activity}`;
  const tree = trees.get(key) ?? weigh(run, thread, activity);
  // Maps keep the order of insertion: the first key is the least recently used tree.
  trees.delete(key);
  if (trees.size === MAX_TREES) trees.delete([...trees.keys()][0]);
  trees.set(key, tree);
  return tree;
}

function weigh(run: number, thread: ThreadChoice, activity: Activity) {
  const read = (name: string) => column(`r${run}.pair.${name}`);
  const pairs = {
    stack: read("stack"), thread: read("thread"), weight: read("weight"), waiting: read("waiting"),
  };
  return weighTree(shapeOf(run), pairs, run, thread, activity);
}

/** Return the costs of all functions in a tree. */
export function costsOf(tree: CallTree) {
  const known = costs.get(tree);
  if (known) return known;
  const found = sumCosts(tree, head.functions.name.length, statedTotals(tree));
  costs.set(tree, found);
  return found;
}

/** Return the outermost nodes of a function in a tree. */
export function groupOf(tree: CallTree, fn: number): CallGroup {
  const { groups } = costsOf(tree);
  const group = groups.get(fn) ?? outermostGroup(tree, fn);
  groups.set(fn, group);
  return group;
}

/** Return whether a file states the totals of functions, so that they are not sums over stacks. */
export const hasStatedTotals = (tree: CallTree) => statedTotals(tree).functions.length > 0;

/**
 * Return stated totals of all threads, or of one thread, such as a side of a comparison. There are none of a
 * part of the samples.
 */
function statedTotals({ run, thread, activity }: CallTree) {
  if (activity !== "all") return { functions: [], totals: [] };
  const whole = thread === "all" || head.runs[run].threads.length === 1;
  const prefix = whole ? `r${run}.totals` : `r${run}.${thread}.totals`;
  return { functions: column(`${prefix}.function`), totals: column(`${prefix}.weight`) };
}
