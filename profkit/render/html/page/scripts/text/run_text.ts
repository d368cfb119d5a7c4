/* Texts for functions, frames and weights of the run that is shown. */

import type { CallTree } from "../data/call_tree.ts";
import { changes, head } from "../data/page_data.ts";
import { currentRun } from "../state/state.ts";
import {
  countOf, formatCount, formatPercent, formatPoints, formatWeight, isTimed, shareInterval,
} from "./numbers.ts";

/** Minimum number of samples for shares with a decimal. */
const MIN_PRECISE = 1000;
/** Share below which the uncertainty is not shown. */
const MIN_SURE = 0.01;
const CHANGES = { more: "more in B", less: "less in B", noise: "within noise" };

/** Format a part of 1 as a percentage, with the precision that the number of samples allows. */
export const formatShare = (part: number) => formatPercent(part, isCoarse() ? 0 : 1);

const isCoarse = () => head.kind === "sampled" && currentRun().total < MIN_PRECISE;

/** Return whether shares of the run are estimates: those of counts are exact, and sides have differences. */
export const hasIntervals = () => head.kind === "sampled" && currentRun().unit === "samples";

/** Ratio of the two sides of an interval from which on only the wider one is shown. */
const ONE_SIDED = 3;

/**
 * Format the uncertainty of a weight's share in points: `±6`, or `−12` if it can only be less.
 * It is "" if it is small or unknown.
 */
export function plusMinus(weight: number, total: number) {
  if (!hasIntervals() || !(weight >= MIN_SURE * total) || weight > total) return "";
  const [low, high] = shareInterval(weight, total);
  const share = weight / total;
  const isOneSided = share - low > ONE_SIDED * (high - share);
  const points = isOneSided ? share - low : (high - low) / 2;
  return `${isOneSided ? "−" : "±"}${formatShare(points)}`.replace(" %", "").replace("<", "");
}

/** Return file:line of a function; the file alone if its line is unknown, "" if both are. */
export function placeOf(fn: number) {
  const { file, line } = head.functions;
  if (!file[fn]) return "";
  return line[fn] > 0 ? `${file[fn]}:${line[fn]}` : file[fn];
}

/** Return the package of a function; "" if it is unknown. */
export const packageOf = (fn: number) => head.packages[head.functions.package[fn]]?.name ?? "";

/** Return the name of a node: that of its function, or the root's thread or label. */
export function nodeName(tree: CallTree, node: number) {
  if (node > 0) return head.functions.name[tree.fn[node]];
  return tree.activity === "all" ? rootName(tree) : `${rootName(tree)}, ${tree.activity}`;
}

/** Return the thread or label of a tree. */
export function rootName(tree: CallTree) {
  const { threads, label } = head.runs[tree.run];
  const all = threads.length > 1 ? `all ${threads.length} threads` : label;
  return tree.thread === "all" ? all : threads[tree.thread].name;
}

/** Format a weight briefly: counts have no unit. */
export function amountText(weight: number) {
  const run = currentRun();
  return isTimed(run) || run.unit === "bytes" ? formatWeight(run, weight) : countOf(run, weight);
}

/** Format a weight, as time and in samples if both are known. */
export function weightText(weight: number) {
  const run = currentRun();
  const text = formatWeight(run, weight);
  if (!isTimed(run) || run.unit !== "samples") return text;
  return `${text} · ${formatCount(weight)} sample${weight === 1 ? "" : "s"}`;
}

/** Describe a function's difference as names and texts; nothing if the page compares nothing. */
export function differenceRows(fn: number): [name: string, text: string][] {
  const found = changes.get(fn);
  if (!found) return [];
  const { of, a, b, low, high, change } = found;
  const between = low === null || high === null ? "" : ` (${formatPoints(low)} to ${formatPoints(high)})`;
  return [
    [of === "self" ? "Self share, A → B" : "Total share, A → B", `${formatShare(a)} → ${formatShare(b)}`],
    ["Difference", `${formatPoints(b - a)} points${between}`],
    ["", CHANGES[change]],
  ];
}
