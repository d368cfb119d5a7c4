import assert from "node:assert/strict";
import { test } from "node:test";

import { linearScale, paddedExtent, roundTicks } from "../scripts/elements/plots.ts";
import {
  axisTexts, exactCount, exactTime, formatBytes, formatCount, formatPercent, formatPoints, formatTime,
  formatWeight, numberIn, plural, shareInterval, timesAlike,
} from "../scripts/text/numbers.ts";
import { forSeeds } from "./made.ts";

const UNITS: Record<string, number> = {
  d: 86400, h: 3600, min: 60, s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9,
  TiB: 2 ** 40, GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10, B: 1, T: 1e12, G: 1e9, M: 1e6, k: 1e3, "": 1,
};

/** Parse a number with its unit. */
function valueOf(text: string) {
  const [number, unit = ""] = text.split(" ");
  assert.ok(unit in UNITS, `${text} has no known unit`);
  return Number(number.replaceAll(",", "")) * UNITS[unit];
}

/** Assert that a text is correctly rounded to three digits. */
function assertThreeDigits(text: string, value: number) {
  assert.ok(Math.abs(valueOf(text) - value) <= 0.00501 * Math.abs(value), `${text} for ${value}`);
}

test("times have three digits in a readable unit", () => {
  assert.deepEqual([0, 1.234, 0.0012345, 89, 91, 5400, 1e5, 2e5, 3e-10].map(formatTime),
    ["0 s", "1.23 s", "1.23 ms", "89.0 s", "1.52 min", "1.50 h", "27.8 h", "2.31 d", "0.30 ns"]);
  assert.deepEqual([0.0009994, 0.0009996].map(formatTime), ["999 µs", "1.00 ms"]);
  forSeeds((random) => {
    const seconds = random.power(-9, 8);
    assertThreeDigits(formatTime(seconds), seconds);
    assert.equal(formatTime(-seconds), `-${formatTime(seconds)}`);
  }, 500);
});

test("sizes and counts have three digits above a thousand and a million", () => {
  assert.deepEqual(
    [0, 1023, 1024, 1536, 5e9].map(formatBytes), ["0 B", "1,023 B", "1.00 KiB", "1.50 KiB", "4.66 GiB"]);
  assert.deepEqual([0, 1, 999_999, 1e6, 2.5e12].map(formatCount), ["0", "1", "999,999", "1.00 M", "2.50 T"]);
  forSeeds((random) => {
    const value = Math.round(random.power(0, 15));
    assertThreeDigits(formatBytes(value), value);
    assertThreeDigits(formatCount(value), value);
  }, 500);
});

test("intervals of shares are Wilson's", () => {
  // From E. B. Wilson's formula, as in tests of Python's `share_interval`.
  const near = (found: number[], wanted: number[]) =>
    found.forEach((end, i) => assert.ok(Math.abs(end - wanted[i]) < 1e-4, `${end} is not ${wanted[i]}`));
  near(shareInterval(50, 100), [0.4038, 0.5962]);
  near(shareInterval(0, 10), [0, 0.2775]);
  near(shareInterval(10, 10), [0.7225, 1]);
  assert.deepEqual(shareInterval(0, 0), [0, 1]);
});

test("shares round half to even, and values above 0 never read as 0", () => {
  assert.deepEqual([0.125, 0.135, 0.005, 0.0049, 1e-9, 0, 1].map((part) => formatPercent(part, 0)),
    ["12 %", "14 %", "0 %", "<1 %", "<1 %", "0 %", "100 %"]);
  assert.deepEqual(
    [0.12345, 0.0004, 0.0005].map((part) => formatPercent(part, 1)), ["12.3 %", "<0.1 %", "0.1 %"]);
  forSeeds((random) => {
    const part = random.power(-8, 0);
    for (const places of [0, 1]) {
      const text = formatPercent(part, places);
      const value = Number(text.replace(/[<% ]/g, ""));
      if (text.startsWith("<")) assert.ok(part * 100 < value);
      else assert.ok(Math.abs(value - part * 100) <= 0.5001 * 10 ** -places);
    }
  }, 500);
});

test("differences have their sign", () => {
  assert.deepEqual([0.021, -0.3, 0].map(formatPoints), ["+2.1", "−30.0", "0.0"]);
});

test("texts of a column are in the order of their numbers and units", () => {
  for (const column of [
    ["−5.0 %", "<0.1 %", "12 %", "100 %"], ["40.3 ns", "1.64 µs", "3 ms", "2 s", "1.50 min"],
    ["512 B", "1.00 KiB", "3.00 MiB"], ["÷ 11", "−10.0 %", "±0.0 %", "+5.3 %", "× 2.41"],
    ["9", "1,234", "1.20 M"], ["4 × 20", "10 × 20"],
  ]) {
    const numbers = column.map((text) => numberIn(text) ?? NaN);
    assert.deepEqual([...numbers].sort((a, b) => a - b), numbers, column.join());
  }
  assert.deepEqual(["", "failed", "2026-01-31 11:49"].map(numberIn), [null, null, null]);
});

