/* Call trees and function costs of the page's runs, computed on first use. */

import {
  foldStacks, outermostGroup, sumCosts, weighTree, type CallGroup, type CallTree, type FunctionCosts,
  type TreeShape,
} from "./call_tree.ts";
import { mergeByNumber, sumLines, weightByFile, type LineWeight } from "./line_weights.ts";
import { column, head, type Activity, type ThreadChoice } from "./page_data.ts";

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

/** Lines with weight, alone and by file and number, and the weights of files. */
interface TreeLines {
  lines: LineWeight[];
  byFile: Map<string, Map<number, LineWeight>>;
  files: Map<string, number>;
}

const known: WeakMap<CallTree, TreeLines> = new WeakMap();

/** Return whether any run of the page has lines. */
export const hasLines = () => head.runs.some((_, run) => column(`r${run}.lines.line`).length > 0);

/** Return whether a function is the user's own. */
export const isUsers = (fn: number) => head.packages[head.functions.package[fn]]?.kind === "user";

/** Return the lines with weight in a tree, alone and by file, and the weight of each file. */
export function linesOf(tree: CallTree) {
  const found = known.get(tree) ?? findLines(tree);
  known.set(tree, found);
  return found;
}

function findLines(tree: CallTree): TreeLines {
  const read = (name: string) => column(`r${tree.run}.lines.${name}`);
  const lines = sumLines({
    fn: read("function"), line: read("line"), thread: read("thread"), self: read("self"),
    total: read("total"), waiting: read("waiting"), waitingTotal: read("waiting_total"),
  }, tree.thread, tree.activity);
  const grouped: Map<string, LineWeight[]> = new Map();
  for (const each of lines) {
    const file = head.functions.file[each.fn];
    const group = grouped.get(file) ?? [];
    grouped.set(file, group);
    group.push(each);
  }
  const byFile = new Map([...grouped].map(([file, group]) => [file, mergeByNumber(group)]));
  return { lines, byFile, files: weightByFile(tree, head.functions.file, isUsers) };
}
