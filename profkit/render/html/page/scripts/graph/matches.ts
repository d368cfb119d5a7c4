/* Matches of a search: functions, and their nodes in a call tree. */

import type { CallTree } from "../data/call_tree.ts";
import type { Rows } from "./rows.ts";

/** Time after which the other texts do not match: a page with a million names must not freeze. */
const MAX_MS = 2000;

/** Test of a search: none if it is empty, and the error if its pattern is invalid. */
type Test = { test?: (text: string) => boolean, error?: string };

const cache = new WeakMap<Rows, { matches: Uint8Array, found: Uint16Array }>();

/**
 * Return 1 for each text that the search matches; null for an empty or invalid search. A text matches if it
 * contains every word of the search, ignoring case, or matches its pattern if it is one: `/pattern/`.
 */
export function matchTexts(search: string, count: number, textOf: (index: number) => string) {
  const { test } = testOf(search);
  if (!test) return null;
  const deadline = performance.now() + MAX_MS;
  const matches = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    matches[index] = test(textOf(index)) ? 1 : 0;
    if (performance.now() > deadline) break;
  }
  return matches;
}

/** Return the pattern between the slashes of a search; null if it is none. */
export const patternIn = (search: string) => /^\s*\/(.+)\/\s*$/s.exec(search)?.[1] ?? null;

export function testOf(search: string): Test {
  const pattern = patternIn(search);
  if (pattern !== null) return testOfPattern(pattern);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? {} : { test: (text) => hasAll(text.toLowerCase(), words) };
}

function testOfPattern(pattern: string): Test {
  try {
    const expression = new RegExp(pattern, "im");
    return { test: (text) => expression.test(text) };
  } catch (error) {
    // Some browsers name the expression before the reason.
    return { error: (error as Error).message.replace(/^Invalid regular expression: (\/.*\/\w*: )?/s, "") };
  }
}

const hasAll = (text: string, words: string[]) => words.every((word) => text.includes(word));

/** Return the outermost matching nodes of a tree; their weights include all matches below them. */
export function outermostMatches(tree: CallTree, matches: Uint8Array) {
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
 */
export function deepestMatches(tree: CallTree, rows: Rows, matches: Uint8Array | null) {
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
