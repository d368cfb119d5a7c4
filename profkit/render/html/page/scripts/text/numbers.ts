/*
 * Formatting of numbers. Times, sizes, counts and shares of samples read as in text reports; numbers of
 * measurements in a column have one unit and the same decimals.
 */

import type { Run } from "../data/page_data.ts";

type Unit = [unit: string, factor: number];

const SECONDS: Unit[] =
  [["d", 86400], ["h", 3600], ["min", 60], ["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
const BYTES: Unit[] = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];
const COUNTS: Unit[] = [["T", 1e12], ["G", 1e9], ["M", 1e6]];
const MEASURED_TIMES: Unit[] = [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
const AXIS_COUNTS: Unit[] = [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]];
/** Ratio of times above which each has its own unit. */
const FAR_APART = 1000;
const digits = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function threeDigits(value: number) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** Format a part of 1 as a percentage with `digits` decimals; values above 0 never read as 0. */
export function formatPercent(part: number, places: number) {
  const smallest = 10 ** -places;
  const percent = part * 100;
  if (percent > 0 && percent < smallest / 2) return `<${smallest.toFixed(places)} %`;
  return `${evened(percent, places).toFixed(places)} %`;
}

/** Round half to even, as Python does: 12.5 becomes 12, 13.5 becomes 14. */
function evened(number: number, places: number) {
  const steps = number * 10 ** places;
  const isTie = Number.isInteger(number * 4) && Math.abs(steps % 1) === 0.5;
  return isTie ? (2 * Math.round(steps / 2)) / 10 ** places : number;
}

/** The quantile of the normal distribution that 2.5 % of its values exceed. */
const Z_95 = 1.959963984540054;

/**
 * Return the 95 % confidence interval of a share, if `weight` of `total` samples hit: Wilson's score
 * interval, as in text reports.
 */
export function shareInterval(weight: number, total: number): [low: number, high: number] {
  if (total === 0) return [0, 1];
  const [share, z2] = [weight / total, Z_95 ** 2];
  const centre = (share + z2 / (2 * total)) / (1 + z2 / total);
  const spread = Math.sqrt((share * (1 - share)) / total + z2 / (4 * total * total));
  const half = (Z_95 / (1 + z2 / total)) * spread;
  return [weight === 0 ? 0 : centre - half, weight === total ? 1 : centre + half];
}

/** Format a duration with three digits in the largest readable unit: `1.23 ms`; 90 s and 90 min stay. */
export function formatTime(seconds: number) {
  if (seconds === 0) return "0 s";
  const size = Math.abs(seconds);
  const [unit, factor] =
    SECONDS.find(([, each]) => size >= each * (each > 1 ? 1.5 : 0.9995)) ?? SECONDS[SECONDS.length - 1];
  return `${threeDigits(seconds / factor)} ${unit}`;
}

/** Format a size: `1.23 MiB`. */
export function formatBytes(count: number) {
  const [unit, factor] = BYTES.find(([, each]) => Math.abs(count) >= each) ?? ["B", 1];
  return factor === 1 ? `${digits.format(count)} B` : `${threeDigits(count / factor)} ${unit}`;
}

/** Format a count with all digits up to a million, then as `1.23 M`. */
export function formatCount(number: number) {
  const [unit, factor] = COUNTS.find(([, each]) => Math.abs(number) >= each) ?? ["", 1];
  return factor === 1 ? digits.format(number) : `${threeDigits(number / factor)} ${unit}`;
}

/** Format a difference of shares in points, with its sign: `+2.1`. */
export const formatPoints = (part: number) =>
  `${part > 0 ? "+" : part < 0 ? "−" : ""}${Math.abs(part * 100).toFixed(1)}`;

/** Return whether the weights of a run are times. */
export const isTimed = (run: Pick<Run, "weight_s">): run is { weight_s: number } =>
  typeof run.weight_s === "number";

/** Format a weight of a run in its unit: time if the weights are times, else samples, bytes and so on. */
export function formatWeight(run: Pick<Run, "weight_s" | "unit">, amount: number) {
  if (isTimed(run)) return formatTime(amount * run.weight_s);
  if (run.unit === "bytes") return formatBytes(amount);
  return `${countOf(run, amount)} ${amount === 1 ? run.unit.replace(/s$/, "") : run.unit}`;
}

/** Format a weight that is no time: instructions are exact, so all digits are shown. */
export const countOf = (run: Pick<Run, "unit">, amount: number) =>
  (run.unit === "instructions" ? exactCount : formatCount)(amount);

/** Return whether a value in the head is known; unknown values are null. */
export const isNumber = (value: unknown): value is number => typeof value === "number";

/** Format a number with separated thousands and `digits` decimals. */
export const decimals = (value: number, places: number) =>
  value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });

