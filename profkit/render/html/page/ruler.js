/* The scale above the graph: round numbers of the run's unit, about one each hundred pixels. */
{
  const SPACING_PX = 110;
  const STEPS = [1, 2, 5, 10];
  const UNITS = [["h", 3600], ["min", 60], ["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
  /** A unit is left for the next larger one when this many of it are shown: 600 s stay seconds. */
  const MOST = 601;

  /**
   * Ticks of a window of weights: their place in pixels and what they say. Each stretch that begins at one
   * of the origins counts from there: threads have their own time.
   */
  profkit.ticksOf = (run, [from, to], widthPx, origins) => {
    const each = run.weight_s ?? 1;
    const step = roundStep(((to - from) * each * SPACING_PX) / widthPx) / each;
    const text = textOf(run, step, to - from);
    return origins.flatMap((origin, i) => {
      const end = Math.min(to, origins[i + 1] ?? to);
      const ticks = [];
      for (let k = Math.max(0, Math.ceil((from - origin) / step - 1e-9)); origin + k * step <= end; k++) {
        ticks.push({ x: ((origin + k * step - from) / (to - from)) * widthPx, text: text(k * step) });
      }
      return ticks;
    });
  };

  function roundStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return power * STEPS.find((step) => step * power >= least * 0.999);
  }

  /** How a weight is written: all of a scale in one unit, with the digits that neighbours need to differ. */
  function textOf(run, step, width) {
    if (run.weight_s === null || run.weight_s === undefined) return (weight) => profkit.format.count(Math.round(weight));
    const seconds = step * run.weight_s;
    const [unit, factor] = UNITS.findLast(([, each]) => width * run.weight_s < MOST * each) ?? UNITS[0];
    const digits = Math.max(0, -Math.floor(Math.log10(seconds / factor) + 1e-9));
    return (weight) => `${((weight * run.weight_s) / factor).toFixed(Math.min(digits, 9))} ${unit}`;
  }
}
