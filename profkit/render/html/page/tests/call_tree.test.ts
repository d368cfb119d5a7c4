import assert from "node:assert/strict";
import { test } from "node:test";

import {
  calleesOf, callersOf, childrenOf, foldStacks, outermostGroup, pathTo, sumCosts, weighTree,
} from "../scripts/data/call_tree.ts";
import { columnsOf, forSeeds, FUNCTIONS, randomSamples, sum, THREADS, treeOf } from "./made.ts";

const NOTHING = { functions: new Uint32Array(0), totals: new Uint32Array(0) };

test("a node's weight is that of the samples that begin with its path", () => {
  forSeeds((random) => {
    const samples = randomSamples(random);
    for (const thread of ["all", 0, 1] as const) {
      const tree = treeOf(samples, thread);
      const own = samples.filter((sample) => thread === "all" || sample.thread === thread);
      assert.equal(tree.total[0], sum(own.map(({ weight }) => weight)));
      const paths = new Set();
      for (let node = 1; node < tree.fn.length; node++) {
        const path = pathTo(tree, node).map((at) => tree.fn[at]);
        paths.add(path.join());
        const through = own.filter(({ stack }) => path.every((fn, i) => stack[i] === fn));
        const ending = through.filter(({ stack }) => stack.length === path.length);
        assert.equal(tree.total[node], sum(through.map(({ weight }) => weight)));
        assert.equal(tree.self[node], sum(ending.map(({ weight }) => weight)));
        assert.equal(tree.depth[node], path.length);
      }
      assert.equal(paths.size, tree.fn.length - 1, "each path has one node");
      assert.equal(tree.deepest, Math.max(...samples.map(({ stack }) => stack.length)));
    }
  });
});

test("working and waiting are the whole", () => {
  forSeeds((random) => {
    const samples = randomSamples(random);
    const [all, working, waiting] = (["all", "working", "waiting"] as const)
      .map((activity) => treeOf(samples, "all", activity));
    assert.equal(waiting.total[0], sum(samples.map((sample) => sample.waiting ?? 0)));
    for (let node = 0; node < all.fn.length; node++) {
      assert.equal(working.self[node] + waiting.self[node], all.self[node]);
      assert.equal(working.total[node] + waiting.total[node], all.total[node]);
    }
  });
});

test("without waiting parts, everything is working", () => {
  const { stacks, pairs } = columnsOf([{ stack: [1], thread: 0, weight: 3 }]);
  const without = { ...pairs, waiting: new Uint32Array(0) };
  const totals = (["all", "working", "waiting"] as const)
    .map((activity) => weighTree(foldStacks(stacks), without, 0, "all", activity).total[0]);
  assert.deepEqual(totals, [3, 3, 0]);
});

test("children have weight and are sorted by it", () => {
  forSeeds((random) => {
    const tree = treeOf(randomSamples(random), random.upTo(THREADS - 1));
    for (let node = 0; node < tree.fn.length; node++) {
      const children = childrenOf(tree, node);
      const totals = children.map((child) => tree.total[child]);
      assert.deepEqual(totals, [...totals].sort((a, b) => b - a));
      assert.ok(totals.every((total) => total > 0));
      assert.equal(tree.self[node] + sum(totals), tree.total[node]);
    }
  });
});

test("recursion counts once in totals", () => {
  forSeeds((random) => {
    const samples = randomSamples(random);
    const costs = sumCosts(treeOf(samples), FUNCTIONS, NOTHING);
    for (let fn = 0; fn < FUNCTIONS; fn++) {
      const on = samples.filter(({ stack }) => stack.includes(fn));
      const top = samples.filter(({ stack }) => stack.at(-1) === fn);
      assert.equal(costs.total[fn], sum(on.map(({ weight }) => weight)));
      assert.equal(costs.self[fn], sum(top.map(({ weight }) => weight)));
    }
  });
});

test("stated totals replace those of the tree", () => {
  const tree = treeOf([{ stack: [0, 1], thread: 0, weight: 5 }]);
  const stated = { functions: Uint32Array.of(1), totals: Uint32Array.of(9) };
  assert.deepEqual([...sumCosts(tree, 2, stated).total], [5, 9]);
});

test("callers and callees of a function add up to its weight", () => {
  forSeeds((random) => {
    const samples = randomSamples(random);
    const tree = treeOf(samples);
    for (let fn = 0; fn < FUNCTIONS; fn++) {
      const group = outermostGroup(tree, fn);
      const on = samples.filter(({ stack }) => stack.includes(fn));
      assert.equal(group.weight, sum(on.map(({ weight }) => weight)));
      assert.equal(sum(callersOf(tree, group).map(({ weight }) => weight)), group.weight);
      const own = sum(group.nodes.map((node) => tree.self[node]));
      assert.equal(own + sum(calleesOf(tree, group).map(({ weight }) => weight)), group.weight);
    }
  });
});

test("the caller of an outermost function is the bottom of the stack", () => {
  const tree = treeOf([{ stack: [3], thread: 0, weight: 2 }]);
  const callers = callersOf(tree, outermostGroup(tree, 3));
  assert.deepEqual(callers.map(({ fn, weight }) => [fn, weight]), [[null, 2]]);
});
