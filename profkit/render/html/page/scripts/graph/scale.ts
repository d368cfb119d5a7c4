/* Scale above the graph: round numbers in the run's unit, at least ninety pixels apart. */

import type { Range, Run } from "../data/page_data.ts";
import { formatBytes, formatCount } from "../text/numbers.ts";
import type { GraphView } from "./views.ts";

/** The unit of weights; with `whole`, they are shown as parts of it. */
type Unit = Pick<Run, "weight_s" | "unit"> & { whole?: number };

const SPACING_PX = 90;
const CLEAR_PX = 36;
/** Minimum width of a thread for its line and name; those of hundreds of threads would hide the samples. */
const MIN_MARKED_PX = 24;
const STEPS = [1, 2, 5, 10];
const UNITS: [name: string, seconds: number][] =
  [["h", 3600], ["min", 60], ["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
/** Number of units from which the next larger one is used: 600 s stay seconds. */
const MOST = 601;

/** Return the scale of a view in a window: ticks, and names at the beginning of threads. */
export function scaleOf(run: Unit & Pick<Run, "threads">, view: GraphView, window: Range, widthPx: number) {
  if (view.total === 0) return { ticks: [], marks: [] };
  const place = (weight: number) => ((weight - window[0]) / (window[1] - window[0])) * widthPx;
  const marks = view.marks().map(({ thread, at }, i, all) => {
    const x = place(at);
    return { x, room: place(all[i + 1]?.at ?? view.total) - x, text: run.threads[thread].name };
  });
  return {
    ticks: ticksOf(run, window, widthPx, view.origins(window)),
    marks: marks.filter(({ x, room }) => x >= 0 && x < widthPx && room >= MIN_MARKED_PX),
  };
}

/**
 * Return the ticks of a window of weights: positions in pixels, and texts. They count from the last origin
 * before them, because each thread has its own time.
 */
export function ticksOf(run: Unit, [from, to]: Range, widthPx: number, origins: number[]) {
  const [unit, factor] = unitOf(run, to - from);
  const perTick = ((to - from) * SPACING_PX) / widthPx / factor;
  const isCount = !unit && run.unit !== "bytes";
  const step = roundStep(isCount ? Math.max(1, perTick) : perTick);
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const number = run.unit === "bytes" ? formatBytes : formatCount;
  const text = (k: number) =>
    (unit ? `${k === 0 ? 0 : (k * step).toFixed(digits)} ${unit}` : number(k * step));
  // If several threads have their own scale, their names are at the beginning.
  const first = origins.length > 1 ? 1 : 0;
  return origins.flatMap((origin, i) => {
    // Space for the name of the next thread.
    const room = (CLEAR_PX / widthPx) * (to - from);
    const end = i + 1 < origins.length ? Math.min(to, origins[i + 1] - room) : to;
    const ticks = [];
    const least = Math.ceil((from - origin) / factor / step - 1e-9);
    for (let k = Math.max(first, least); origin + k * step * factor <= end; k++) {
      ticks.push({ x: ((origin + k * step * factor - from) / (to - from)) * widthPx, text: text(k) });
    }
    return ticks;
  });
}

/** Return the unit of a scale, and the weight of one unit. */
function unitOf({ weight_s, whole }: Unit, width: number): [unit: string, weight: number] {
  if (whole) return ["%", whole / 100];
  if (weight_s === null) return ["", 1];
  const [unit, seconds] = UNITS.findLast(([, each]) => width * weight_s < MOST * each) ?? UNITS[0];
  return [unit, seconds / weight_s];
}

function roundStep(least: number) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * (STEPS.find((step) => step * power >= least * 0.999) ?? 10);
}
