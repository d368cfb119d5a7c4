import assert from "node:assert/strict";
import { test } from "node:test";

import type { Range } from "../scripts/data/page_data.ts";
import { scaleOf } from "../scripts/graph/scale.ts";
import type { GraphView } from "../scripts/graph/views.ts";
import { chronologicalOf, forSeeds, framesOf, sum, treeOf, WIDE, type Random, type Sample } from "./made.ts";

/** Return the view of samples with times. */
const lanesOf = (samples: Sample[], thread: number | "all" = "all") =>
  chronologicalOf(samples, treeOf(samples, thread));

/** Return the thread of a title; null for other spots. */
const titleOf = (view: GraphView, spot: number) =>
  (view.node(spot) === 0 ? view.thread(spot) : null);

/** Return random samples of two threads, with gaps between some. */
function randomSamples(random: Random) {
  return [0, 1].flatMap((thread) => {
    let at = random.upTo(20);
    return Array.from({ length: 1 + random.upTo(20) }, () => {
      const stack = Array.from({ length: 1 + random.upTo(4) }, () => random.upTo(2));
      const sample = { stack, thread, weight: 1 + random.upTo(9), waiting: 0, at };
      at += sample.weight + (random.upTo(2) === 0 ? random.upTo(9) : 0);
      return sample;
    });
  });
}

test("threads are below each other at the times of their samples", () => {
  const view = lanesOf([
    { stack: [1, 2], thread: 0, weight: 4, at: 0 }, { stack: [1], thread: 0, weight: 2, at: 4 },
    { stack: [3], thread: 1, weight: 2, at: 3 }, { stack: [3], thread: 1, weight: 2, at: 8 },
  ]);
  assert.deepEqual([view.total, view.height, view.origins([0, 1]), view.marks()], [10, 5, [0], []]);
  assert.deepEqual(framesOf(view, [0, 10], 100).map(({ depth, x, width }) => [depth, x, width]), [
    [0, 0, 100], [1, 0, 60], [2, 0, 40], [3, 0, 100], [4, 30, 20], [4, 80, 20],
  ]);
  assert.deepEqual(framesOf(view).map(({ spot }) => titleOf(view, spot)), [0, null, null, 1, null, null]);
});

test("each moment of a lane shows the thread's stack, and nothing in gaps", () => {
  forSeeds((random) => {
    const samples = randomSamples(random);
    const view = lanesOf(samples);
    const boxes = framesOf(view);
    const titles = boxes.filter(({ spot }) => titleOf(view, spot) !== null);
    assert.deepEqual(titles.map(({ spot }) => titleOf(view, spot)), [0, 1]);
    for (let moment = 0.5; moment < view.total; moment++) {
      const px = (moment / view.total) * WIDE;
      const shown = boxes.filter(({ x, width, spot }) =>
        titleOf(view, spot) === null && x <= px && px < x + width);
      for (const thread of [0, 1]) {
        const [first, end] = [titles[thread].depth, titles[thread + 1]?.depth ?? view.height];
        const sample = samples.find((each) =>
          each.thread === thread && each.at < moment && moment < each.at + each.weight);
        const lane = shown.filter(({ depth }) => depth >= first && depth < end);
        assert.deepEqual(lane.map(({ node }) => view.tree.fn[node]), sample?.stack ?? []);
        assert.deepEqual(lane.map(({ depth }) => depth - first), (sample?.stack ?? []).map((_, i) => i + 1));
      }
    }
  });
});

test("boxes of a lane are at their extents in any window and in any rows", () => {
  forSeeds((random) => {
    const view = lanesOf(randomSamples(random));
    const from = random.next() * view.total * 0.8;
    const window = [from, from + (view.total - from) * (0.1 + 0.9 * random.next())] as Range;
    const first = random.upTo(view.height - 1);
    const last = first + random.upTo(view.height - 1 - first);
    const boxes = framesOf(view, window, WIDE, { rows: [first, last] });
    const seen = framesOf(view).filter(({ depth, spot, small }) => {
      const [left, right] = view.extent(spot);
      return !small && depth >= first && depth <= last && right > window[0] && left < window[1];
    });
    assert.deepEqual(boxes.map(({ spot }) => spot), seen.map(({ spot }) => spot));
    for (const { depth, spot, x, width } of boxes) {
      assert.equal(view.row(spot), depth);
      const scale = WIDE / (window[1] - window[0]);
      const [left, right] = view.extent(spot).map((at) => (at - window[0]) * scale);
      assert.ok(Math.abs(left - x) < 1e-3 && Math.abs(right - x - width) < 1e-3);
    }
  });
});

test("samples too narrow to draw do not fill the gaps between them", () => {
  const samples = Array.from({ length: 400 }, (_, i) =>
    ({ stack: [i % 3], thread: 0, weight: 1, at: i < 200 ? i : i + 600 }));
  const view = lanesOf([...samples, { stack: [4], thread: 1, weight: 1000, at: 0 }]);
  const areas = framesOf(view, [0, 1000], 50).filter(({ small }) => small);
  assert.ok(areas.length > 0);
  for (const { x, width } of areas) assert.ok(x + width <= 10.5 || x >= 39.5, `${x} to ${x + width}`);
});

test("keys move within a lane, and from title to title", () => {
  forSeeds((random) => {
    const view = lanesOf(randomSamples(random));
    const boxes = framesOf(view);
    const [first, second] = boxes.filter(({ spot }) => titleOf(view, spot) !== null).map(({ spot }) => spot);
    assert.equal(view.top, first);
    assert.equal(view.sibling(first, 1), second);
    assert.equal(view.sibling(second, -1), first);
    assert.equal(view.sibling(second, 1), second);
    for (const { spot, depth } of boxes) {
      const child = view.child(spot);
      if (child !== spot) assert.deepEqual([view.parent(child), view.row(child)], [spot, depth + 1]);
      if (titleOf(view, spot) === null) assert.equal(view.row(view.sibling(spot, 1)), depth);
    }
  });
});

test("the weight of a title is that of its thread", () => {
  forSeeds((random) => {
    const samples = randomSamples(random);
    const view = lanesOf(samples);
    for (const { spot } of framesOf(view)) {
      const thread = titleOf(view, spot);
      const own = sum(samples.filter((each) => each.thread === thread).map(({ weight }) => weight));
      if (thread !== null) assert.equal(view.weight(spot), own);
    }
  });
});

test("one thread alone has no lane, and its samples follow each other", () => {
  const view = lanesOf([
    { stack: [1], thread: 0, weight: 2, at: 0 }, { stack: [1], thread: 0, weight: 2, at: 50 },
    { stack: [1], thread: 1, weight: 9, at: 0 },
  ], 0);
  assert.equal(view.total, 4);
  assert.equal(view.thread(view.top), null);
});

test("lanes have one scale from the beginning of the first sample", () => {
  const view = lanesOf([
    { stack: [1], thread: 0, weight: 5, at: 0 }, { stack: [2], thread: 1, weight: 5, at: 5 },
  ]);
  const threads = ["a", "b"].map((name, tid) => ({ name, place: 0, tid }));
  const run = { weight_s: 1, unit: "samples", threads };
  const { ticks, marks } = scaleOf(run, view, [0, 10], 500);
  assert.deepEqual(ticks.map(({ text }) => text), ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]);
  assert.deepEqual(marks, []);
});
