/* Source lines of the page's runs with their weights in a call tree, computed on first use. */

import { mergeByNumber, sumLines, weightByFile } from "./line_weights.ts";
import { column, head } from "./page_data.ts";
import type { CallTree, LineWeight } from "../types.ts";

/** Lines with weight, alone and by file and number, and the weights of files. */
interface TreeLines {
  lines: LineWeight[];
  byFile: Map<string, Map<number, LineWeight>>;
  files: Map<string, number>;
}

const known: WeakMap<CallTree, TreeLines> = new WeakMap();

/** Return whether any run of the page has lines. */
export const hasLines = () => head.runs.some((_, run) => column(`r${run}.lines.line`).length > 0);

/** Return whether a function is the user's own. */
export const isUsers = (fn: number) => head.packages[head.functions.package[fn]]?.kind === "user";

/** Return the lines with weight in a tree, alone and by file, and the weight of each file. */
export function linesOf(tree: CallTree) {
  const found = known.get(tree) ?? findLines(tree);
  known.set(tree, found);
  return found;
}

function findLines(tree: CallTree): TreeLines {
  const read = (name: string) => column(`r${tree.run}.lines.${name}`);
  const lines = sumLines({
    fn: read("function"), line: read("line"), thread: read("thread"), self: read("self"),
    total: read("total"), waiting: read("waiting"), waitingTotal: read("waiting_total"),
  }, tree.thread, tree.activity);
  const grouped: Map<string, LineWeight[]> = new Map();
  for (const each of lines) {
    const file = head.functions.file[each.fn];
    const group = grouped.get(file) ?? [];
    grouped.set(file, group);
    group.push(each);
  }
  const byFile = new Map([...grouped].map(([file, group]) => [file, mergeByNumber(group)]));
  return { lines, byFile, files: weightByFile(tree, head.functions.file, isUsers) };
}
