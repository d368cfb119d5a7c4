/* The scale above the graph: round numbers of the run's unit, about one each hundred pixels. */
{
  const SPACING_PX = 110;
  const STEPS = [1, 2, 5, 10];

  /** Ticks of a window of weights: their place in pixels and what they say. */
  profkit.ticksOf = (run, [from, to], widthPx) => {
    const each = run.weight_s ?? 1;
    const step = roundStep(((to - from) * each * SPACING_PX) / widthPx) / each;
    const ticks = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-9); i++) {
      ticks.push({ x: ((i * step - from) / (to - from)) * widthPx, text: textOf(run, i * step, step) });
    }
    return ticks;
  };

  function roundStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return power * STEPS.find((step) => step * power >= least * 0.999);
  }

  /** With as many digits as neighbours need to differ: 12.50 s beside 12.55 s. */
  function textOf(run, weight, step) {
    if (run.weight_s === null || run.weight_s === undefined) return profkit.format.count(Math.round(weight));
    const seconds = weight * run.weight_s;
    const [unit, factor] = [["s", 1], ["ms", 1e-3], ["µs", 1e-6]].find(([, each]) => seconds >= each) ?? ["s", 1];
    const digits = Math.max(0, -Math.floor(Math.log10((step * run.weight_s) / factor) + 1e-9));
    return `${(seconds / factor).toFixed(Math.min(digits, 9))} ${unit}`;
  }
}
