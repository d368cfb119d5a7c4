import assert from "node:assert/strict";
import { test } from "node:test";

import { scaleOf, ticksOf } from "../scripts/graph/scale.ts";
import { chronologicalOf, forSeeds, randomSamples, treeOf } from "./made.ts";

const TIMED = { weight_s: 0.01, unit: "samples" };
const COUNTED = { weight_s: null, unit: "instructions" };
const texts = (ticks: { text: string }[]) => ticks.map(({ text }) => text);

test("ticks are round numbers of the run's unit", () => {
  const shown = (run: typeof TIMED | typeof COUNTED, to: number) =>
    texts(ticksOf(run, [0, to], 450, [0]));
  assert.deepEqual(shown(TIMED, 100), ["0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"]);
  assert.deepEqual(shown(TIMED, 50), ["0 ms", "100 ms", "200 ms", "300 ms", "400 ms", "500 ms"]);
  assert.deepEqual(shown(TIMED, 60_000), ["0 s", "200 s", "400 s", "600 s"]);
  assert.deepEqual(shown(COUNTED, 10), ["0", "2", "4", "6", "8", "10"]);
  const sizes = shown({ weight_s: null, unit: "bytes" }, 2000);
  assert.deepEqual(sizes, ["0 B", "500 B", "1,000 B", "1.46 KiB", "1.95 KiB"]);
});

test("sides of a comparison have a scale of their parts", () => {
  for (const run of [TIMED, COUNTED]) {
    const ticks = ticksOf({ ...run, whole: 4500 }, [0, 4500], 450, [0]);
    assert.deepEqual(texts(ticks), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
  }
});

test("samples are never divided", () => {
  assert.deepEqual(texts(ticksOf(COUNTED, [0, 2], 2000, [0])), ["0", "1", "2"]);
});

test("ticks are visible and at least ninety pixels apart", () => {
  forSeeds((random) => {
    const from = random.power(0, 6);
    const to = from + random.power(0, 6);
    const widthPx = 300 + random.upTo(2000);
    const ticks = ticksOf(random.upTo(1) ? TIMED : COUNTED, [from, to], widthPx, [from]);
    ticks.forEach(({ x }, i) => {
      assert.ok(x >= -1e-6 && x <= widthPx + 1e-6);
      if (i) assert.ok(x - ticks[i - 1].x >= 89.9);
    });
    assert.equal(new Set(texts(ticks)).size, ticks.length);
  }, 300);
});

test("the scale of each thread starts at 0 with its name", () => {
  const samples = [0, 1].map((thread) => ({ stack: [1], thread, weight: 100 }));
  const view = chronologicalOf(samples, treeOf(samples));
  const threads = ["main", "loader"].map((name, tid) => ({ name, place: 0, tid }));
  const { marks, ticks } = scaleOf({ ...TIMED, threads }, view, [0, 200], 900);
  assert.deepEqual(marks.map(({ x, text }) => [x, text]), [[0, "main"], [450, "loader"]]);
  assert.deepEqual(texts(ticks).slice(0, 2), ["0.2 s", "0.4 s"]);
  assert.equal(texts(ticks).filter((text) => text === "0.2 s").length, 2);
});

test("a view without samples has no scale", () => {
  const tree = treeOf(randomSamples({ next: () => 0, upTo: () => 0, power: () => 1 }));
  const view = { ...chronologicalOf([], tree), total: 0 };
  assert.deepEqual(scaleOf({ ...TIMED, threads: [] }, view, [0, 1], 100), { ticks: [], marks: [] });
});