test("weights have the unit of their run", () => {
  assert.equal(formatWeight({ weight_s: 0.01, unit: "samples" }, 150), "1.50 s");
  assert.equal(formatWeight({ weight_s: null, unit: "bytes" }, 2048), "2.00 KiB");
  assert.equal(formatWeight({ weight_s: null, unit: "samples" }, 1), "1 sample");
  assert.equal(formatWeight({ weight_s: null, unit: "samples" }, 2), "2 samples");
});

test("times of a column have one unit unless they are far apart", () => {
  assert.deepEqual(
    timesAlike([0.0012345, 0.0123, null, undefined, 0]), ["1.235 ms", "12.300 ms", "", "", "0.000 ms"]);
  assert.deepEqual(timesAlike([1e-6, 2]), ["1.000 µs", "2.000 s"]);
  assert.deepEqual(timesAlike([0]), ["0 s"]);
  assert.equal(exactTime(0.5), "500.0 ms");
  forSeeds((random) => {
    const times = Array.from({ length: 5 }, () => random.power(-4, -2));
    const texts = timesAlike(times);
    assert.equal(new Set(texts.map((text) => text.split(" ")[1])).size, 1);
    const least = Math.min(...times);
    texts.forEach((text, i) => assert.ok(Math.abs(valueOf(text) - times[i]) <= 0.000501 * least));
  });
});

test("counts have a decimal only if they are small and not whole", () => {
  assert.deepEqual([12, 8.5, 16200.5, -900, 0].map(exactCount), ["12", "8.5", "16,201", "−900", "0"]);
  assert.deepEqual([null, undefined].map(exactCount), ["", ""]);
  assert.deepEqual([5612.5, 8.25].map(exactCount), ["5,613", "8.3"], "as in text reports");
  assert.equal(formatWeight({ unit: "instructions", weight_s: null }, 1234567), "1,234,567 instructions");
  assert.deepEqual([1, 2, 0].map((count) => plural(count, "run")), ["1 run", "2 runs", "0 runs"]);
});

test("the texts of an axis distinguish its values", () => {
  forSeeds((random) => {
    const low = random.power(-8, 3);
    const values = roundTicks(low, low * (1 + random.power(-2, 1)), 2 + random.upTo(6));
    for (const kind of ["time", "count"] as const) {
      const texts = axisTexts(kind, kind === "time" ? values : values.map((value) => value * 1e6));
      assert.equal(new Set(texts).size, values.length, texts.join(", "));
    }
  }, 300);
  assert.deepEqual(axisTexts("time", [0, 0.0005, 0.001]), ["0.0 ms", "0.5 ms", "1.0 ms"]);
  assert.deepEqual(axisTexts("count", [0, 20_000, 40_000]), ["0 k", "20 k", "40 k"]);
});

test("ticks are round, in range, and about as many as requested", () => {
  forSeeds((random) => {
    const low = random.power(-6, 6) * (random.upTo(1) ? 1 : -1);
    const high = low + random.power(-3, 6);
    const values = roundTicks(low, high, 5);
    assert.ok(values.length >= 1 && values.length <= 11);
    const step = values.length > 1 ? values[1] - values[0] : 1;
    const lead = Number(step.toPrecision(6)) / 10 ** Math.floor(Math.log10(step) + 1e-6);
    const isRound = [1, 2, 5, 10].some((round) => Math.abs(lead - round) < 1e-3);
    assert.ok(isRound || values.length === 1, `step ${step}`);
    for (const value of values) assert.ok(value >= low - step * 1e-6 && value <= high + step * 1e-6);
  }, 500);
  assert.deepEqual(roundTicks(3, 3), [3]);
});

test("scales map their ends, and a single value to the middle", () => {
  const scale = linearScale([10, 20], [0, 100]);
  assert.deepEqual([10, 15, 20].map(scale), [0, 50, 100]);
  assert.equal(linearScale([3, 3], [0, 10])(3), 5);
});

test("extents have margins at both ends and ignore values that are not numbers", () => {
  assert.deepEqual(paddedExtent([1, null, 3, Infinity, NaN], 0.5), [0, 4]);
  assert.deepEqual(paddedExtent([]), [0, 1]);
  const [low, high] = paddedExtent([2]);
  assert.ok(low < 2 && 2 < high);
});
