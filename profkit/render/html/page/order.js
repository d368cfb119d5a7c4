/* The order that is chosen: what it was, warnings, the plot of its times, its counts. */
{
  const { make } = profkit;

  profkit.panel("plots", profkit.head.measured?.orders.length > 1 ? "The chosen order" : "The measurement", (body) => {
    const show = () => {
      body.replaceChildren(...about(profkit.currentOrder()));
      showGraph(profkit.currentOrder().run);
    };
    profkit.on("order", show);
    show();
  }, () => profkit.head.kind === "measured" && (profkit.head.measured?.orders.length ?? 0) > 0);

  /** The graph and its tables are of the chosen order; where its calls were not counted there are none. */
  function showGraph(run) {
    const shown = profkit.isNumber(run);
    const { workspace, tabs } = profkit.places;
    if (workspace) workspace.hidden = !shown;
    tabs.hidden = !shown;
    if (shown) profkit.set({ run }, "address");
  }

  function about(order) {
    const { label, variant, what, error, warnings, timing, counts, facts } = order;
    const alone = profkit.head.measured.orders.length === 1;
    return [
      make("h3", { class: "order-name" }, label, variant ? make("span", { class: "variant" }, variant) : null),
      what && what !== label ? make("pre", { class: "statement" }, make("code", {}, what)) : null,
      error ? make("div", { class: "failure" }, make("strong", {}, "It failed."), make("pre", {}, error)) : null,
      profkit.warnings(warnings),
      timing ? timeFigures(timing) : null,
      timing ? profkit.distribution(timing, label) : null,
      counts ? profkit.countsOf(counts, profkit.isNumber(order.run)) : null,
      facts?.length ? profkit.folded("What was measured, and how", profkit.factList(facts), alone) : null,
    ].filter(Boolean);
  }

  /** Median, interval and least time, large. */
  function timeFigures(time) {
    const [median, low, high, min] = profkit.timesAlike([time.median_s, time.low_s, time.high_s, time.min_s]);
    return profkit.keyFigures([
      ["median", median, low ? `95 % between ${low} and ${high}` : "no interval below 6 processes"],
      ["min", min, "of all blocks"],
      ["processes", String(time.processes.length), `from ${profkit.plural(new Set(time.zygotes).size, "zygote")}`],
      ["executions", profkit.exactCount(time.number), "in each block"],
    ]);
  }

  /** Figures that stand for something, each with its name and a remark. */
  profkit.keyFigures = (figures) =>
    make("dl", { class: "key-figures" }, figures.map(([name, value, remark]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, make("strong", {}, value), make("small", {}, remark)))));
}
