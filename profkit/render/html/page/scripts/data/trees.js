/* Call trees and function costs of the page's runs, computed on first use. */

import { foldStacks, outermostGroup, sumCosts, weighTree } from "./call_tree.js";
import { column, head } from "./page_data.js";

/** @import { Activity, CallGroup, CallTree, FunctionCosts, ThreadChoice, TreeShape } from "../types.js" */

/** Maximum number of cached trees: they can be large, and there can be many threads. */
const MAX_TREES = 6;

/** @type {Map<number, TreeShape>} */
const shapes = new Map();
/** @type {Map<string, CallTree>} */
const trees = new Map();
/** @type {WeakMap<CallTree, FunctionCosts>} */
const costs = new WeakMap();

/**
 * Return the nodes that the threads of a run share.
 * @param {number} run
 */
export function shapeOf(run) {
  const known = shapes.get(run);
  if (known) return known;
  const read = (/** @type {string} */ name) => column(`r${run}.${name}`);
  const shape = foldStacks({ shared: read("shared"), length: read("length"), frames: read("frames") });
  shapes.set(run, shape);
  return shape;
}

/**
 * Return the call tree of a run, a thread and an activity.
 * @param {number} run
 * @param {ThreadChoice} thread
 * @param {Activity} activity
 */
export function treeOf(run, thread = "all", activity = "all") {
  const key = `${run}/${thread}/${activity}`;
  const tree = trees.get(key) ?? weigh(run, thread, activity);
  // Maps keep the order of insertion: the first key is the least recently used tree.
  trees.delete(key);
  if (trees.size === MAX_TREES) trees.delete([...trees.keys()][0]);
  trees.set(key, tree);
  return tree;
}

/**
 * @param {number} run
 * @param {ThreadChoice} thread
 * @param {Activity} activity
 */
function weigh(run, thread, activity) {
  const read = (/** @type {string} */ name) => column(`r${run}.pair.${name}`);
  const pairs = {
    stack: read("stack"), thread: read("thread"), weight: read("weight"), waiting: read("waiting"),
  };
  return weighTree(shapeOf(run), pairs, run, thread, activity);
}

/**
 * Return the costs of all functions in a tree.
 * @param {CallTree} tree
 */
export function costsOf(tree) {
  const known = costs.get(tree);
  if (known) return known;
  const found = sumCosts(tree, head.functions.name.length, statedTotals(tree));
  costs.set(tree, found);
  return found;
}

/**
 * Return the outermost nodes of a function in a tree.
 * @param {CallTree} tree
 * @param {number} fn
 * @returns {CallGroup}
 */
export function groupOf(tree, fn) {
  const { groups } = costsOf(tree);
  const group = groups.get(fn) ?? outermostGroup(tree, fn);
  groups.set(fn, group);
  return group;
}

/**
 * Return whether a file states the totals of functions, so that they are not sums over stacks.
 * @param {CallTree} tree
 */
export const hasStatedTotals = (tree) => statedTotals(tree).functions.length > 0;

/**
 * Return stated totals of all threads, or of one thread, such as a side of a comparison. There are none of a
 * part of the samples.
 * @param {CallTree} tree
 */
function statedTotals({ run, thread, activity }) {
  if (activity !== "all") return { functions: [], totals: [] };
  const whole = thread === "all" || head.runs[run].threads.length === 1;
  const prefix = whole ? `r${run}.totals` : `r${run}.${thread}.totals`;
  return { functions: column(`${prefix}.function`), totals: column(`${prefix}.weight`) };
}
