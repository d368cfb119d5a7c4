/* Matches of a search: functions, and their nodes in a call tree. */

import { compilePattern } from "../text/pattern.js";

/** @import { CallTree, Rows } from "../types.js" */

/** Time after which the other texts do not match: a page with a million names must not freeze. */
const MAX_MS = 2000;

/** @type {WeakMap<Rows, { matches: Uint8Array, found: Uint16Array }>} */
const cache = new WeakMap();

/**
 * Return 1 for each text that the search matches; null for an empty or invalid search. A text matches if it
 * contains every word of the search, ignoring case, or matches its pattern if it is one: `/pattern/`.
 * @param {string} search
 * @param {number} count
 * @param {(index: number) => string} textOf
 */
export function matchTexts(search, count, textOf) {
  const { test } = testOf(search);
  if (!test) return null;
  const deadline = performance.now() + MAX_MS;
  const matches = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    matches[index] = test(textOf(index)) ? 1 : 0;
    if (index % 64 === 0 && performance.now() > deadline) break;
  }
  return matches;
}

/**
 * Return the pattern between the slashes of a search; null if it is none.
 * @param {string} search
 */
export const patternIn = (search) => /^\s*\/(.+)\/\s*$/s.exec(search)?.[1] ?? null;

/**
 * Return the test of a search; none if it is empty, and the error if its pattern is invalid.
 * @param {string} search
 * @returns {{ test?: (text: string) => boolean, error?: string }}
 */
export function testOf(search) {
  const pattern = patternIn(search);
  if (pattern !== null) {
    const compiled = compilePattern(pattern);
    return compiled.error === undefined ? { test: compiled.matches } : { error: compiled.error };
  }
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? {} : { test: (text) => hasAll(text.toLowerCase(), words) };
}

/**
 * @param {string} text
 * @param {string[]} words
 */
const hasAll = (text, words) => words.every((word) => text.includes(word));

/**
 * Return the outermost matching nodes of a tree; their weights include all matches below them.
 * @param {CallTree} tree
 * @param {Uint8Array} matches
 */
export function outermostMatches(tree, matches) {
  const nodes = [];
  for (let node = 1; node < tree.fn.length; ) {
    const hit = matches[tree.fn[node]] === 1 && tree.total[node] > 0;
    if (hit) nodes.push(node);
    node = hit ? tree.end[node] : node + 1;
  }
  return nodes;
}

/**
 * Return the row of the deepest match on the path to each node, 0 if there is none; null without a search.
 * @param {CallTree} tree
 * @param {Rows} rows
 * @param {Uint8Array | null} matches
 */
export function deepestMatches(tree, rows, matches) {
  if (!matches) return null;
  const known = cache.get(rows);
  if (known?.matches === matches) return known.found;
  const found = new Uint16Array(tree.fn.length);
  for (let node = 1; node < found.length; node++) {
    found[node] = matches[tree.fn[node]] ? rows.row[node] : found[tree.parent[node]];
  }
  cache.set(rows, { matches, found });
  return found;
}
