/*
 * Rows of the graph: the row of each node of a call tree. A chain of library calls, each of which passes
 * nearly all of its weight on to the next, is drawn as one box if it is folded. So is a root whose only
 * callee has its name.
 */

import { childrenOf } from "../data/call_tree.js";

/** @import { CallTree, Rows } from "../types.js" */
/** @typedef {(fn: number) => boolean} IsFolded */

/** Fewest frames of a chain: two frames in one box would save too little. */
const MIN_CHAIN = 3;
/** Part of the weight of a chain's first call that its last one has at least. */
const MIN_PASSED = 0.99;

/**
 * Return the rows of a tree. Chains of functions with `isFolded` become one box; with `isTopMerged`, the
 * root's only callee is drawn in its place.
 * @param {CallTree} tree
 * @param {{ isFolded: IsFolded, isTopMerged: boolean }} folding
 * @returns {Rows}
 */
export function rowsOf(tree, { isFolded, isTopMerged }) {
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

/**
 * Return the nodes of each chain by its first one, which becomes the `head` of all its nodes.
 * @param {CallTree} tree
 * @param {IsFolded} isFolded
 * @param {Uint32Array} head
 */
function findChains(tree, isFolded, head) {
  /** @type {Map<number, number[]>} */
  const chains = new Map();
  for (let node = 1; node < head.length; node++) {
    if (head[node] !== node || tree.total[node] === 0 || !isFolded(tree.fn[node])) continue;
    const chain = chainFrom(tree, node, isFolded);
    if (chain.length < MIN_CHAIN) continue;
    for (const each of chain) head[each] = node;
    chains.set(node, chain);
  }
  return chains;
}

/**
 * @param {CallTree} tree
 * @param {number} first
 * @param {IsFolded} isFolded
 */
function chainFrom(tree, first, isFolded) {
  const chain = [first];
  const least = MIN_PASSED * tree.total[first];
  for (let next = calleeWith(tree, first, least); next > 0 && isFolded(tree.fn[next]);) {
    chain.push(next);
    next = calleeWith(tree, next, least);
  }
  return chain;
}

/**
 * Return the callee of a node that has a weight at least; 0 if there is none.
 * @param {CallTree} tree
 * @param {number} node
 * @param {number} least
 */
function calleeWith(tree, node, least) {
  if (tree.total[node] - tree.self[node] < least) return 0;
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (tree.total[child] >= least) return child;
  }
  return 0;
}

/**
 * Return the nodes that the box of a node shows, from caller to callee.
 * @param {Rows} rows
 * @param {number} node
 */
export const nodesOfBox = ({ head, chains }, node) => chains.get(head[node]) ?? [head[node]];

/**
 * Return the nodes below the box of a node that have weight, heaviest first.
 * @param {CallTree} tree
 * @param {Rows} rows
 * @param {number} node
 */
export function calleesOfBox(tree, rows, node) {
  const first = rows.head[node];
  const chain = rows.chains.get(first);
  if (!chain) return childrenOf(tree, first);
  const found = rows.callees.get(first) ?? chain.flatMap((each) => childrenOf(tree, each))
    .filter((callee) => rows.head[callee] !== first).sort((a, b) => tree.total[b] - tree.total[a] || a - b);
  rows.callees.set(first, found);
  return found;
}

/**
 * Return the node of the box above that of a node; of the topmost box, its own.
 * @param {CallTree} tree
 * @param {Rows} rows
 * @param {number} node
 */
export const boxAbove = (tree, { head }, node) => head[tree.parent[head[node]]];
