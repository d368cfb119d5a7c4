/* Source of the selected function beside the graph, with the share of each line. */

import { head } from "../data/page_data.ts";
import { linesOf } from "../data/trees.ts";
import { button, make } from "../elements/markup.ts";
import { titled } from "../elements/parts.ts";
import { isDifference } from "../graph/function_colors.ts";
import { places } from "../layout.ts";
import { currentRun, currentTree, setState, state } from "../state/state.ts";
import { formatShare } from "../text/run_text.ts";

/** Return the source for the side panel, with a button for the file; nothing if there is none. */
export function sourceBeside(fn: number) {
  const source = sourceOf(fn);
  const larger = button("Larger", openTab, { class: "quiet" });
  const title = make("div", { class: "stack-head" }, titled("h4", "Source", noteOf()), larger);
  return source ? [make("section", { class: "source-beside" }, title, source)] : [];
}

function openTab() {
  setState({ tab: "lines" });
  places.tabs.scrollIntoView({ block: "nearest" });
}

/** Return a function's lines with their weights in the graph; null if the page does not have its source. */
function sourceOf(fn: number) {
  const source = (currentRun().source ?? {})[fn];
  if (!source) return null;
  const weights = totalsOf(fn, source);
  const scale = { most: Math.max(...weights.values(), 0) || 1, whole: currentTree().total[0] || 1 };
  const rows = dedented(source.lines)
    .map((text, i) => rowOf(source.first + i, text, weights.get(source.first + i) ?? 0, scale));
  const heads = ["line", "total", "source"].map((name) => make("th", { scope: "col" }, name));
  const holder = make("div",
    { class: "scroll source-scroll", tabindex: "0", role: "region", "aria-label": "Source excerpt" },
    make("table", { class: "source" }, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)));
  scrollToHottest(holder, rows);
  return holder;
}

function noteOf() {
  if (isDifference) return `share of ${state.thread === 0 ? "A" : "B"}`;
  return state.thread === "all" && state.activity === "all" ? "share of all" : "share of the graph";
}

/** Return the weights of the lines of a function's excerpt. */
function totalsOf(fn: number, { first, lines }: { first: number, lines: string[] }) {
  const known = linesOf(currentTree()).byFile.get(head.functions.file[fn]);
  const numbers = lines.map((_, i) => first + i);
  return new Map(numbers.map((number) => [number, known?.get(number)?.total ?? 0]));
}

/** Return lines without their common indentation. */
export function dedented(lines: string[]) {
  const depths = lines.filter((line) => line.trim()).map(indentOf);
  const depth = depths.length ? Math.min(...depths) : 0;
  return lines.map((line) => line.slice(depth));
}

const indentOf = (line: string) => line.length - line.trimStart().length;

/** Return a cell with a line of source; its second and later rows are indented more than the first. */
export const codeCell = (text: string) =>
  make("td", { class: "code", style: { "--indent": Math.min(indentOf(text), 16) } }, make("code", {}, text));

function rowOf(
  number: number, text: string, total: number, { most, whole }: { most: number, whole: number },
) {
  const part = (total / most).toFixed(3);
  const hot = total ? { class: "hot", "data-heat": part, style: { "--heat": part } } : {};
  return make("tr", hot,
    make("th", { scope: "row", class: "number" }, String(number)),
    make("td", { class: "number" }, total ? formatShare(total / whole) : ""),
    codeCell(text));
}

/** Scroll to the heaviest lines, once they have a height. */
function scrollToHottest(holder: HTMLElement, rows: HTMLElement[]) {
  const heatOf = (row: HTMLElement) => Number(row.dataset.heat ?? 0);
  const hottest = rows.reduce((best, row) => (heatOf(row) > heatOf(best) ? row : best));
  if (!heatOf(hottest)) return;
  requestAnimationFrame(() => { holder.scrollTop = hottest.offsetTop - holder.clientHeight / 2; });
}
