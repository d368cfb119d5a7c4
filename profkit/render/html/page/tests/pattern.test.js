import assert from "node:assert/strict";
import { test } from "node:test";

import { matchTexts, patternIn } from "../scripts/graph/matches.js";
import { compilePattern } from "../scripts/text/pattern.js";
import { forSeeds } from "./made.js";

const NAMES = ["Net.forward\nnet.py:3\ntorch", "load\n/usr/lib/x.py\n", "fit_2\nnet.py:9\nsklearn"];
const found = (/** @type {string} */ search) => {
  const matches = matchTexts(search, NAMES.length, (i) => NAMES[i]);
  return matches && [...matches];
};
const errorOf = (/** @type {string} */ pattern) => {
  const { error } = { error: "", ...compilePattern(pattern) };
  return error;
};

/** Return whether a pattern matches a text; fails if the pattern is invalid. */
function isMatch(/** @type {string} */ pattern, /** @type {string} */ text) {
  const compiled = compilePattern(pattern);
  assert.equal(compiled.error, undefined, pattern);
  return "matches" in compiled && compiled.matches(text);
}

/**
 * Return a random pattern.
 * @param {import("./made.js").Random} random
 * @returns {string}
 */
function randomPattern(random, depth = 3) {
  const pick = (/** @type {string[]} */ all) => all[random.upTo(all.length - 1)];
  const piece = () => {
    const atom = depth > 0 && random.upTo(3) === 0
      ? pick(["(", "(?:"]) + randomPattern(random, depth - 1) + ")"
      : pick(["a", "B", "_", " ", ".", "\\w", "\\s", "\\D", "[ab]", "[^a]", "[^A-B\\d]", "\\.", "2"]);
    return pick(["", "", "", "^", "\\b", "\\B"]) + atom
      + pick(["", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"]) + pick(["", "", "", "", "$"]);
  };
  const sequence = () => Array.from({ length: random.upTo(3) }, piece).join("");
  return Array.from({ length: 1 + random.upTo(1) }, sequence).join("|");
}

test("patterns match what the regular expressions of the browser match", () => {
  forSeeds((random) => {
    const pattern = randomPattern(random);
    const expression = new RegExp(pattern, "im");
    for (let i = 0; i < 20; i++) {
      const letters = Array.from({ length: random.upTo(7) }, () => "aAbB_2 .\n"[random.upTo(8)]);
      const text = letters.join("");
      assert.equal(isMatch(pattern, text), expression.test(text), JSON.stringify([pattern, text]));
    }
  }, 1500);
});

test("a search between slashes is a pattern", () => {
  assert.deepEqual(found("/^net|fit_\\d$/"), [1, 0, 1]);
  assert.deepEqual(found("/NET\\.F/"), [1, 0, 0]);
  assert.deepEqual(found("/torch$/"), [1, 0, 0]);
  assert.deepEqual(found("/net.*torch/"), [0, 0, 0], "a dot does not match the end of a line");
  assert.deepEqual(found("/usr/lib/"), [0, 1, 0], "a path is found as before");
  assert.equal(patternIn("/"), null);
  assert.equal(patternIn("//"), null);
  assert.equal(patternIn("/load"), null, "the slash at the end is not typed yet");
});

test("an invalid pattern has an error and matches like no search", () => {
  const wrong = ["(", "a)", "[a", "*a", "a**", "a{2,1}", "a{999}", "((a{99}){99}){99}", "\\", "\\1", "(?=a)",
    "(?<n>a)", "[b-a]", "a".repeat(501), "(".repeat(500)];
  for (const pattern of wrong) {
    assert.notEqual(errorOf(pattern), "", pattern);
    assert.equal(found(`/${pattern}/`), null);
  }
  assert.equal(errorOf("(load"), "“(” without “)”");
});

test("no pattern takes exponential time", () => {
  const text = `${"a".repeat(800)}!`;
  const start = performance.now();
  for (const pattern of ["(a+)+$", "(a|a)*b", "a*".repeat(30) + "b", "(.*)(.*)(.*)(.*)x",
    "(a|b)*a(a|b){90}c"]) {
    assert.equal(isMatch(pattern, text), false);
  }
  assert.ok(performance.now() - start < 3000);
});
