/*
 * Call trees as arrays in preorder, and the costs of their functions. A recursive function counts once per
 * stack.
 */

import type { Activity, NumberColumn, ThreadChoice } from "./page_data.ts";

/**
 * Nodes of a call tree by index, in preorder. Node 0 is the root; the nodes below n are n + 1 … end[n] - 1.
 * All threads of a run share their nodes.
 */
export interface TreeShape {
  parent: Uint32Array;
  fn: Uint32Array;
  end: Uint32Array;
  depth: Uint16Array;
  /** The node at which each stack ends. */
  leaf: Uint32Array;
  deepest: number;
}

/** A call tree with the weights of a thread and an activity; a node without samples has the total 0. */
export interface CallTree extends TreeShape {
  run: number;
  thread: ThreadChoice;
  activity: Activity;
  self: Float64Array;
  total: Float64Array;
  /** Children of nodes, heaviest first; filled on first use. */
  children: Map<number, number[]>;
}

/** Costs by function; recursion counts once in totals. */
export interface FunctionCosts {
  self: Float64Array;
  total: Float64Array;
  /** The number of nodes that have weight. */
  places: Uint32Array;
  /** Groups of functions, filled on first use. */
  groups: Map<number, CallGroup>;
}

/** Nodes of one function with the counted weight of each; `fn` is null below the root. */
export interface CallGroup {
  fn: number | null;
  nodes: number[];
  weights: number[];
  weight: number;
  /** Whether it is the function's self weight among its callees. */
  own?: boolean;
}

/** Build the nodes of sorted, front-coded stacks: each stack shares its first frames with the one before. */
export function foldStacks(
  { shared, length, frames }: { shared: NumberColumn, length: NumberColumn, frames: NumberColumn },
): TreeShape {
  const count = frames.length + 1;
  const shape = {
    parent: new Uint32Array(count), end: new Uint32Array(count), depth: new Uint16Array(count),
    fn: new Uint32Array(count), leaf: new Uint32Array(length.length), deepest: 0,
  };
  const path = [0];
  let next = 1;
  for (let stack = 0; stack < length.length; stack++) {
    // The frames of the last stack below the shared part end here, because nodes are in preorder.
    for (let depth = path.length - 1; depth > shared[stack]; depth--) shape.end[path[depth]] = next;
    path.length = shared[stack] + 1;
    for (let depth = path.length; depth <= length[stack]; depth++) {
      shape.fn[next] = frames[next - 1];
      shape.parent[next] = path[depth - 1];
      shape.depth[next] = depth;
      path.push(next++);
    }
    shape.leaf[stack] = path[length[stack]];
    shape.deepest = Math.max(shape.deepest, length[stack]);
  }
  for (const node of path) shape.end[node] = count;
  return shape;
}

/**
 * Add the weights of a thread to the nodes of a run: `pairs` are weights by stack and thread, and their
 * waiting parts.
 */
export function weighTree(
  shape: TreeShape,
  pairs: { stack: NumberColumn, thread: NumberColumn, weight: NumberColumn, waiting: NumberColumn },
  run: number,
  thread: ThreadChoice,
  activity: Activity = "all",
): CallTree {
  const self = new Float64Array(shape.fn.length);
  for (let pair = 0; pair < pairs.stack.length; pair++) {
    const counts = thread === "all" || pairs.thread[pair] === thread;
    if (counts) self[shape.leaf[pairs.stack[pair]]] += activeWeight(pairs, pair, activity);
  }
  const total = self.slice();
  for (let node = total.length - 1; node > 0; node--) total[shape.parent[node]] += total[node];
  return { ...shape, run, thread, activity, self, total, children: new Map() };
}

/** Return the part of a weight that belongs to an activity; without waiting parts, everything is working. */
export function activeWeight(
  { weight, waiting }: { weight: NumberColumn, waiting: NumberColumn }, at: number, activity: Activity,
) {
  const waited = waiting.length ? waiting[at] : 0;
  return activity === "all" ? weight[at] : activity === "waiting" ? waited : weight[at] - waited;
}

/** Return the children of a node that have weight, heaviest first. */
export function childrenOf(tree: CallTree, node: number) {
  const known = tree.children.get(node);
  if (known) return known;
  const found = [];
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (tree.total[child] > 0) found.push(child);
  }
  found.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
  if (found.length > 1) tree.children.set(node, found);
  return found;
}

/** Return the nodes on the path from the root's child to a node, inclusive. */
export function pathTo(tree: CallTree, node: number) {
  const path = [];
  for (let at = node; at > 0; at = tree.parent[at]) path.push(at);
  return path.reverse();
}

/**
 * Sum the costs of functions. Stated totals, which some imported files have, replace those of the tree.
 * @param many the number of functions
 */
export function sumCosts(
  tree: CallTree, many: number, stated: { functions: NumberColumn, totals: NumberColumn },
): FunctionCosts {
  const [self, total] = [new Float64Array(many), new Float64Array(many)];
  const [places, until] = [new Uint32Array(many), new Uint32Array(many)];
  for (let node = 1; node < tree.fn.length; node++) {
    // Threads share their nodes: a node without weight in this thread does not count for its function.
    if (tree.total[node] === 0) {
      node = tree.end[node] - 1;
      continue;
    }
    const fn = tree.fn[node];
    self[fn] += tree.self[node];
    places[fn]++;
    // In preorder, a node is below the last outermost one if and only if that one has not ended.
    if (node < until[fn]) continue;
    until[fn] = tree.end[node];
    total[fn] += tree.total[node];
  }
  stated.functions.forEach((fn, i) => { total[fn] = stated.totals[i]; });
  return { self, total, places, groups: new Map() };
}

/** Return the outermost nodes of a function as a group, the start for callers and callees. */
export function outermostGroup(tree: CallTree, fn: number): CallGroup {
  const nodes = [];
  for (let node = 1; node < tree.fn.length; node++) {
    if (tree.fn[node] !== fn) continue;
    if (tree.total[node] > 0) nodes.push(node);
    node = tree.end[node] - 1;
  }
  const weights = nodes.map((node) => tree.total[node]);
  return { fn, nodes, weights, weight: weights.reduce((sum, weight) => sum + weight, 0) };
}

/**
 * Return the callers of a group, heaviest first: groups of the parent nodes, each with the weight of its
 * calls.
 */
export function callersOf(tree: CallTree, group: CallGroup) {
  const found = new Map<number | null, CallGroup>();
  group.nodes.forEach((node, i) => {
    const above = tree.parent[node];
    if (node !== 0) add(found, above === 0 ? null : tree.fn[above], above, group.weights[i]);
  });
  return heaviestFirst(found);
}

/** Return the callees of a group, heaviest first, with their weights in the group. */
export function calleesOf(tree: CallTree, group: CallGroup) {
  const found = new Map<number | null, CallGroup>();
  for (const node of group.nodes) {
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
      if (tree.total[child] > 0) add(found, tree.fn[child], child, tree.total[child]);
    }
  }
  return heaviestFirst(found);
}

function add(groups: Map<number | null, CallGroup>, fn: number | null, node: number, weight: number) {
  const group = groups.get(fn) ?? { fn, nodes: [], weights: [], weight: 0 };
  groups.set(fn, group);
  group.nodes.push(node);
  group.weights.push(weight);
  group.weight += weight;
}

function heaviestFirst(groups: Map<number | null, CallGroup>) {
  return [...groups.values()].sort((a, b) => b.weight - a.weight || (a.fn ?? -1) - (b.fn ?? -1));
}
