import assert from "node:assert/strict";
import { test } from "node:test";

import { childrenOf, type CallTree } from "../scripts/data/call_tree.ts";
import { FrameBatch } from "../scripts/graph/frame_batch.ts";
import { leftHeavy } from "../scripts/graph/left_heavy.ts";
import { nearestSmaller, rangeMinimum } from "../scripts/graph/range_minima.ts";
import { boxAbove, rowsOf } from "../scripts/graph/rows.ts";
import {
  chronologicalOf, forSeeds, framesOf, FUNCTIONS, plainRows, randomSamples, sum, treeOf, WIDE, type Random,
} from "./made.ts";

/** Return both views of random samples, plain and folded, and the samples in chronological order. */
function randomViews(random: Random) {
  const samples = randomSamples(random);
  const tree = treeOf(samples);
  const ordered = [0, 1].flatMap((thread) => samples.filter((sample) => sample.thread === thread));
  const isTopMerged = tree.self[0] === 0 && childrenOf(tree, 0).length === 1;
  const folded = rowsOf(tree, { isFolded: (fn) => fn < 5, isTopMerged });
  const views = [plainRows(tree), folded].flatMap((rows) =>
    [leftHeavy(tree, rows), chronologicalOf(samples, tree, rows)]);
  return { tree, ordered, views };
}

const near = (a: number, b: number) => Math.abs(a - b) < 1e-6 * WIDE;

test("frames of a row do not overlap and are within their callers", () => {
  forSeeds((random) => {
    for (const view of randomViews(random).views) {
      const frames = framesOf(view);
      for (let depth = 1; depth < view.height; depth++) {
        const row = frames.filter((frame) => frame.depth === depth);
        row.forEach((frame, i) => {
          assert.ok(i === 0 || frame.x >= row[i - 1].x + row[i - 1].width - 1e-6);
          const around = frames.find((other) => other.depth === depth - 1
            && other.x <= frame.x + 1e-6 && frame.x + frame.width <= other.x + other.width + 1e-6);
          assert.equal(around?.node, boxAbove(view.tree, view.rows, frame.node));
        });
      }
    }
  });
});

test("the widths of a node's frames add up to its weight, in both views", () => {
  forSeeds((random) => {
    const { tree, views } = randomViews(random);
    for (const view of views) {
      const frames = framesOf(view);
      for (let node = 0; node < tree.fn.length; node++) {
        const shown = view.rows.head[node];
        const width = sum(frames.filter((frame) => frame.node === shown).map((frame) => frame.width));
        assert.ok(near(width, (tree.total[shown] / view.total) * WIDE));
      }
    }
  });
});

test("the left-heavy view sorts children by weight from left to right", () => {
  forSeeds((random) => {
    const tree = treeOf(randomSamples(random));
    const view = leftHeavy(tree, plainRows(tree));
    const frames = new Map(framesOf(view).map((frame) => [frame.node, frame]));
    for (let node = 0; node < view.tree.fn.length; node++) {
      const row = childrenOf(view.tree, node).map((child) => frames.get(child)?.x ?? NaN);
      assert.deepEqual(row, [...row].sort((a, b) => a - b));
    }
  });
});

test("the chronological view shows the stack of each sample at its time", () => {
  forSeeds((random) => {
    const { ordered, views: [, view] } = randomViews(random);
    const frames = framesOf(view);
    let at = 0;
    for (const { stack, weight } of ordered) {
      const middle = ((at + weight / 2) / view.total) * WIDE;
      const shown = frames.filter(({ x, width, depth }) => depth > 0 && x <= middle && middle < x + width)
        .map(({ node }) => view.tree.fn[node]);
      assert.deepEqual(shown, stack);
      at += weight;
    }
  });
});

