/* Names of boxes of the graph: functions, chains of functions, and lanes of threads. */

import { head } from "../data/page_data.js";
import { formatShare, nodeName, packageOf } from "../text/run_text.js";
import { nodesOfBox } from "./rows.js";

/** @import { GraphView } from "../types.js" */

/**
 * Return the name of the box at a spot.
 * @param {GraphView} view
 * @param {number} spot
 */
export function boxName(view, spot) {
  const { tree, rows } = view;
  const thread = view.thread(spot);
  if (thread !== null && view.node(spot) === 0) {
    return `${head.runs[tree.run].threads[thread].name} · ${formatShare(view.weight(spot) / tree.total[0])}`;
  }
  const nodes = nodesOfBox(rows, view.node(spot));
  const [first, last] = [nodes[0], nodes[nodes.length - 1]].map((node) => nodeName(tree, node));
  if (nodes.length === 1) return first;
  const packages = [...new Set(nodes.map((node) => packageOf(tree.fn[node])))];
  const where = packages.length > 2 ? `${packages.length} packages` : packages.join(", ");
  return `${first} … ${last} (${nodes.length} in ${where})`;
}
