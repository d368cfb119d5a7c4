import assert from "node:assert/strict";
import { test } from "node:test";

import { pathTo } from "../scripts/data/call_tree.ts";
import { deepestMatches, matchTexts, outermostMatches, patternIn, testOf } from "../scripts/graph/matches.ts";
import { forSeeds, FUNCTIONS, plainRows, randomSamples, sum, treeOf } from "./made.ts";

const NAMES = ["Net.forward\nnet.py:3\ntorch", "load\nİ.py\n", "fit\nnet.py:9\nsklearn"];
const found = (search: string) => matchTexts(search, NAMES.length, (i) => NAMES[i]);

test("a text matches if it has every word of the search, ignoring case", () => {
  assert.deepEqual([...found("net") ?? []], [1, 0, 1]);
  assert.deepEqual([...found("  NET  torch ") ?? []], [1, 0, 0]);
  assert.deepEqual([...found("net load") ?? []], [0, 0, 0]);
  assert.deepEqual([...found(".*") ?? []], [0, 0, 0], "words are not regular expressions");
});

test("an empty search matches like no search", () => {
  assert.equal(found(""), null);
  assert.equal(found(" \t"), null);
});

test("a search between slashes is a pattern", () => {
  const cases: [search: string, matches: number[] | null][] = [
    ["/^net|fit$/", [1, 0, 1]],
    ["/NET\\.F/", [1, 0, 0]],
    ["/torch$/", [1, 0, 0]],
    ["/net.*torch/", [0, 0, 0]], // A dot does not match the end of a line.
    ["/usr/lib/", [0, 0, 0]],
    ["/load_(batch/", null],
    ["/a**/", null],
  ];
  for (const [search, matches] of cases) {
    assert.deepEqual(found(search), matches && Uint8Array.from(matches), search);
  }
  assert.deepEqual(["/", "//"].map(patternIn), [null, null]);
  assert.equal(patternIn("/load"), null, "the last slash is not typed yet");
  assert.match(testOf("/(load/").error ?? "", /^[Uu]nterminated /);
});

test("outermost matches have the weight of the samples with a match on their stack", () => {
  forSeeds((random) => {
    const samples = randomSamples(random);
    const tree = treeOf(samples);
    const matches = Uint8Array.from({ length: FUNCTIONS }, () => random.upTo(1));
    const nodes = outermostMatches(tree, matches);
    const matched = samples.filter(({ stack }) => stack.some((fn) => matches[fn]));
    assert.equal(sum(nodes.map((node) => tree.total[node])), sum(matched.map(({ weight }) => weight)));
  });
});

test("the deepest match of a node is the last one on its path", () => {
  forSeeds((random) => {
    const tree = treeOf(randomSamples(random));
    const matches = Uint8Array.from({ length: FUNCTIONS }, () => random.upTo(1));
    const plain = plainRows(tree);
    const rows = deepestMatches(tree, plain, matches);
    for (let node = 0; node < tree.fn.length; node++) {
      const deepest = pathTo(tree, node).findLast((at) => matches[tree.fn[at]]);
      assert.equal(rows?.[node], deepest === undefined ? 0 : tree.depth[deepest]);
    }
    assert.equal(deepestMatches(tree, plain, matches), rows, "the result is cached");
    assert.notEqual(deepestMatches(tree, plain, matches.slice()), rows, "another search is computed anew");
    assert.equal(deepestMatches(tree, plain, null), null);
  });
});