test("the chronological view merges neighbours with the same callers", () => {
  const samples = [[1, 2], [1, 2, 3], [1], [4]].map((stack) => ({ stack, thread: 0, weight: 1 }));
  const view = chronologicalOf(samples, treeOf(samples));
  const frames = framesOf(view, [0, 4], 40).map(({ depth, x, width }) => [depth, x, width]);
  assert.deepEqual(frames, [
    [0, 0, 40], [1, 0, 30], [1, 30, 10], [2, 0, 20], [3, 10, 10],
  ]);
});

test("the chronological view has only the samples of an activity", () => {
  const samples = [[1, 2], [1, 3], [1, 2]].map((stack, i) =>
    ({ stack, thread: 0, weight: 2, waiting: i === 1 ? 2 : 0 }));
  const view = chronologicalOf(samples, treeOf(samples, "all", "working"));
  assert.equal(view.total, 4);
  const frames = framesOf(view, [0, 4], 40).map(({ depth, x, width }) => [depth, x, width]);
  assert.deepEqual(frames, [[0, 0, 40], [1, 0, 40], [2, 0, 40]]);
  assert.equal(chronologicalOf(samples, treeOf(samples, 1, "all")).total, 0);
});

test("frames are at their extents in any window", () => {
  forSeeds((random) => {
    for (const view of randomViews(random).views) {
      const from = random.next() * view.total * 0.9;
      const to = from + (view.total - from) * (0.05 + 0.9 * random.next());
      for (const { spot, x, width, node } of framesOf(view, [from, to])) {
        const [left, right] = view.extent(spot);
        assert.ok(near(x, ((left - from) / (to - from)) * WIDE), `${x} is not the place of ${left}`);
        assert.ok(near(width, ((right - left) / (to - from)) * WIDE));
        assert.ok(right > from && left < to, "no frame outside the window is drawn");
        assert.equal(view.node(spot), node);
        assert.ok(near(view.weight(spot), right - left));
      }
    }
  });
});

test("keys move to frames that exist", () => {
  forSeeds((random) => {
    const { views } = randomViews(random);
    for (const view of views) {
      const spots = new Map(framesOf(view).map((frame) => [frame.spot, frame]));
      for (const [spot, { depth, node }] of spots) {
        const child = view.child(spot);
        if (child !== spot) {
          assert.equal(spots.get(child)?.depth, depth + 1);
          assert.equal(view.parent(child), spot);
        }
        for (const step of [-1, 1]) {
          const beside = view.sibling(spot, step);
          assert.equal(spots.get(beside)?.depth, depth);
          const side = (other: number) =>
            Math.sign(view.extent(other)[0] - view.extent(spot)[0]);
          // The left-heavy view only moves to frames of the same caller.
          const others = [...spots.values()].filter((other) => other.depth === depth
            && (views.indexOf(view) % 2 === 1 || view.parent(other.spot) === view.parent(spot)));
          if (beside !== spot) assert.equal(side(beside), step);
          else assert.ok(others.every((other) => side(other.spot) !== step));
        }
        assert.equal(view.node(view.spotOf(node)), node);
        assert.equal(view.row(spot), depth);
      }
    }
  });
});

/** A width at which many frames of the samples are too narrow. */
const NARROW = 12;
/** Return the step that a batch stores for a matched part. */
const stepOf = (part: number) => 1 + Math.ceil(part * 254);
/** Return whether a step is that of a part, within rounding. */
const isStepOf = (small: number, part: number) =>
  small >= stepOf(part - 1e-9) && small <= stepOf(part + 1e-9);

