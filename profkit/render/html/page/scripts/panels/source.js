/* Source of a function, with the weight of each line. */

import { column, head } from "../data/page_data.js";
import { treeOf } from "../data/trees.js";
import { button, make } from "../elements/markup.js";
import { hint, titled } from "../elements/parts.js";
import { isDifference } from "../graph/function_colors.js";
import { places } from "../layout.js";
import { currentRun, onChange, setState, state } from "../state/state.js";
import { formatShare, placeOf } from "../text/run_text.js";

/** @import { Panel } from "../types.js" */
/** @typedef {{ self: number, total: number }} Weight */

/**
 * Indexes of lines, by run and function.
 * @type {Map<number, Map<number, number[]>>}
 */
const indexes = new Map();

/** @type {Panel} */
export const sourcePanel = {
  id: "lines",
  title: "Source",
  build(body) {
    const show = () => body.replaceChildren(...tab(state.selected));
    onChange(["run", "thread", "selected"], show);
    show();
  },
  applies: () => head.runs.some((run) => Object.keys(run.source ?? {}).length > 0),
};

/** @param {number | null} fn */
function tab(fn) {
  if (fn === null) return [hint("Select a function to see its source with the share of each line.")];
  const source = sourceOf(fn, true);
  const name = head.functions.name[fn];
  if (!source) {
    return [hint(`The page has no source of ${name}: its file was not available, or its share is small.`)];
  }
  return [titled("h3", name, `${placeOf(fn)} · ${noteOf()}`), source];
}

/**
 * Return the source for the side panel: short, with a button for all of it; nothing if there is none.
 * @param {number} fn
 */
export function sourceBeside(fn) {
  const source = sourceOf(fn, false);
  const larger = button("Larger", openTab, { class: "quiet" });
  const title = make("div", { class: "stack-head" }, titled("h4", "Source", noteOf()), larger);
  return source ? [make("section", { class: "source-beside" }, title, source)] : [];
}

function openTab() {
  setState({ tab: "lines" });
  places.tabs.scrollIntoView({ block: "nearest" });
}

/**
 * Return a function's lines with their weights over all threads; null if the page does not have its source.
 * @param {number} fn
 * @param {boolean} full
 */
function sourceOf(fn, full) {
  const source = (currentRun().source ?? {})[fn];
  if (!source) return null;
  const weights = weightsOf(state.run, fn);
  const most = Math.max(...[...weights.values()].map((weight) => weight.total), 0) || 1;
  const whole = treeOf(state.run, "all").total[0] || 1;
  const scale = { most, whole, full };
  const lines = dedented(source.lines);
  const rows = lines.map((text, i) => rowOf(source.first + i, text, weights.get(source.first + i), scale));
  const names = full ? ["line", "self", "total", "source"] : ["line", "total", "source"];
  const label = full ? "Source with the weight of each line" : "Source excerpt";
  const holder = make("div",
    {
      class: `scroll source-scroll${full ? " full" : ""}`, tabindex: "0", role: "region",
      "aria-label": label,
    },
    make("table", { class: "source" },
      make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, rows)));
  scrollToHottest(holder, rows);
  return holder;
}

function noteOf() {
  if (isDifference) return "share of both sides";
  return state.thread === "all" ? "share of all" : "share of all threads";
}

/**
 * Return lines without their common indentation.
 * @param {string[]} lines
 */
function dedented(lines) {
  const depths = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  const depth = Math.min(...depths);
  return lines.map((line) => line.slice(depth));
}

/**
 * Return the weights of a function's lines.
 * @param {number} run
 * @param {number} fn
 * @returns {Map<number, Weight>}
 */
function weightsOf(run, fn) {
  const index = indexes.get(run) ?? indexOf(run);
  indexes.set(run, index);
  const [, lines, self, total] = columnsOf(run);
  return new Map((index.get(fn) ?? []).map((at) => [lines[at], { self: self[at], total: total[at] }]));
}

/** @param {number} run */
const columnsOf = (run) =>
  ["function", "line", "self", "total"].map((name) => column(`r${run}.lines.${name}`));

/** @param {number} run */
function indexOf(run) {
  /** @type {Map<number, number[]>} */
  const index = new Map();
  columnsOf(run)[0].forEach((fn, at) => {
    const lines = index.get(fn) ?? [];
    index.set(fn, lines);
    lines.push(at);
  });
  return index;
}

/**
 * @param {number} number
 * @param {string} text
 * @param {Weight | undefined} weight
 * @param {{ most: number, whole: number, full: boolean }} scale
 */
function rowOf(number, text, weight, { most, whole, full }) {
  const share = (/** @type {number} */ value) => (value ? formatShare(value / whole) : "");
  const heat = weight ? weight.total / most : 0;
  const part = heat.toFixed(3);
  const hot = heat ? { class: "hot", "data-heat": part, style: { "--heat": part } } : {};
  return make("tr", hot,
    make("th", { scope: "row", class: "number" }, String(number)),
    full ? make("td", { class: "number" }, weight ? share(weight.self) : "") : null,
    make("td", { class: "number" }, weight ? share(weight.total) : ""),
    make("td", { class: "code" }, make("code", {}, text)));
}

/**
 * Scroll to the heaviest lines, once they have a height.
 * @param {HTMLElement} holder
 * @param {HTMLElement[]} rows
 */
function scrollToHottest(holder, rows) {
  const heatOf = (/** @type {HTMLElement} */ row) => Number(row.dataset.heat ?? 0);
  const hottest = rows.reduce((best, row) => (heatOf(row) > heatOf(best) ? row : best));
  if (!heatOf(hottest)) return;
  requestAnimationFrame(() => { holder.scrollTop = hottest.offsetTop - holder.clientHeight / 2; });
}
