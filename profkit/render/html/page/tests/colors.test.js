import assert from "node:assert/strict";
import { test } from "node:test";

import { changeColor, hash, oklch, shadeOf, tonesOf } from "../scripts/graph/colors.js";
import { forSeeds } from "./made.js";

/** Return red, green and blue from 0 to 255. */
const rgbOf = (/** @type {string} */ hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Return the relative luminance as WCAG defines it. */
function luminanceOf(/** @type {string} */ hex) {
  const [r, g, b] = rgbOf(hex).map((value) => value / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrastOf(/** @type {string} */ a, /** @type {string} */ b) {
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

test("labels are readable on every frame, in light and dark", () => {
  forSeeds((random) => {
    const name = String(random.next());
    for (const dark of [false, true]) {
      const { text } = tonesOf(dark);
      for (const kind of /** @type {const} */ (["user", "library", "native", "none"])) {
        assert.ok(contrastOf(text, shadeOf({ name, kind }, dark)) >= 4.5);
        assert.ok(contrastOf(text, shadeOf({ name, kind }, dark, `${name}()`)) >= 4.5);
      }
      for (const change of /** @type {const} */ (["more", "less", "noise"])) {
        assert.ok(contrastOf(text, changeColor(change, random.next(), dark)) >= 4.5);
      }
    }
  });
});

test("user code is warm, libraries are cool, native code is grey", () => {
  forSeeds((random) => {
    const name = String(random.next());
    const dark = random.upTo(1) === 1;
    const [r, , b] = rgbOf(shadeOf({ name, kind: "user" }, dark));
    assert.ok(r > b);
    const [red, green, blue] = rgbOf(shadeOf({ name, kind: "library" }, dark));
    assert.ok(blue > red || green > red);
    assert.equal(new Set(rgbOf(shadeOf({ name, kind: "native" }, dark))).size, 1);
  });
});

test("functions of a package have shades of its colour", () => {
  const names = Array.from({ length: 50 }, (_, i) => `f${i}`);
  const shades = new Set(names.map((name) => shadeOf({ name: "torch", kind: "library" }, false, name)));
  assert.ok(shades.size > 1 && shades.size <= 5);
});

test("larger changes are more saturated, and noise is grey", () => {
  const strength = (/** @type {number} */ size) => {
    const [r, , b] = rgbOf(changeColor("more", size, false));
    return r - b;
  };
  assert.ok(strength(0) < strength(0.2));
  assert.ok(strength(0.2) < strength(1));
  assert.equal(new Set(rgbOf(changeColor("noise", 1, false))).size, 1);
});