test("narrow siblings are one left-heavy frame with their matching part", () => {
  forSeeds((random) => {
    const tree = treeOf(randomSamples(random));
    const matches = Uint8Array.from({ length: FUNCTIONS }, () => random.upTo(1));
    const frames = framesOf(leftHeavy(tree, plainRows(tree)), [0, tree.total[0]], NARROW, { matches });
    const drawn = new Set(frames.filter(({ small }) => !small).map(({ node }) => node));
    for (const { node, small, width } of frames.filter((frame) => frame.small)) {
      assert.ok(width >= 0.5 - 1e-9);
      const rest = childrenOf(tree, node).filter((child) => !drawn.has(child));
      const whole = sum(rest.map((child) => tree.total[child]));
      assert.ok(Math.abs((width / NARROW) * tree.total[0] - whole) < 1e-6);
      const found = rest.flatMap((child) => matchesBelow(tree, matches, child));
      assert.ok(isStepOf(small, sum(found.map((at) => tree.total[at])) / whole));
    }
  });
});

/** Return the outermost matches below a node, regardless of matches above it. */
function matchesBelow(tree: CallTree, matches: Uint8Array, node: number) {
  const found = [];
  for (let at = node; at < tree.end[node];) {
    const hit = matches[tree.fn[at]] === 1;
    if (hit) found.push(at);
    at = hit ? tree.end[at] : at + 1;
  }
  return found;
}

test("narrow neighbours are one chronological area with its matching part", () => {
  forSeeds((random) => {
    const { tree, ordered, views: [, view] } = randomViews(random);
    const matches = Uint8Array.from({ length: FUNCTIONS }, () => random.upTo(1));
    for (const { node, small, x, width } of framesOf(view, [0, view.total], NARROW, { matches })) {
      if (!small) continue;
      const [from, to] = [x, x + width].map((px) => (px / NARROW) * view.total);
      let [at, found] = [0, 0];
      for (const { stack, weight } of ordered) {
        const inside = at >= from - 1e-6 && at + weight <= to + 1e-6;
        if (inside && stack.slice(tree.depth[node]).some((fn) => matches[fn])) found += weight;
        at += weight;
      }
      assert.ok(isStepOf(small, found / (to - from)), `${small} for ${found} of ${to - from}`);
    }
  });
});

test("a view of many rows is laid out only in the visible rows", () => {
  const tree = treeOf([{ stack: [1, 2, 3, 4, 5], thread: 0, weight: 1 }]);
  const view = leftHeavy(tree, plainRows(tree));
  const frames = framesOf(view, [0, 1], 100, { rows: [2, 3] });
  assert.deepEqual(frames.map(({ depth }) => depth), [2, 3]);
});

test("a batch grows, and finds frames by position", () => {
  const batch = new FrameBatch();
  for (let i = 0; i < 10_000; i++) batch.add(i, 1, i % 7, 2 * i, 3 * i, i % 5);
  assert.equal(batch.count, 10_000);
  const { depth, node, small, spot, width, x } = batch;
  for (let i = 0; i < 10_000; i += 99) {
    const frame = [x, width, depth, node, spot, small].map((column) => column[i]);
    assert.deepEqual(frame, [i, 1, i % 7, 2 * i, 3 * i, i % 5]);
  }
  assert.equal(batch.find(7000.5, 0), 7000);
  assert.equal(batch.find(7000.5, 1), -1);
  batch.clear();
  assert.equal(batch.find(7000.5, 0), -1);
});

test("range minima and nearest smaller values agree with a linear search", () => {
  forSeeds((random) => {
    const column = Uint16Array.from({ length: 1 + random.upTo(9000) }, () => random.upTo(40));
    const minimum = rangeMinimum(column);
    const { next, previous } = nearestSmaller(column);
    for (let tries = 0; tries < 40; tries++) {
      const from = random.upTo(column.length - 1);
      const to = from + 1 + random.upTo(column.length - from - 1);
      assert.equal(minimum(from, to), Math.min(...column.slice(from, to)));
      const limit = random.upTo(41);
      const after = column.findIndex((value, i) => i > from && value < limit);
      assert.equal(next(from, limit), after < 0 ? column.length : after);
      const before = column.findLastIndex((value, i) => i <= from && value < limit);
      assert.equal(previous(from, limit), Math.max(0, before));
    }
  }, 12);
});
