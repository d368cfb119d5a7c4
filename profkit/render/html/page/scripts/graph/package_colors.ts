/*
 * Colours of a page's packages: warm for user code, cool for libraries, grey for native code. A few colours
 * of each kind differ as much as possible in OKLab, also with protanopia, deuteranopia and tritanopia. They
 * go to the heaviest packages. The name selects among them, so that a package mostly has one colour.
 */

import { hash } from "./colors.ts";
import type { Package, PackageKind } from "../data/head.ts";
import type { NumberColumn } from "../types.ts";

/** In OKLCH. */
type Tone = [lightness: number, chroma: number, hue: number];
export type PackageColor = { light: Tone, dark: Tone };

/** Groups of colours by kind. Those of the first groups, 2 + 4 + 1, differ most. */
const COLORS: Record<PackageKind, PackageColor[][]> = {
  user: [
    [
      { light: [0.82, 0.15, 75], dark: [0.8, 0.15, 70] },
      { light: [0.7, 0.15, 45], dark: [0.64, 0.15, 50] },
    ], [
      { light: [0.92, 0.12, 100], dark: [0.82, 0.09, 90] },
      { light: [0.76, 0.09, 85], dark: [0.72, 0.09, 80] },
    ],
  ],
  library: [
    [
      { light: [0.7, 0.12, 265], dark: [0.66, 0.12, 260] },
      { light: [0.82, 0.12, 165], dark: [0.82, 0.12, 165] },
      { light: [0.82, 0.1, 300], dark: [0.82, 0.1, 300] },
      { light: [0.92, 0.04, 225], dark: [0.74, 0.04, 215] },
    ], [
      { light: [0.92, 0.12, 165], dark: [0.82, 0.04, 225] },
      { light: [0.7, 0.1, 315], dark: [0.62, 0.12, 315] },
      { light: [0.78, 0.06, 185], dark: [0.72, 0.12, 235] },
      { light: [0.76, 0.06, 275], dark: [0.68, 0.06, 265] },
    ],
  ],
  native: [
    [{ light: [0.72, 0, 0], dark: [0.62, 0, 0] }],
    [{ light: [0.86, 0, 0], dark: [0.7, 0, 0] }],
  ],
  none: [[{ light: [0.92, 0, 0], dark: [0.78, 0, 0] }]],
};
/** Hues of further packages, between which few people can distinguish. */
const HUES: Record<PackageKind, [from: number, to: number]> =
  { user: [45, 92], library: [170, 318], native: [0, 0], none: [0, 0] };

/** Return the colour of each package; `weights` are their weights in the page. */
export function packageColors(packages: Package[], weights: NumberColumn): PackageColor[] {
  const heaviest = [...packages.keys()].sort((a, b) => weights[b] - weights[a] || a - b);
  const taken: Set<PackageColor> = new Set();
  const colors: PackageColor[] = [];
  for (const index of heaviest) {
    const color = freeColor(packages[index], taken) ?? furtherColor(packages[index]);
    taken.add(color);
    colors[index] = color;
  }
  return colors;
}

/** Return a free colour of the first group that has one, from the one that the name selects on. */
function freeColor({ name, kind }: Package, taken: Set<PackageColor>) {
  for (const group of COLORS[kind]) {
    const first = hash(name) % group.length;
    const found = [...group.slice(first), ...group.slice(0, first)].find((color) => !taken.has(color));
    if (found) return found;
  }
  return null;
}

/** Return a colour by the name alone. */
function furtherColor({ name, kind }: Package): PackageColor {
  const [from, to] = HUES[kind];
  const hue = from + ((hash(name) % 997) / 997) * (to - from);
  const chroma = to > from ? 0.07 : 0;
  return { light: [0.87, chroma, hue], dark: [0.67, chroma, hue] };
}
