/*
 * Colours of frames: shades of the colours of packages. Comparisons are orange for more and blue for less,
 * which people with red-green colour blindness can distinguish.
 */

import type { Change, NumberColumn, Package, PackageKind } from "../data/page_data.ts";

/** Maximum difference in lightness between a package and its functions. */
const SPREAD = 0.015;

const CHANGE_HUES = { more: 52, less: 252 };
/** Lightness and chroma for the smallest and the largest difference. */
const LIGHT_CHANGE = { least: [0.91, 0.045], most: [0.72, 0.165], noise: 0.9 };
const DARK_CHANGE = { least: [0.66, 0.05], most: [0.74, 0.16], noise: 0.62 };

/** Convert a colour from OKLCH (lightness from 0 to 1, chroma, hue in degrees) to sRGB. */
export function oklch(lightness: number, chroma: number, hue: number) {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  // From OKLab to linear sRGB: https://bottosson.github.io/posts/oklab/
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return `#${linear.map(hexOf).join("")}`;
}

function hexOf(linear: number) {
  const bounded = Math.min(1, Math.max(0, linear));
  const value = bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055;
  return Math.round(value * 255).toString(16).padStart(2, "0");
}

/** Return the colour of a package, or of one of its functions if its name is given. */
export function shadeOf(
  { light, dark: night }: PackageColor, dark: boolean, functionName: string | null = null,
) {
  const [lightness, chroma, hue] = dark ? night : light;
  const step = functionName === null ? 0 : ((hash(functionName) % 5) - 2) / 2;
  return oklch(lightness + step * SPREAD, chroma, hue);
}

/** Hash a text by FNV-1a, so that colours are the same on every machine and in every version. */
export function hash(text: string) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** Return the colour of a change; `size` is relative to the largest change. */
export function changeColor(change: Change, size: number, dark: boolean) {
  const { least, most, noise } = dark ? DARK_CHANGE : LIGHT_CHANGE;
  if (change === "noise") return oklch(noise, 0, 0);
  const [lightness, chroma] = least.map((from, i) => from + (most[i] - from) * Math.sqrt(size));
  return oklch(lightness, chroma, CHANGE_HUES[change]);
}

/** Return the colours of the graph, except the fill of functions. */
export function tonesOf(dark: boolean) {
  const tone = (light: string, night: string) => (dark ? night : light);
  return {
    text: "#10131a",
    root: tone("#dfe2e8", "#8b93a3"),
    lane: tone("#eceef2", "#262b36"),
    small: tone("#e9ebef", "#2b303b"),
    match: tone("#a21caf", "#d946ef"),
    matchText: tone("#ffffff", "#14061a"),
    ink: tone("#1a1d24", "#e8eaf0"),
    faint: tone("#6b7280", "#98a1b3"),
    chosen: tone("#3b2a12", "#fff4e0"),
    line: tone("#e3e6eb", "#2b303b"),
    ground: tone("#ffffff", "#14171e"),
    ring: tone("#1d4ed8", "#8ab4ff"),
  };
}

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
