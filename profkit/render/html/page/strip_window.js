/* The strip and the chronological graph: where samples cover the recording, both have the same axis. */
{
  const { draw } = profkit;
  const APART = 0.1;
  const WIDTH = 0.1;

  /** Whether the graph shows one thread in the order of time, about as long as the recording was. */
  profkit.sharesAxis = (recorded_s) => {
    const { view, thread } = profkit.state;
    const run = profkit.currentRun();
    if (view !== "chronological" || !(run.weight_s > 0) || (thread === "all" && run.threads.length > 1)) return false;
    return Math.abs((profkit.currentTree().total[0] * run.weight_s) / recorded_s - 1) < APART;
  };

  /** Let the graph show a tenth of the whole around a part of it. */
  profkit.showAround = (part) => {
    const from = Math.min(1 - WIDTH, Math.max(0, part - WIDTH / 2));
    profkit.set({ range: [from, from + WIDTH] }, "strip");
  };

  /** The window of the graph as a band in each box of the strip; none where the axes differ. */
  profkit.windowBands = (boxes, recorded_s) => {
    const { range } = profkit.state;
    if (!range || !profkit.sharesAxis(recorded_s)) return [];
    return boxes.map(({ x, y, right, bottom }) => {
      const [from, to] = range.map((part) => x + part * (right - x));
      return draw("rect", { x: from, y, width: to - from, height: bottom - y, class: "window-band" });
    });
  };
}
