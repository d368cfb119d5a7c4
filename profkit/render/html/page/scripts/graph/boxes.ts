/* Names of boxes of the graph: functions, chains of functions, and lanes of threads. */

import { head } from "../data/page_data.ts";
import { formatShare, nodeName, packageOf } from "../text/run_text.ts";
import { nodesOfBox } from "./rows.ts";
import type { GraphView } from "../types.ts";

/** Return the name of the box at a spot. */
export function boxName(view: GraphView, spot: number) {
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
