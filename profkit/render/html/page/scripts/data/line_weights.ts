/* Weights of source lines for a thread and an activity, and the weights of files. */

import { activeWeight, type CallTree } from "./call_tree.ts";
import type { Activity, NumberColumn, ThreadChoice } from "./page_data.ts";

/** Rows of source lines by line and thread; `waiting` parts are empty if no thread waited. */
export interface LineColumns {
  fn: NumberColumn;
  line: NumberColumn;
  thread: NumberColumn;
  self: NumberColumn;
  total: NumberColumn;
  waiting: NumberColumn;
  waitingTotal: NumberColumn;
}

/** A line of a function with its weights. */
export interface LineWeight {
  fn: number;
  line: number;
  self: number;
  total: number;
  /** Other functions with code on the line. */
  others?: number[];
}

/** Sum the rows of each line; rows are sorted by function and line. Without threads, all are of the first. */
export function sumLines(
  { fn, line, thread, self, total, waiting, waitingTotal }: LineColumns,
  wanted: ThreadChoice,
  activity: Activity,
): LineWeight[] {
  const found: LineWeight[] = [];
  const [own, all] = [{ weight: self, waiting }, { weight: total, waiting: waitingTotal }];
  for (let row = 0; row < fn.length; row++) {
    if (wanted !== "all" && (thread.length ? thread[row] : 0) !== wanted) continue;
    const weights = { self: activeWeight(own, row, activity), total: activeWeight(all, row, activity) };
    if (!weights.total) continue;
    const last = found.at(-1);
    if (last?.fn === fn[row] && last.line === line[row]) {
      last.self += weights.self;
      last.total += weights.total;
    } else {
      found.push({ fn: fn[row], line: line[row], ...weights });
    }
  }
  return found;
}

/**
 * Return each file's weight, with that of library calls from the files of users.
 * @param files by function
 * @param isUsers whether a function is the user's own
 */
export function weightByFile(
  { fn, parent, self }: Pick<CallTree, "fn" | "parent" | "self">,
  files: string[],
  isUsers: (fn: number) => boolean,
): Map<string, number> {
  const owner = new Uint32Array(fn.length);
  const weights = new Map<string, number>();
  for (let node = 1; node < fn.length; node++) {
    const above = owner[parent[node]];
    const isCall = !isUsers(fn[node]) && above > 0 && isUsers(fn[above]);
    owner[node] = isCall ? above : node;
    const file = files[fn[owner[node]]];
    if (self[node]) weights.set(file, (weights.get(file) ?? 0) + self[node]);
  }
  return weights;
}

/**
 * Merge the lines of a file by number. A line of several functions, such as one with a lambda, belongs to
 * the function with the largest total, which includes the others.
 */
export function mergeByNumber(lines: LineWeight[]): Map<number, LineWeight> {
  const merged = new Map<number, LineWeight>();
  for (const each of lines) {
    const known = merged.get(each.line);
    if (!known) {
      merged.set(each.line, { ...each });
      continue;
    }
    const [outer, inner] = each.total > known.total ? [each, known] : [known, each];
    const others = [...known.others ?? [], inner.fn];
    Object.assign(known, { fn: outer.fn, total: outer.total, others });
    known.self += each.self;
    known.total = Math.max(known.total, known.self);
  }
  return merged;
}
