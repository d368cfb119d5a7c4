import assert from "node:assert/strict";
import { test } from "node:test";

import { leftHeavy } from "../scripts/graph/left_heavy.js";
import { deepestMatches } from "../scripts/graph/matches.js";
import { boxAbove, lastOfBox, nodesOfBox, rowsOf } from "../scripts/graph/rows.js";
import { forSeeds, FUNCTIONS, randomSamples, treeOf } from "./made.js";

/** Functions from 10 to 19 are of one library, from 20 to 29 of another one. */
const ownerOf = (/** @type {number} */ fn) => Math.floor(fn / 10) - 1;
/** Return the rows of stacks with their weights, as the functions of each box by row. */
function boxesOf(/** @type {[stack: number[], weight: number][]} */ stacks, isTopMerged = false) {
  const tree = treeOf(stacks.map(([stack, weight]) => ({ stack, weight, thread: 0 })));
  const rows = rowsOf(tree, { ownerOf, isTopMerged });
  const boxes = [...new Set(rows.head)].map((node) =>
    [rows.row[node], ...nodesOfBox(rows, node).map((each) => tree.fn[each])].join(" "));
  return { tree, rows, boxes };
}

test("a straight run of calls within a library is one box", () => {
  assert.deepEqual(boxesOf([[[1, 11, 12, 13, 2], 5]]).boxes, ["0 0", "1 1", "2 11 12 13", "3 2"]);
});

test("two calls, calls of user code, and calls between libraries are not folded", () => {
  assert.deepEqual(boxesOf([[[11, 12, 1, 2, 3], 5]]).boxes, ["0 0", "1 11", "2 12", "3 1", "4 2", "5 3"]);
  const two = boxesOf([[[11, 12, 13, 21, 22, 23], 5]]).boxes;
  assert.deepEqual(two, ["0 0", "1 11 12 13", "2 21 22 23"]);
});

test("a run ends at a branch and at self weight, except for a little", () => {
  const branch = boxesOf([[[11, 12, 13, 1], 5], [[11, 12, 13, 2], 1], [[11, 14], 1]]).boxes;
  assert.deepEqual(branch, ["0 0", "1 11", "2 12", "3 13", "4 1", "4 2", "2 14"]);
  const own = boxesOf([[[11, 12, 13, 14], 95], [[11, 12], 5]]).boxes;
  assert.deepEqual(own, ["0 0", "1 11", "2 12", "3 13", "4 14"]);
  const little = boxesOf([[[11, 12, 13, 14], 995], [[11, 12], 5]]).boxes;
  assert.deepEqual(little, ["0 0", "1 11 12 13 14"]);
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
    const rows = rowsOf(tree, { ownerOf: (fn) => (fn < 5 ? 0 : -1), isTopMerged: false });
    const matches = Uint8Array.from({ length: FUNCTIONS }, () => random.upTo(1));
    const deepest = deepestMatches(tree, rows, matches);
    for (let node = 1; node < tree.fn.length; node++) {
      const box = nodesOfBox(rows, node);
      assert.ok(box.includes(node));
      assert.equal(lastOfBox(rows, node), box.at(-1));
      assert.equal(rows.row[boxAbove(tree, rows, node)], rows.row[node] - 1);
      if (matches[tree.fn[node]]) assert.equal(deepest?.[node], rows.row[node]);
    }
  });
});
