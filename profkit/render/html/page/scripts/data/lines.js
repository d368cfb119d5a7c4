/* Source lines of the page's runs with their weights in a call tree, computed on first use. */

import { mergeByNumber, sumLines, weightByFile } from "./line_weights.js";
import { column, head } from "./page_data.js";

/** @import { CallTree, LineWeight } from "../types.js" */
/**
 * Lines with weight, alone and by file and number, and the weights of files.
 * @typedef {object} TreeLines
 * @property {LineWeight[]} lines
 * @property {Map<string, Map<number, LineWeight>>} byFile
 * @property {Map<string, number>} files
 */

/** @type {WeakMap<CallTree, TreeLines>} */
const known = new WeakMap();

/** Return whether any run of the page has lines. */
export const hasLines = () => head.runs.some((_, run) => column(`r${run}.lines.line`).length > 0);

/**
 * Return whether a function is the user's own.
 * @param {number} fn
 */
export const isUsers = (fn) => head.packages[head.functions.package[fn]]?.kind === "user";

/**
 * Return the lines with weight in a tree, alone and by file, and the weight of each file.
 * @param {CallTree} tree
 */
export function linesOf(tree) {
  const found = known.get(tree) ?? findLines(tree);
  known.set(tree, found);
  return found;
}

/**
 * @param {CallTree} tree
 * @returns {TreeLines}
 */
function findLines(tree) {
  const read = (/** @type {string} */ name) => column(`r${tree.run}.lines.${name}`);
  const lines = sumLines({
    fn: read("function"), line: read("line"), thread: read("thread"), self: read("self"),
    total: read("total"), waiting: read("waiting"), waitingTotal: read("waiting_total"),
  }, tree.thread, tree.activity);
  /** @type {Map<string, LineWeight[]>} */
  const grouped = new Map();
  for (const each of lines) {
    const file = head.functions.file[each.fn];
    const group = grouped.get(file) ?? [];
    grouped.set(file, group);
    group.push(each);
  }
  const byFile = new Map([...grouped].map(([file, group]) => [file, mergeByNumber(group)]));
  return { lines, byFile, files: weightByFile(tree, head.functions.file, isUsers) };
}
