/* Matches of a search: functions, and their nodes in a call tree. */

/** @import { CallTree } from "../types.js" */

/** @type {WeakMap<CallTree, { matches: Uint8Array, rows: Uint16Array }>} */
const cache = new WeakMap();

/**
 * Return 1 for each text that contains every word of the search, ignoring case; null for an empty search.
 * @param {string} search
 * @param {number} count
 * @param {(index: number) => string} textOf
 */
export function matchTexts(search, count, textOf) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  return Uint8Array.from({ length: count }, (_, index) => {
    const text = textOf(index).toLowerCase();
    return words.every((word) => text.includes(word)) ? 1 : 0;
  });
}

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
 * @param {Uint8Array | null} matches
 */
export function deepestMatches(tree, matches) {
  if (!matches) return null;
  const known = cache.get(tree);
  if (known?.matches === matches) return known.rows;
  const rows = new Uint16Array(tree.fn.length);
  for (let node = 1; node < rows.length; node++) {
    rows[node] = matches[tree.fn[node]] ? tree.depth[node] : rows[tree.parent[node]];
  }
  cache.set(tree, { matches, rows });
  return rows;
}
