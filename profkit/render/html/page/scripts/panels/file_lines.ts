/* Lines of source files with their weights: which files and lines the panel of source lines shows. */

import type { LineWeight } from "../data/line_weights.ts";
import { changes, head, type Sides } from "../data/page_data.ts";
import { isUsers, linesOf, treeOf } from "../data/trees.ts";
import { isDifference } from "../graph/function_colors.ts";
import { currentRun, currentTree, state } from "../state/state.ts";

/** With the shares of both sides. */
type ChangedLine = { fn: number, line: number } & Sides<number>;
/** A line that is shown. `self` and `total` are weights; `a` and `b` are total shares in a comparison. */
export type FileLine = { number: number, text: string | null } & Omit<LineWeight, "line"> & Sides<number>;
export type FileShare = { file: string, share: number, isUsers: boolean } & Sides<number>;

/** Smallest difference of a line's shares that is shown as one, in parts of 1. */
const MIN_POINTS = 0.0005;
/** Number of lines shown above and below a line with samples. */
const AROUND = 3;
/** Maximum number of lines with samples that are shown of a file. */
export const MAX_LINES = 200;

/** Return the trees of both sides of a comparison, else the current tree alone. */
const treesOf = () => (isDifference ? [treeOf(state.run, 0), treeOf(state.run, 1)] : [currentTree()]);

/** Return a line of a function's source without indentation; "" if the page does not have it. */
export function lineText(fn: number, number: number) {
  const source = (currentRun().source ?? {})[fn];
  return source?.lines[number - source.first]?.trim() ?? "";
}

/**
 * Return whether a line gained or lost share. Single lines are not tested for noise, so it counts only if it
 * agrees with the change of its function, which is.
 */
export function changeOf({ fn, others = [], a, b }: { fn: number, others?: number[] } & Sides<number>) {
  const change = b > a ? "more" : "less";
  const agrees = [fn, ...others].some((each) => changes.get(each)?.change === change);
  return Math.abs(b - a) >= MIN_POINTS && agrees ? change : "noise";
}

/** Return the lines of a comparison with their total shares of both sides. */
export function changedLines(): ChangedLine[] {
  const found = new Map<string, ChangedLine>();
  treesOf().forEach((tree, side) => {
    const whole = tree.total[0] || 1;
    for (const { fn, line, total } of linesOf(tree).lines) {
      const key = `${fn}:${line}`;
      const each = found.get(key) ?? { fn, line, a: 0, b: 0 };
      found.set(key, each);
      each[side ? "b" : "a"] = total / whole;
    }
  });
  return [...found.values()];
}

/**
 * Return the files with lines and time, and that of the selected function: the user's own first, those with
 * the largest share or difference first.
 */
export function sharesOfFiles(): FileShare[] {
  const owned = new Set(head.functions.file.filter((_, fn) => isUsers(fn)));
  const sides = treesOf().map((tree) => {
    const { files, byFile } = linesOf(tree);
    return { whole: tree.total[0] || 1, files, byFile };
  });
  const names = new Set(sides.flatMap(({ byFile }) => [...byFile.keys()]));
  const rows = [...names].map((file) => {
    const [a, b = a] = sides.map((side) => (owned.has(file)
      ? side.files.get(file) ?? 0 : selfOf(side.byFile.get(file))) / side.whole);
    return { file, a, b, share: b, isUsers: owned.has(file) };
  });
  const { selected } = state;
  const chosen = selected === null ? null : head.functions.file[selected];
  const size = ({ a, b, share }: FileShare) => (isDifference ? Math.abs(b - a) : share);
  const shown = rows.filter(({ file, a, b }) => a > 0 || b > 0 || file === chosen);
  return shown.sort((one, other) =>
    Number(other.isUsers) - Number(one.isUsers) || size(other) - size(one));
}

const selfOf = (lines: Map<number, LineWeight> | undefined) =>
  [...lines?.values() ?? []].reduce((sum, { self }) => sum + self, 0);

/** Return the lines of a file to show, in order, and the number of those with samples. */
export function linesOfFile(file: string): { lines: FileLine[], sampled: number } {
  const texts = textsOf(file);
  const weights = weightsOf(file);
  const heaviest = [...weights.keys()].sort((a, b) => sizeOf(weights, b) - sizeOf(weights, a));
  const { selected } = state;
  const all = [...texts.keys()].filter((number) => selected !== null && texts.get(number)?.fn === selected);
  const numbers = chosenLines(heaviest.slice(0, MAX_LINES), texts, all);
  const lines = numbers.map((number) => {
    const known = weights.get(number);
    const source = texts.get(number);
    return {
      number, fn: known?.fn ?? source?.fn ?? 0, others: known?.others, text: source?.text ?? null,
      self: known?.self ?? 0, total: known?.total ?? 0, a: known?.a ?? 0, b: known?.b ?? 0,
    };
  });
  return { lines, sampled: heaviest.length };
}

/** Return numbers of lines in order: the hot ones, the lines around them whose text is known, and others. */
function chosenLines(hot: number[], texts: { has: (number: number) => boolean }, others: number[]) {
  const chosen = new Set([...hot, ...others]);
  for (const number of hot) {
    for (let near = number - AROUND; near <= number + AROUND; near++) if (texts.has(near)) chosen.add(near);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** Return the known source of a file by line. */
function textsOf(file: string) {
  const texts = new Map<number, { text: string, fn: number }>();
  // The excerpt of an inner function is a part of that of the outer one, which is longer.
  const excerpts = Object.entries(currentRun().source ?? {})
    .filter(([fn]) => head.functions.file[Number(fn)] === file)
    .sort(([, one], [, other]) => other.lines.length - one.lines.length);
  for (const [fn, { first, lines }] of excerpts) {
    lines.forEach((text, i) => texts.set(first + i, { text, fn: Number(fn) }));
  }
  return texts;
}

function weightsOf(file: string): Map<number, LineWeight & Sides<number>> {
  const weights = new Map<number, LineWeight & Sides<number>>();
  treesOf().forEach((tree, side) => {
    const whole = tree.total[0] || 1;
    for (const [number, line] of linesOf(tree).byFile.get(file) ?? []) {
      const known = weights.get(number) ?? { ...line, a: 0, b: 0 };
      const others = [...known.others ?? [], ...line.others ?? []];
      weights.set(number, { ...known, others, [side ? "b" : "a"]: line.total / whole });
    }
  });
  return weights;
}

function sizeOf(weights: Map<number, LineWeight & Sides<number>>, number: number) {
  const { a, b, total } = weights.get(number) as LineWeight & Sides<number>;
  return isDifference ? Math.abs(b - a) + Math.max(a, b) / 1000 : total;
}
