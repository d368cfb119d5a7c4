/* Call trees and function costs of the page's runs, computed on first use. */

import {
  foldStacks, outermostGroup, sumCosts, weighTree, type CallGroup, type CallTree, type FunctionCosts,
  type TreeShape,
} from "./call_tree.ts";
import { mergeByNumber, sumLines, weightByFile, type LineWeight } from "./line_weights.ts";
import { column, head, type Activity, type ThreadChoice } from "./page_data.ts";

/** Maximum number of cached trees: they can be large, and there can be many threads. */
const MAX_TREES = 6;

const shapes = new Map<number, TreeShape>();
const trees = new Map<string, CallTree>();
const costs = new WeakMap<CallTree, FunctionCosts>();

/** Return the value of a key, which is made on first use. */
export function cached<Key, Value>(
  known: Pick<Map<Key, Value>, "get"> & { set(key: Key, value: Value): unknown }, key: Key, make: () => Value,
) {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** Return the nodes that the threads of a run share. */
export const shapeOf = (run: number) => cached(shapes, run, () => {
  const read = (name: string) => column(`r${run}.${name}`);
  return foldStacks({ shared: read("shared"), length: read("length"), frames: read("frames") });
});

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
export const costsOf = (tree: CallTree) =>
  cached(costs, tree, () => sumCosts(tree, head.functions.name.length, statedTotals(tree)));

/** Return the outermost nodes of a function in a tree. */
export const groupOf = (tree: CallTree, fn: number): CallGroup =>
  cached(costsOf(tree).groups, fn, () => outermostGroup(tree, fn));

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

const treeLines = new WeakMap<CallTree, TreeLines>();

/** Return whether any run of the page has lines. */
export const hasLines = () => head.runs.some((_, run) => column(`r${run}.lines.line`).length > 0);

/** Return whether a function is the user's own. */
export const isUsers = (fn: number) => head.packages[head.functions.package[fn]]?.kind === "user";

/** Return the lines with weight in a tree, alone and by file, and the weight of each file. */
export const linesOf = (tree: CallTree) => cached(treeLines, tree, () => findLines(tree));

function findLines(tree: CallTree): TreeLines {
  const read = (name: string) => column(`r${tree.run}.lines.${name}`);
  const lines = sumLines({
    fn: read("function"), line: read("line"), thread: read("thread"), self: read("self"),
    total: read("total"), waiting: read("waiting"), waitingTotal: read("waiting_total"),
  }, tree.thread, tree.activity);
  const grouped = Map.groupBy(lines, ({ fn }) => head.functions.file[fn]);
  const byFile = new Map([...grouped].map(([file, group]) => [file, mergeByNumber(group)]));
  return { lines, byFile, files: weightByFile(tree, head.functions.file, isUsers) };
}
