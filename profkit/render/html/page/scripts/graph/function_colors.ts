/*
 * Colours of the page's functions, and their legend: by package, or by difference if the page compares
 * sampled runs.
 */

import type { CallTree } from "../data/call_tree.ts";
import { changes, head, type Change, type Package } from "../data/page_data.ts";
import { cached, treeOf } from "../data/trees.ts";
import { make } from "../elements/markup.ts";
import { currentTree, follow, setState, state } from "../state/state.ts";
import { isDark, onTheme } from "../state/theme.ts";
import { formatShare } from "../text/run_text.ts";
import { changeColor, packageColors, shadeOf, tonesOf, type PackageColor } from "./colors.ts";

/** With the fill of each function. */
export type Palette = ReturnType<typeof tonesOf> & { fills: string[] };

/** Smallest range of the colour scale for differences, as a share. */
const MIN_SCALE = 0.02;
/** Whether all code is native, as in counts of Callgrind. Its packages then have the hues of libraries. */
export const allNative = head.packages.every(({ kind }) => kind === "native" || kind === "none");
const palettes = new Map<boolean, Palette>();

/** Largest difference of a function between the sides. */
export const largestChange =
  Math.max(MIN_SCALE, ...[...changes.values()].map(({ a, b }) => Math.abs(b - a)));

/** Whether the page compares sampled runs, so that frames are coloured by difference. */
export const isDifference = head.kind === "comparison" && changes.size > 0 && head.runs.length > 0;

/** Return the colours of the graph. */
export const paletteOf = (dark: boolean) => cached(palettes, dark, () => ({
  ...tonesOf(dark),
  fills: head.functions.name.map((_, fn) => (isDifference ? differenceColor : ownColor)(fn, dark)),
}));

/** Return the colour of a package in legends. */
export const packageColor = (index: number) => shadeOf(colorOf(index), isDark());

let colors: PackageColor[] | null = null;

/** Return the colour of a package; all are chosen on first use, by their weights in the first run. */
function colorOf(index: number) {
  colors ??= packageColors(head.packages.map(coloured), head.runs.length > 0 ? ownWeights(treeOf(0)) : []);
  return colors[index];
}

/** Return the self weight of each package. */
export function ownWeights(tree: CallTree) {
  const own = new Float64Array(head.packages.length);
  const owners = head.functions.package;
  for (let node = 1; node < tree.fn.length; node++) own[owners[tree.fn[node]]] += tree.self[node];
  return own;
}

/** Return the colour for a function's name, by package or by difference. */
export const functionColor = (fn: number) =>
  (isDifference ? differenceColor(fn, isDark()) : packageColor(head.functions.package[fn]));

function ownColor(fn: number, dark: boolean) {
  const { name, package: owner } = head.functions;
  return shadeOf(colorOf(owner[fn]), dark, name[fn]);
}

function differenceColor(fn: number, dark: boolean) {
  const change = changes.get(fn);
  if (!change) return changeColor("noise", 0, dark);
  return changeColor(change.change, Math.abs(change.b - change.a) / largestChange, dark);
}

const coloured = ({ name, kind }: Package): Package =>
  ({ name, kind: allNative && kind === "native" ? "library" : kind });

const MAX_PACKAGES = 8;

/** Return the legend, which follows the run, the thread and the theme. */
export const legend = () => (isDifference ? differenceLegend() : packageLegend());

/** Return the legend of packages; a click on an entry searches for its package. */
function packageLegend() {
  const list = make("ul", { class: "legend", "aria-label": "Packages by self share" });
  const show = () => list.replaceChildren(...packageEntries());
  follow(["run", "thread", "activity"], show);
  onTheme(show);
  return list;
}

function packageEntries() {
  const tree = currentTree();
  const own = ownWeights(tree);
  const order = [...own.keys()].filter((index) => own[index] > 0).sort((a, b) => own[b] - own[a]);
  const shown = order.slice(0, MAX_PACKAGES).map((index) => packageEntry(index, own[index] / tree.total[0]));
  const rest = order.slice(MAX_PACKAGES).reduce((sum, index) => sum + own[index], 0);
  const others = `${order.length - MAX_PACKAGES} more ${formatShare(rest / tree.total[0])}`;
  if (rest > 0) shown.push(make("li", { class: "faint" }, others));
  return shown;
}

function packageEntry(index: number, share: number) {
  const { name, kind } = head.packages[index];
  const search = () => setState({ search: state.search === name ? "" : name });
  return make("li", {},
    make("button", { type: "button", title: name && `Search for ${name}`, disabled: !name, click: search },
      make("span", { class: "swatch", style: { "background-color": packageColor(index) } }),
      name ? `${name}${kind === "native" ? " (native)" : ""}` : "no file",
      make("span", { class: "faint" }, formatShare(share))));
}

function differenceLegend() {
  const list = make("ul", { class: "legend legend-difference", "aria-label": "Colours" });
  const swatch = (change: Change, size: number) =>
    make("span", { class: "swatch", style: { "background-color": changeColor(change, size, isDark()) } });
  const scale = (change: Change) => [0.05, 0.35, 1].map((size) => swatch(change, size));
  const show = () => list.replaceChildren(
    make("li", {}, scale("less").reverse(), "less in B"),
    make("li", {}, swatch("noise", 0), "within noise"),
    make("li", {}, scale("more"), `more in B, up to ${(largestChange * 100).toFixed(1)} points`));
  onTheme(show);
  show();
  return list;
}
