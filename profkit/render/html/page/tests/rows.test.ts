import assert from "node:assert/strict";
import { test } from "node:test";

import { leftHeavy } from "../scripts/graph/left_heavy.ts";
import { deepestMatches } from "../scripts/graph/matches.ts";
import { boxAbove, calleesOfBox, nodesOfBox, rowsOf } from "../scripts/graph/rows.ts";
import { forSeeds, FUNCTIONS, randomSamples, treeOf } from "./made.ts";

/** Functions from 10 on are of libraries. */
const isFolded = (fn: number) => fn >= 10;
/** Return the rows of stacks with their weights, as the functions of each box by row. */
function boxesOf(stacks: [stack: number[], weight: number][], isTopMerged = false) {
  const tree = treeOf(stacks.map(([stack, weight]) => ({ stack, weight, thread: 0 })));
  const rows = rowsOf(tree, { isFolded, isTopMerged });
  const boxes = [...new Set(rows.head)].map((node) =>
    [rows.row[node], ...nodesOfBox(rows, node).map((each) => tree.fn[each])].join(" "));
  return { tree, rows, boxes };
}

test("a straight run of calls within a library is one box", () => {
  assert.deepEqual(boxesOf([[[1, 11, 12, 13, 2], 5]]).boxes, ["0 0", "1 1", "2 11 12 13", "3 2"]);
});

test("two calls and calls of user code are not folded", () => {
  assert.deepEqual(boxesOf([[[11, 12, 1, 2, 3], 5]]).boxes, ["0 0", "1 11", "2 12", "3 1", "4 2", "5 3"]);
});

test("a run ends at self weight and at a branch, except for a little", () => {
  const own = boxesOf([[[11, 12, 13, 14], 95], [[11, 12], 5]]).boxes;
  assert.deepEqual(own, ["0 0", "1 11", "2 12", "3 13", "4 14"]);
  const branch = boxesOf([[[11, 12, 13, 14, 1], 5], [[11, 12, 13, 14, 2], 1], [[11, 15], 1]]).boxes;
  assert.deepEqual(branch, ["0 0", "1 11", "2 12 13 14", "3 1", "3 2", "2 15"]);
});

test("little branches are below the box of the run", () => {
  const stacks = [
    [[11, 12, 13, 1], 900], [[11, 12, 13, 2], 96], [[11, 3], 3], [[11, 12], 1]] as [number[], number][];
  const { tree, rows, boxes } = boxesOf(stacks);
  assert.deepEqual(boxes, ["0 0", "1 11 12 13", "2 3", "2 1", "2 2"]);
  assert.deepEqual(calleesOfBox(tree, rows, 1).map((node) => tree.fn[node]), [1, 2, 3]);
  const view = leftHeavy(tree, rows);
  const three = tree.fn.indexOf(3);
  assert.deepEqual(view.extent(three), [996, 999]);
  assert.equal(view.sibling(tree.fn.indexOf(2), 1), three);
  assert.equal(view.parent(three), 1);
});

test("the root's only callee is drawn in its place", () => {
  const { rows, tree, boxes } = boxesOf([[[1, 2], 5], [[1, 3], 1]], true);
  assert.deepEqual(boxes, ["0 1", "1 2", "1 3"]);
  const view = leftHeavy(tree, rows);
  assert.deepEqual([view.top, view.parent(1), view.spotOf(0), view.height], [1, 1, 1, 2]);
});

test("boxes are below their callers, and a match is in the row of its box", () => {
  forSeeds((random) => {
    const tree = treeOf(randomSamples(random, 6));
    const rows = rowsOf(tree, { isFolded: (fn) => fn < 5, isTopMerged: false });
    const matches = Uint8Array.from({ length: FUNCTIONS }, () => random.upTo(1));
    const deepest = deepestMatches(tree, rows, matches);
    for (let node = 1; node < tree.fn.length; node++) {
      const box = nodesOfBox(rows, node);
      assert.ok(box.includes(node));
      for (const callee of calleesOfBox(tree, rows, node)) {
        assert.equal(boxAbove(tree, rows, callee), rows.head[node]);
      }
      assert.equal(rows.row[boxAbove(tree, rows, node)], rows.row[node] - 1);
      if (matches[tree.fn[node]]) assert.equal(deepest?.[node], rows.row[node]);
    }
  });
});
