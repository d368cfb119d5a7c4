/*
 * Rows of the graph: the row of each node of a call tree. A chain of library calls, each of which passes
 * nearly all of its weight on to the next, is drawn as one box if it is folded. So is a root whose only
 * callee has its name.
 */

import { childrenOf, type CallTree } from "../data/call_tree.ts";

/** Rows of a graph. A box shows one node, or the nodes of a chain. */
export interface Rows {
  /** The row of each node. */
  row: Uint16Array;
  /** The first node of the box that shows a node. */
  head: Uint32Array;
  /** Nodes of chains by their first one. */
  chains: Map<number, number[]>;
  /** Nodes below chains by their first one, heaviest first; filled on first use. */
  callees: Map<number, number[]>;
  /** The topmost node: the root, or its only callee. */
  top: number;
  deepest: number;
}

type IsFolded = (fn: number) => boolean;

/** Fewest frames of a chain: two frames in one box would save too little. */
const MIN_CHAIN = 3;
/** Part of the weight of a chain's first call that its last one has at least. */
const MIN_PASSED = 0.99;

/**
 * Return the rows of a tree. Chains of functions with `isFolded` become one box; with `isTopMerged`, the
 * root's only callee is drawn in its place.
 */
export function rowsOf(
  tree: CallTree, { isFolded, isTopMerged }: { isFolded: IsFolded, isTopMerged: boolean },
): Rows {
  const head = Uint32Array.from(tree.fn.keys());
  const chains = findChains(tree, isFolded, head);
  const [only = 0] = isTopMerged ? childrenOf(tree, 0) : [];
  head[0] = only;
  const rows = { row: new Uint16Array(head.length), head, chains, top: only, deepest: 0, callees: new Map() };
  for (let node = 1; node < head.length; node++) {
    if (node === only) continue;
    const above = head[tree.parent[node]];
    // The nodes of a chain follow its head, so its row is known.
    rows.row[node] = head[node] === node ? rows.row[above] + 1 : rows.row[head[node]];
    if (tree.total[node] > 0) rows.deepest = Math.max(rows.deepest, rows.row[node]);
  }
  return rows;
}

/** Return the nodes of each chain by its first one, which becomes the `head` of all its nodes. */
function findChains(tree: CallTree, isFolded: IsFolded, head: Uint32Array) {
  const chains = new Map<number, number[]>();
  for (let node = 1; node < head.length; node++) {
    if (head[node] !== node || tree.total[node] === 0 || !isFolded(tree.fn[node])) continue;
    const chain = chainFrom(tree, node, isFolded);
    if (chain.length < MIN_CHAIN) continue;
    for (const each of chain) head[each] = node;
    chains.set(node, chain);
  }
  return chains;
}

function chainFrom(tree: CallTree, first: number, isFolded: IsFolded) {
  const chain = [first];
  const least = MIN_PASSED * tree.total[first];
  for (let next = calleeWith(tree, first, least); next > 0 && isFolded(tree.fn[next]);) {
    chain.push(next);
    next = calleeWith(tree, next, least);
  }
  return chain;
}

/** Return the callee of a node that has a weight at least; 0 if there is none. */
function calleeWith(tree: CallTree, node: number, least: number) {
  if (tree.total[node] - tree.self[node] < least) return 0;
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (tree.total[child] >= least) return child;
  }
  return 0;
}

/** Return the nodes that the box of a node shows, from caller to callee. */
export const nodesOfBox = ({ head, chains }: Rows, node: number) => chains.get(head[node]) ?? [head[node]];

/** Return the nodes below the box of a node that have weight, heaviest first. */
export function calleesOfBox(tree: CallTree, rows: Rows, node: number) {
  const first = rows.head[node];
  const chain = rows.chains.get(first);
  if (!chain) return childrenOf(tree, first);
  const found = rows.callees.get(first) ?? chain.flatMap((each) => childrenOf(tree, each))
    .filter((callee) => rows.head[callee] !== first).sort((a, b) => tree.total[b] - tree.total[a] || a - b);
  rows.callees.set(first, found);
  return found;
}

/** Return the node of the box above that of a node; of the topmost box, its own. */
export const boxAbove = (tree: CallTree, { head }: Rows, node: number) => head[tree.parent[head[node]]];
