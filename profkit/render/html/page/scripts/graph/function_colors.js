/* Colours of the page's functions: by package, or by difference if the page compares sampled runs. */

import { changes, head } from "../data/page_data.js";
import { treeOf } from "../data/trees.js";
import { isDark } from "../state/theme.js";
import { changeColor, shadeOf, tonesOf } from "./colors.js";
import { packageColors } from "./package_colors.js";

/** @import { CallTree, Package } from "../types.js" */
/** @import { PackageColor } from "./package_colors.js" */
/** @typedef {ReturnType<typeof tonesOf> & { fills: string[] }} Palette with the fill of each function */

/** Smallest range of the colour scale for differences, as a share. */
const MIN_SCALE = 0.02;
/** Whether all code is native, as in counts of Callgrind. Its packages then have the hues of libraries. */
export const allNative = head.packages.every(({ kind }) => kind === "native" || kind === "none");
/** @type {Map<boolean, Palette>} */
const palettes = new Map();

/** Largest difference of a function between the sides. */
export const largestChange =
  Math.max(MIN_SCALE, ...[...changes.values()].map(({ a, b }) => Math.abs(b - a)));

/** Whether the page compares sampled runs, so that frames are coloured by difference. */
export const isDifference = head.kind === "comparison" && changes.size > 0 && head.runs.length > 0;

/**
 * Return the colours of the graph.
 * @param {boolean} dark
 */
export function paletteOf(dark) {
  const known = palettes.get(dark);
  if (known) return known;
  const fills = head.functions.name.map((_, fn) => (isDifference ? differenceColor : ownColor)(fn, dark));
  const palette = { ...tonesOf(dark), fills };
  palettes.set(dark, palette);
  return palette;
}

/**
 * Return the colour of a package in legends.
 * @param {number} index
 */
export const packageColor = (index) => shadeOf(colorOf(index), isDark());

/** @type {PackageColor[] | null} */
let colors = null;

/**
 * Return the colour of a package; all are chosen on first use, by their weights in the first run.
 * @param {number} index
 */
function colorOf(index) {
  colors ??= packageColors(head.packages.map(coloured), head.runs.length > 0 ? ownWeights(treeOf(0)) : []);
  return colors[index];
}

/**
 * Return the self weight of each package.
 * @param {CallTree} tree
 */
export function ownWeights(tree) {
  const own = new Float64Array(head.packages.length);
  const owners = head.functions.package;
  for (let node = 1; node < tree.fn.length; node++) own[owners[tree.fn[node]]] += tree.self[node];
  return own;
}

/**
 * Return the colour for a function's name, by package or by difference.
 * @param {number} fn
 */
export const functionColor = (fn) =>
  (isDifference ? differenceColor(fn, isDark()) : packageColor(head.functions.package[fn]));

/**
 * @param {number} fn
 * @param {boolean} dark
 */
function ownColor(fn, dark) {
  const { name, package: owner } = head.functions;
  return shadeOf(colorOf(owner[fn]), dark, name[fn]);
}

/**
 * @param {number} fn
 * @param {boolean} dark
 */
function differenceColor(fn, dark) {
  const change = changes.get(fn);
  if (!change) return changeColor("noise", 0, dark);
  return changeColor(change.change, Math.abs(change.b - change.a) / largestChange, dark);
}

/**
 * @param {Package} owner
 * @returns {Package}
 */
const coloured = ({ name, kind }) => ({ name, kind: allNative && kind === "native" ? "library" : kind });
