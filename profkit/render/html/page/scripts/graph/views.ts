/* Views of the graph for the state of the page. */

import { childrenOf } from "../data/call_tree.ts";
import { column, head } from "../data/page_data.ts";
import { currentTree, state } from "../state/state.ts";
import { rootName } from "../text/run_text.ts";
import { chronological } from "./chronological.ts";
import { allNative, isDifference } from "./function_colors.ts";
import { leftHeavy } from "./left_heavy.ts";
import { rowsOf } from "./rows.ts";
import { hasLanes, sequenceOf } from "./sequence.ts";
import type { CallTree, GraphView, State } from "../types.ts";

/** The last views of each tree; sequences of samples take long to build. */
const views: WeakMap<CallTree, Map<string, GraphView>> = new WeakMap();
const FOLDED_KINDS = new Set(allNative ? ["library"] : ["library", "native"]);

/** Whether chains of library calls can be folded; colours of differences are those of single functions. */
export const canFold = !isDifference && head.packages.some(({ kind }) => FOLDED_KINDS.has(kind));

/** Return the view for the run, thread, activity, view and folding in the state. */
export function currentView() {
  const tree = currentTree();
  const known = views.get(tree) ?? new Map();
  views.set(tree, known);
  const key = `${state.view} ${state.chains}`;
  const view = known.get(key) ?? viewOf(tree, state);
  known.set(key, view);
  return view;
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
