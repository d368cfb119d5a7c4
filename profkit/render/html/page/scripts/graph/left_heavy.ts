/*
 * The left-heavy view of the graph: equal stacks merged, siblings sorted by weight. Positions are weights
 * from 0 to the tree's total; a spot is the first node of a box.
 */

import type { CallTree } from "../data/call_tree.ts";
import type { Range } from "../data/page_data.ts";
import type { FrameBatch } from "./frame_batch.ts";
import { deepestMatches } from "./matches.ts";
import { boxAbove, calleesOfBox, nodesOfBox, type Rows } from "./rows.ts";
import type { GraphView } from "./views.ts";

type Shown = { tree: CallTree, rows: Rows };
type Sheet = { window: Range, scale: number, rows: Range, matched: Uint16Array | null, batch: FrameBatch };
type Rest = { node: number, child: number, x: number, until: number };

const MIN_PX = 0.5;

/** Return the left-heavy view of a tree. */
export function leftHeavy(tree: CallTree, rows: Rows): GraphView {
  const shown = { tree, rows };
  return {
    tree, rows,
    total: tree.total[0],
    height: rows.deepest + 1,
    top: rows.top,
    row: (spot) => rows.row[spot],
    lane: () => ({ top: 0, rows: rows.deepest + 1 }),
    thread: () => null,
    node: (spot) => spot,
    spotOf: (node) => rows.head[node],
    extent: (spot) => extentOf(shown, spot),
    parent: (spot) => boxAbove(tree, rows, spot),
    child: (spot) => calleesOfBox(tree, rows, spot)[0] ?? spot,
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

function extentOf({ tree, rows }: Shown, node: number): Range {
  let from = 0;
  for (let at = rows.head[node]; at !== rows.top; at = boxAbove(tree, rows, at)) {
    for (const child of calleesOfBox(tree, rows, tree.parent[at])) {
      if (child === at) break;
      from += tree.total[child];
    }
  }
  return [from, from + tree.total[node]];
}

function siblingOf({ tree, rows }: Shown, node: number, step: number) {
  if (node === rows.top) return node;
  const all = calleesOfBox(tree, rows, tree.parent[node]);
  return all[all.indexOf(node) + step] ?? node;
}

function layout(shown: Shown, sheet: Sheet) {
  const { tree, rows: { row, top } } = shown;
  const { window: [from, to], scale, rows: [first, last], batch } = sheet;
  const least = MIN_PX / scale;
  const nodes = [top];
  const starts = [0];
  while (nodes.length > 0) {
    const node = nodes.pop() as number;
    const start = starts.pop() as number;
    const total = tree.total[node];
    if (row[node] >= first) batch.add((start - from) * scale, total * scale, row[node], node, node);
    if (row[node] >= last || tree.end[node] === node + 1) continue;
    const until = start + total - ownOf(shown, node);
    let x = start;
    for (const child of quickCalleesOf(shown, node)) {
      const width = tree.total[child];
      if (width < least) {
        // Children are sorted heaviest first: the following ones are narrower still, and are drawn as one.
        addRest(shown, sheet, { node, child, x, until });
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

/** Add the callees of a box from `child` on as one frame, which belongs to the box of `node`. */
function addRest(
  shown: Shown, { window: [from, to], scale, rows: [first], matched, batch }: Sheet, rest: Rest,
) {
  const { node, child, x, until } = rest;
  const below = shown.rows.row[node] + 1;
  const [a, b] = [Math.max(x, from), Math.min(until, to)];
  if ((b - a) * scale < MIN_PX || below < first) return;
  const part = matched ? matchedPart(shown, node, child, matched) : 0;
  batch.addMany((a - from) * scale, (b - a) * scale, below, node, node, part);
}

/**
 * Return the part of the weight of a box's callees, from the callee `first` on, that has a match on its
 * stack.
 */
function matchedPart(shown: Shown, node: number, first: number, matched: Uint16Array) {
  const { tree, rows: { row } } = shown;
  const all = quickCalleesOf(shown, node);
  let [found, whole] = [0, 0];
  for (const child of all.slice(all.indexOf(first))) {
    whole += tree.total[child];
    for (let at = child; at < tree.end[child]; at++) {
      if (matched[at] >= row[child]) found += tree.self[at];
    }
  }
  return found / whole;
}

/** Return the self weight of a box. */
function ownOf({ tree, rows }: Shown, node: number) {
  if (!rows.chains.has(node)) return tree.self[node];
  return nodesOfBox(rows, node).reduce((sum, each) => sum + tree.self[each], 0);
}

const single = [0];

/** Return the callees of a box. The list of a single one is valid only until the next call. */
function quickCalleesOf({ tree, rows }: Shown, node: number) {
  const child = node + 1;
  if (tree.end[child] !== tree.end[node] || rows.chains.has(node)) return calleesOfBox(tree, rows, node);
  single[0] = child;
  return single;
}
