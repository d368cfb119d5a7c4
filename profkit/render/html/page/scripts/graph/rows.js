/*
 * Rows of the graph: the row of each node of a call tree. A chain of calls within a package, without branches
 * and without self weight worth mentioning, is drawn as one box if it is folded. So is a root whose only
 * callee has its name.
 */

import { childrenOf } from "../data/call_tree.js";

/** @import { CallTree, Rows } from "../types.js" */
/** @typedef {{ ownerOf: (fn: number) => number, isTopMerged: boolean }} Folding */

/** Fewest frames of a chain: two frames in one box would save too little. */
const MIN_CHAIN = 3;
/** Largest part of a frame's total that may be its own within a chain. */
const MAX_OWN = 0.01;

/**
 * Return the rows of a tree. `ownerOf` is the package of a function whose chains are folded, or -1; with
 * `isTopMerged`, the root's only callee is drawn in its place.
 * @param {CallTree} tree
 * @param {Folding} folding
 * @returns {Rows}
 */
export function rowsOf(tree, { ownerOf, isTopMerged }) {
  const head = Uint32Array.from(tree.fn.keys());
  const chains = findChains(tree, ownerOf, head);
  const [only = 0] = isTopMerged ? childrenOf(tree, 0) : [];
  head[0] = only;
  const rows = { row: new Uint16Array(head.length), head, chains, top: only, deepest: 0 };
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
 * @param {Folding["ownerOf"]} ownerOf
 * @param {Uint32Array} head
 */
function findChains(tree, ownerOf, head) {
  /** @type {Map<number, number[]>} */
  const chains = new Map();
  const ended = new Uint8Array(head.length);
  for (let node = 1; node < head.length; node++) {
    if (ended[node] || tree.total[node] === 0 || ownerOf(tree.fn[node]) < 0) continue;
    const chain = chainFrom(tree, node, ownerOf);
    // The end of a short chain is not tried again.
    for (const each of chain) ended[each] = 1;
    if (chain.length < MIN_CHAIN) continue;
    for (const each of chain) head[each] = node;
    chains.set(node, chain);
  }
  return chains;
}

/**
 * @param {CallTree} tree
 * @param {number} first
 * @param {Folding["ownerOf"]} ownerOf
 */
function chainFrom(tree, first, ownerOf) {
  const chain = [first];
  const owner = ownerOf(tree.fn[first]);
  for (let next = onlyCallee(tree, first); next > 0 && ownerOf(tree.fn[next]) === owner;) {
    chain.push(next);
    next = onlyCallee(tree, next);
  }
  return chain;
}

/**
 * Return the callee that has all weight of a node, except for a little of its own; 0 if there is none.
 * @param {CallTree} tree
 * @param {number} node
 */
function onlyCallee(tree, node) {
  const called = tree.total[node] - tree.self[node];
  if (called === 0 || tree.self[node] > MAX_OWN * tree.total[node]) return 0;
  let child = node + 1;
  while (tree.total[child] === 0) child = tree.end[child];
  return tree.total[child] === called ? child : 0;
}

/**
 * Return the nodes that the box of a node shows, from caller to callee.
 * @param {Rows} rows
 * @param {number} node
 */
export const nodesOfBox = ({ head, chains }, node) => chains.get(head[node]) ?? [head[node]];

/**
 * Return the last node of the box of a node: its callees are below the box.
 * @param {Rows} rows
 * @param {number} node
 */
export const lastOfBox = ({ head, chains }, node) => chains.get(head[node])?.at(-1) ?? head[node];

/**
 * Return the node of the box above that of a node; of the topmost box, its own.
 * @param {CallTree} tree
 * @param {Rows} rows
 * @param {number} node
 */
export const boxAbove = (tree, { head }, node) => head[tree.parent[head[node]]];
