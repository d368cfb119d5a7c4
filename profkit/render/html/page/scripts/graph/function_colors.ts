/* Colours of the page's functions: by package, or by difference if the page compares sampled runs. */

import type { CallTree } from "../data/call_tree.ts";
import { changes, head, type Package } from "../data/page_data.ts";
import { cached, treeOf } from "../data/trees.ts";
import { isDark } from "../state/theme.ts";
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
