/*
 * The left-heavy view of the graph: equal stacks merged, siblings sorted by weight. Positions are weights
 * from 0 to the tree's total; a spot is a node.
 */

import { childrenOf } from "../data/call_tree.js";
import { deepestMatches } from "./matches.js";

/** @import { CallTree, FrameSink, GraphView, Range } from "../types.js" */

const MIN_PX = 0.5;

/**
 * Return the left-heavy view of a tree.
 * @param {CallTree} tree
 * @returns {GraphView}
 */
export const leftHeavy = (tree) => ({
  tree,
  total: tree.total[0],
  node: (spot) => spot,
  spotOf: (node) => node,
  extent: (spot) => extentOf(tree, spot),
  parent: (spot) => tree.parent[spot],
  child: (spot) => childrenOf(tree, spot)[0] ?? spot,
  sibling: (spot, step) => siblingOf(tree, spot, step),
  weight: (spot) => tree.total[spot],
  marks: () => [],
  origins: ([from]) => [from],
  layout: (window, widthPx, rows, batch, matches) =>
    layout(tree, window, widthPx, { rows, matched: deepestMatches(tree, matches) }, batch),
});

/**
 * @param {CallTree} tree
 * @param {number} node
 * @returns {Range}
 */
function extentOf(tree, node) {
  let from = 0;
  for (let at = node; at > 0; at = tree.parent[at]) {
    for (const child of childrenOf(tree, tree.parent[at])) {
      if (child === at) break;
      from += tree.total[child];
    }
  }
  return [from, from + tree.total[node]];
}

/**
 * @param {CallTree} tree
 * @param {number} node
 * @param {number} step
 */
function siblingOf(tree, node, step) {
  if (node === 0) return node;
  const all = childrenOf(tree, tree.parent[node]);
  return all[all.indexOf(node) + step] ?? node;
}

/**
 * @param {CallTree} tree
 * @param {Range} window
 * @param {number} widthPx
 * @param {{ rows: Range, matched: Uint16Array | null }} wanted
 * @param {FrameSink} batch
 */
function layout(tree, [from, to], widthPx, { rows: [first, last], matched }, batch) {
  const scale = widthPx / (to - from);
  const least = MIN_PX / scale;
  const nodes = [0];
  const starts = [0];
  while (nodes.length > 0) {
    const node = /** @type {number} */ (nodes.pop());
    const start = /** @type {number} */ (starts.pop());
    const depth = tree.depth[node];
    if (depth >= first) batch.add((start - from) * scale, tree.total[node] * scale, depth, node, node);
    if (depth >= last || tree.end[node] === node + 1) continue;
    let x = start;
    const until = start + tree.total[node] - tree.self[node];
    for (const child of quickChildrenOf(tree, node)) {
      const total = tree.total[child];
      if (total < least) {
        // Children are sorted heaviest first: the following ones are narrower still, and are drawn as one.
        const [a, b] = [Math.max(x, from), Math.min(until, to)];
        if (b - a >= least && depth + 1 >= first) {
          const part = matched ? matchedPart(tree, node, child, matched) : 0;
          batch.addMany((a - from) * scale, (b - a) * scale, depth + 1, node, node, part);
        }
        break;
      }
      if (x >= to) break;
      if (x + total > from) {
        nodes.push(child);
        starts.push(x);
      }
      x += total;
    }
  }
}

/**
 * Return the part of the weight of a node's children, from the child `first` on, that has a match on its
 * stack.
 * @param {CallTree} tree
 * @param {number} node
 * @param {number} first
 * @param {Uint16Array} matched
 */
function matchedPart(tree, node, first, matched) {
  const all = quickChildrenOf(tree, node);
  let [found, whole] = [0, 0];
  for (const child of all.slice(all.indexOf(first))) {
    whole += tree.total[child];
    for (let at = child; at < tree.end[child]; at++) {
      if (matched[at] >= tree.depth[child]) found += tree.self[at];
    }
  }
  return found / whole;
}

const single = [0];

/**
 * Return the children of a node. The list of a single child is valid only until the next call.
 * @param {CallTree} tree
 * @param {number} node
 */
function quickChildrenOf(tree, node) {
  const child = node + 1;
  if (tree.end[child] !== tree.end[node]) return childrenOf(tree, node);
  single[0] = child;
  return single;
}
