import assert from "node:assert/strict";
import { test } from "node:test";

import { mergeByNumber, sumLines, weightByFile, type LineColumns } from "../scripts/data/line_weights.ts";
import type { Activity, ThreadChoice } from "../scripts/data/page_data.ts";
import { forSeeds, FUNCTIONS, randomSamples, sum, treeOf } from "./made.ts";

type Row = [fn: number, line: number, thread: number, self: number, total: number, waiting: number];

/** Return rows as columns; all of the waiting weight is self weight. */
function columnsOf(rows: Row[]): LineColumns {
  const [fn, line, thread, self, total, waiting] = [0, 1, 2, 3, 4, 5].map((at) => rows.map((row) => row[at]));
  return { fn, line, thread, self, total, waiting, waitingTotal: waiting };
}

const ROWS: Row[] = [[0, 5, 0, 3, 9, 1], [0, 5, 2, 4, 4, 4], [0, 6, 2, 1, 1, 0], [1, 5, 0, 2, 2, 0]];

test("lines are summed by thread and activity", () => {
  const found = (thread: ThreadChoice, activity: Activity) =>
    sumLines(columnsOf(ROWS), thread, activity).map(({ fn, line, self, total }) => [fn, line, self, total]);
  assert.deepEqual(found("all", "all"), [[0, 5, 7, 13], [0, 6, 1, 1], [1, 5, 2, 2]]);
  assert.deepEqual(found(2, "all"), [[0, 5, 4, 4], [0, 6, 1, 1]]);
  assert.deepEqual(found("all", "waiting"), [[0, 5, 5, 5]]);
  assert.deepEqual(found(2, "working"), [[0, 6, 1, 1]]);
  assert.deepEqual(found(1, "all"), []);
});

test("rows without threads are of the first", () => {
  const columns = { ...columnsOf([[0, 5, 0, 3, 9, 1]]), thread: [] };
  assert.equal(sumLines(columns, 0, "all").length, 1);
  assert.equal(sumLines(columns, 1, "all").length, 0);
});

test("the weights of files add up, and library calls count for the calling file of the user", () => {
  const files = Array.from({ length: FUNCTIONS }, (_, fn) => `file-${fn}`);
  const isUsers = (fn: number) => fn < 2;
  forSeeds((random) => {
    const samples = randomSamples(random);
    const weights = weightByFile(treeOf(samples), files, isUsers);
    const expected = new Map<string, number>();
    for (const { stack, weight } of samples) {
      const fn = stack.findLast(isUsers) ?? stack[stack.length - 1];
      expected.set(files[fn], (expected.get(files[fn]) ?? 0) + weight);
    }
    assert.deepEqual([...weights].sort(), [...expected].sort());
    assert.equal(sum(weights.values()), sum(samples.map(({ weight }) => weight)));
  });
});

test("a line of two functions has the weights of both, and is of the outer one", () => {
  const lines = [{ fn: 1, line: 5, self: 2, total: 9 }, { fn: 2, line: 5, self: 4, total: 4 }];
  const both = { fn: 1, line: 5, self: 6, total: 9, others: [2] };
  assert.deepEqual(mergeByNumber(lines).get(5), both);
  assert.deepEqual(mergeByNumber(lines.reverse()).get(5), both);
});
