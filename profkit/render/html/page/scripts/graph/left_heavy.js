/*
 * The left-heavy view of the graph: equal stacks merged, siblings sorted by weight. Positions are weights
 * from 0 to the tree's total; a spot is the first node of a box.
 */

import { childrenOf } from "../data/call_tree.js";
import { deepestMatches } from "./matches.js";
import { boxAbove, lastOfBox } from "./rows.js";

/** @import { CallTree, FrameSink, GraphView, Range, Rows } from "../types.js" */
/** @typedef {{ tree: CallTree, rows: Rows }} Shown */
/**
 * @typedef {{ window: Range, scale: number, rows: Range, matched: Uint16Array | null,
 *   batch: FrameSink }} Sheet
 */
/** @typedef {{ node: number, caller: number, child: number, x: number, until: number }} Rest */

const MIN_PX = 0.5;

/**
 * Return the left-heavy view of a tree.
 * @param {CallTree} tree
 * @param {Rows} rows
 * @returns {GraphView}
 */
export function leftHeavy(tree, rows) {
  const shown = { tree, rows };
  return {
    tree, rows,
    total: tree.total[0],
    height: rows.deepest + 1,
    top: rows.top,
    row: (spot) => rows.row[spot],
    thread: () => null,
    node: (spot) => spot,
    spotOf: (node) => rows.head[node],
    extent: (spot) => extentOf(shown, spot),
    parent: (spot) => boxAbove(tree, rows, spot),
    child: (spot) => childrenOf(tree, lastOfBox(rows, spot))[0] ?? spot,
    sibling: (spot, step) => siblingOf(shown, spot, step),
    weight: (spot) => tree.total[spot],
    marks: () => [],
    origins: ([from]) => [from],
    layout: (window, widthPx, seen, batch, matches) => {
      const scale = widthPx / (window[1] - window[0]);
      layout(shown, { window, scale, rows: seen, matched: deepestMatches(tree, rows, matches), batch });
    },
  };
}

/**
 * @param {Shown} shown
 * @param {number} node
 * @returns {Range}
 */
function extentOf({ tree, rows }, node) {
  let from = 0;
  for (let at = rows.head[node]; at !== rows.top; at = boxAbove(tree, rows, at)) {
    for (const child of childrenOf(tree, tree.parent[at])) {
      if (child === at) break;
      from += tree.total[child];
    }
  }
  return [from, from + tree.total[node]];
}

/**
 * @param {Shown} shown
 * @param {number} node
 * @param {number} step
 */
function siblingOf({ tree, rows }, node, step) {
  if (node === rows.top) return node;
  const all = childrenOf(tree, tree.parent[node]);
  return all[all.indexOf(node) + step] ?? node;
}

/**
 * @param {Shown} shown
 * @param {Sheet} sheet
 */
function layout(shown, sheet) {
  const { tree, rows: { row, top, chains } } = shown;
  const { window: [from, to], scale, rows: [first, last], batch } = sheet;
  const least = MIN_PX / scale;
  const nodes = [top];
  const starts = [0];
  while (nodes.length > 0) {
    const node = /** @type {number} */ (nodes.pop());
    const start = /** @type {number} */ (starts.pop());
    const total = tree.total[node];
    if (row[node] >= first) batch.add((start - from) * scale, total * scale, row[node], node, node);
    const caller = chains.size === 0 ? node : lastOfBox(shown.rows, node);
    if (row[node] >= last || tree.end[caller] === caller + 1) continue;
    const until = start + tree.total[caller] - tree.self[caller];
    let x = start;
    for (const child of quickChildrenOf(tree, caller)) {
      const width = tree.total[child];
      if (width < least) {
        // Children are sorted heaviest first: the following ones are narrower still, and are drawn as one.
        addRest(shown, sheet, { node, caller, child, x, until });
        break;
      }
      if (x >= to) break;
      if (x + width > from) {
        nodes.push(child);
        starts.push(x);
      }
      x += width;
    }
  }
}

/**
 * Add the callees of a box from `child` on as one frame, which belongs to the box of `node`.
 * @param {Shown} shown
 * @param {Sheet} sheet
 * @param {Rest} rest
 */
function addRest(shown, { window: [from, to], scale, rows: [first], matched, batch }, rest) {
  const { node, caller, child, x, until } = rest;
  const below = shown.rows.row[node] + 1;
  const [a, b] = [Math.max(x, from), Math.min(until, to)];
  if ((b - a) * scale < MIN_PX || below < first) return;
  const part = matched ? matchedPart(shown, caller, child, matched) : 0;
  batch.addMany((a - from) * scale, (b - a) * scale, below, node, node, part);
}

/**
 * Return the part of the weight of a node's children, from the child `first` on, that has a match on its
 * stack.
 * @param {Shown} shown
 * @param {number} node
 * @param {number} first
 * @param {Uint16Array} matched
 */
function matchedPart({ tree, rows: { row } }, node, first, matched) {
  const all = quickChildrenOf(tree, node);
  let [found, whole] = [0, 0];
  for (const child of all.slice(all.indexOf(first))) {
    whole += tree.total[child];
    for (let at = child; at < tree.end[child]; at++) {
      if (matched[at] >= row[child]) found += tree.self[at];
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