/**
 * Format times in the unit of the shortest, which has four digits. If they are far apart, each has its own
 * unit. The text of an unknown time is "".
 */
export function timesAlike(times_s: (number | null | undefined)[]) {
  const sizes = times_s.filter(isNumber).filter((time) => time > 0);
  const least = Math.min(...sizes);
  const apart = Math.max(...sizes) > least * FAR_APART;
  return times_s.map((time) => (isNumber(time) ? inUnitOf(apart ? time : least, time) : ""));
}

function inUnitOf(reference_s: number, time_s: number) {
  if (!(reference_s > 0) || !Number.isFinite(reference_s)) return "0 s";
  const [unit, factor] = unitOf(reference_s);
  return `${decimals(time_s / factor, fourDigits(reference_s / factor))} ${unit}`;
}

const unitOf = (size_s: number) => MEASURED_TIMES.find(([, factor]) => size_s >= factor) ?? MEASURED_TIMES[3];

const fourDigits = (size: number) => (size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0);

/** Format one time with four digits. */
export const exactTime = (time_s: number) => timesAlike([time_s])[0];

/** Format a count, with one decimal if it is small and not whole. The text of an unknown count is "". */
export function exactCount(value: number | null | undefined) {
  if (!isNumber(value)) return "";
  const text = decimals(Math.abs(value), Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 1);
  return value < 0 ? `−${text}` : text;
}

/** Format a number with its noun: `1 run`, `2 runs`. */
export const plural = (number: number, noun: string) =>
  `${exactCount(number)} ${noun}${number === 1 ? "" : "s"}`;

/** Factors of units, by which the numbers of a column compare. */
const FACTORS = new Map<string | undefined, number>(
  [...SECONDS, ...BYTES, ...AXIS_COUNTS].filter(([unit]) => unit !== "k"));

/** Return the number at the beginning of a text, in the smallest unit; null if there is none, or a date. */
export function numberIn(text: string) {
  const [, sign, number, unit] = /^([<+−±×÷]?) ?(\d[\d,.]*)(?![\d,.-])(?: (\S+))?/.exec(text) ?? [];
  if (number === undefined) return null;
  const size = Number(number.replaceAll(",", "")) * (FACTORS.get(unit) ?? 1);
  if (sign === "×") return 100 * (size - 1);
  if (sign === "÷") return 100 * (1 / size - 1);
  return sign === "−" ? -size : sign === "<" ? size / 2 : size;
}

/** Format the values of an axis in one unit, with just enough decimals to distinguish them. */
export function axisTexts(kind: "time" | "count", values: number[]) {
  const most = Math.max(...values.map(Math.abs));
  const [unit, factor] =
    kind === "time" ? unitOf(most) : AXIS_COUNTS.find(([, size]) => most >= 10 * size) ?? ["", 1];
  const places = placesOf(values.map((value) => value / factor));
  return values.map((value) => `${decimals(value / factor, places)} ${unit}`.trimEnd());
}

function placesOf(values: number[]) {
  // A single value gets three digits.
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : Math.abs(values[0]) / 100;
  return step > 0 ? Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))) : 0;
}
