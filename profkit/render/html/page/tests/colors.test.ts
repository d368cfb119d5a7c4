import assert from "node:assert/strict";
import { test } from "node:test";

import type { PackageKind } from "../scripts/data/page_data.ts";
import { changeColor, hash, oklch, packageColors, shadeOf, tonesOf } from "../scripts/graph/colors.ts";
import { forSeeds, type Random } from "./made.ts";

/** Return red, green and blue from 0 to 255. */
const rgbOf = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Return the relative luminance as WCAG defines it. */
function luminanceOf(hex: string) {
  const [r, g, b] = rgbOf(hex).map((value) => value / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrastOf(a: string, b: string) {
  const [low, high] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test("OKLCH becomes sRGB", () => {
  // Values from CSS Color 4.
  assert.equal(oklch(0, 0, 0), "#000000");
  assert.equal(oklch(1, 0, 0), "#ffffff");
  assert.equal(oklch(0.627955, 0.257683, 29.2339), "#ff0000");
  assert.equal(oklch(0.86644, 0.294827, 142.4953), "#00ff00");
  assert.equal(oklch(0.452014, 0.313214, 264.052), "#0000ff");
});

test("colours outside sRGB are clipped", () => {
  forSeeds((random) => {
    assert.match(oklch(random.next(), random.next(), 360 * random.next()), /^#[0-9a-f]{6}$/);
  });
});

test("the hash is FNV-1a", () => {
  assert.equal(hash(""), 0x811c9dc5);
  assert.equal(hash("a"), 0xe40c292c);
  assert.equal(hash("foobar"), 0xbf9cf968);
});

/** Return the colours of packages of a kind, heaviest first. */
const colorsOf = (kind: PackageKind, names: string[]) =>
  packageColors(names.map((name) => ({ name, kind })), names.map((_, i) => -i));
const KINDS = ["user", "library", "native", "none"] as const;
const randomNames = (random: Random, count = 12) =>
  Array.from({ length: count }, () => String(random.next()));

test("labels are readable on every frame, in light and dark", () => {
  forSeeds((random) => {
    for (const dark of [false, true]) {
      const { text, root, ink, lane, ground, faint, match, matchText } = tonesOf(dark);
      const written = [[ink, lane], [text, root], [matchText, match], [faint, ground], [ink, ground]];
      for (const [above, below] of written) assert.ok(contrastOf(above, below) >= 4.5);
      for (const color of KINDS.flatMap((kind) => colorsOf(kind, randomNames(random)))) {
        assert.ok(contrastOf(text, shadeOf(color, dark)) >= 4.5);
        assert.ok(contrastOf(text, shadeOf(color, dark, `${random.next()}()`)) >= 4.5);
      }
      for (const change of ["more", "less", "noise"] as const) {
        assert.ok(contrastOf(text, changeColor(change, random.next(), dark)) >= 4.5);
      }
    }
  });
});

test("user code is warm, libraries are cool, native code is grey", () => {
  forSeeds((random) => {
    const names = randomNames(random);
    const dark = random.upTo(1) === 1;
    for (const color of colorsOf("user", names)) {
      const [r, , b] = rgbOf(shadeOf(color, dark));
      assert.ok(r > b);
    }
    for (const color of colorsOf("library", names)) {
      const [red, green, blue] = rgbOf(shadeOf(color, dark));
      assert.ok(blue > red || green > red);
    }
    for (const color of colorsOf("native", names)) {
      assert.equal(new Set(rgbOf(shadeOf(color, dark))).size, 1);
    }
  });
});

/** Return linear red, green and blue. */
const linearOf = (hex: string) => rgbOf(hex).map((value) => value / 255)
  .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));

/** Return a product of a matrix and a vector. */
const times = (matrix: number[][], vector: number[]) =>
  matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));

/** Return the coordinates in OKLab. */
function labOf(linear: number[]) {
  const cones = times([
    [0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ], linear).map((value) => Math.cbrt(Math.max(0, value)));
  return times([
    [0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ], cones);
}

/** Usual vision, protanopia, deuteranopia and tritanopia, by Machado, Oliveira and Fernandes (2009). */
const VISIONS = [
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
];

/** Return the smallest distance of two colours in OKLab, for each kind of vision. */
const leastDistances = (shades: string[]) => VISIONS.map((vision) => {
  const labs = shades.map((hex) => labOf(times(vision, linearOf(hex))));
  const distance = (a: number[], b: number[]) =>
    Math.hypot(...a.map((x, at) => x - b[at]));
  return Math.min(...labs.flatMap((a, i) => labs.slice(i + 1).map((b) => distance(a, b))));
});

/** Return packages with their weights: user code, libraries and native code. */
function packagesOf(random: Random, counts = [2, 4, 1]) {
  const packages = counts.flatMap((count, i) =>
    randomNames(random, count).map((name) => ({ name, kind: KINDS[i] })));
  return { packages, weights: packages.map(() => random.next()) };
}

test("the heaviest packages differ clearly for everybody, in light and dark", () => {
  forSeeds((random) => {
    const { packages, weights } = packagesOf(random);
    const light = [...Array(30)].map(() => ({ name: String(random.next()), kind: KINDS[random.upTo(2)] }));
    const all = packageColors([...packages, ...light], [...weights, ...light.map(() => 0)]);
    for (const dark of [false, true]) {
      const heaviest = all.slice(0, packages.length).map((color) => shadeOf(color, dark));
      const [usual, ...others] = leastDistances(heaviest);
      assert.ok(usual > 0.11, `${usual}`);
      assert.ok(others.every((distance) => distance > 0.085), `${others}`);
    }
  });
});

test("twice as many packages can still be distinguished", () => {
  forSeeds((random) => {
    const { packages, weights } = packagesOf(random, [4, 8, 2]);
    for (const dark of [false, true]) {
      const shades = packageColors(packages, weights).map((color) => shadeOf(color, dark));
      const distances = leastDistances(shades);
      assert.ok(distances.every((distance) => distance > 0.04), `${distances}`);
    }
  });
});

test("the heaviest package of a kind has the colour of its name on every page", () => {
  forSeeds((random) => {
    const first = colorsOf("library", ["torch", ...randomNames(random)])[0];
    assert.deepEqual(first, colorsOf("library", ["torch"])[0]);
  });
});

test("functions of a package have shades of its colour", () => {
  const names = Array.from({ length: 50 }, (_, i) => `f${i}`);
  const [torch] = colorsOf("library", ["torch"]);
  const shades = new Set(names.map((name) => shadeOf(torch, false, name)));
  assert.ok(shades.size > 1 && shades.size <= 5);
});

test("larger changes are more saturated, and noise is grey", () => {
  const strength = (size: number) => {
    const [r, , b] = rgbOf(changeColor("more", size, false));
    return r - b;
  };
  assert.ok(strength(0) < strength(0.2));
  assert.ok(strength(0.2) < strength(1));
  assert.equal(new Set(rgbOf(changeColor("noise", 1, false))).size, 1);
});
