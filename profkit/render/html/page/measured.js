/* Measured orders: a table of all, and the one that is chosen, which its own panel tells in full. */
{
  const { draw, make } = profkit;
  const FAR_APART = 20;
  const orders = profkit.head.measured?.orders ?? [];

  /** The order that is chosen; undefined on other pages. */
  profkit.currentOrder = () => orders[profkit.state.order] ?? orders[0];

  profkit.panel("measured", `${orders.length} orders`, (body) => {
    const grid = profkit.grid({
      caption: "Times and instructions of one execution. The median is that of the processes' least times.",
      columns: columns(), sort: "order", pick: (order) => profkit.set({ order }), step: 100,
    });
    body.append(grid.element, sharedFacts() ?? "");
    grid.show(orders.keys());
    const mark = () => grid.mark(profkit.state.order);
    profkit.on("order", mark);
    mark();
  }, () => orders.length > 1);

  function sharedFacts() {
    const { facts } = profkit.head.measured;
    return facts?.length ? profkit.folded("What holds of all of them", profkit.factList(facts)) : null;
  }

  function columns() {
    const times = orders.map((order) => order.timing);
    const medians = profkit.timesAlike([...times.map((time) => time?.median_s), ...times.map((time) => time?.min_s)]);
    const counts = orders.map((order) => order.counts?.stripped ?? null);
    const at = whiskerScale(times.filter(Boolean));
    const number = profkit.numberCell;
    const timed = [
      { id: "median", title: "median", value: (i) => times[i]?.median_s ?? null,
        cell: (i) => number(make("strong", {}, medians[i])) },
      { id: "sure", title: "±", wide: true, hint: "half of the median's 95 % interval, as a part of it",
        value: (i) => sureness(times[i]), cell: (i) => number(sureText(times[i])) },
      { id: "interval", title: "on one scale", wide: true,
        cell: (i) => profkit.cell(miniature(times[i], at) ?? "", { class: "whisker-cell" }) },
      { id: "min", title: "min", wide: true, value: (i) => times[i]?.min_s ?? null,
        cell: (i) => number(medians[orders.length + i]) },
      { id: "blocks", title: "processes × blocks", wide: true, number: true,
        cell: (i) => profkit.cell(blocksOf(times[i]), { class: "number faint" }) },
    ];
    const counted = [{
      id: "instructions", title: "instructions", hint: "without memory allocators", value: (i) => counts[i],
      cell: (i) => number(profkit.exactCount(counts[i])),
    }];
    return [
      { id: "order", title: "order", rising: true, value: (i) => i, cell: nameCell },
      ...(times.some(Boolean) ? timed : []),
      ...(counts.some((count) => count !== null) ? counted : []),
      { id: "warnings", title: "warnings", wide: true, number: false,
        value: (i) => (orders[i].error ? 100 : orders[i].warnings.length),
        cell: (i) => profkit.cell(trustOf(i) ?? "none", { class: trustOf(i) ? null : "faint" }) },
    ];
  }

  function nameCell(i) {
    const { label, variant, what } = orders[i];
    return make("th", { scope: "row", class: "name" },
      profkit.button(label, () => {}, { class: "link", title: what === label ? null : what }),
      variant ? make("span", { class: "variant" }, variant) : null,
      make("span", { class: "narrow-only" }, trustOf(i)));
  }

  /** What speaks against an order's numbers, as a badge; null for nothing. */
  function trustOf(i) {
    const { warnings, error } = orders[i];
    if (error) return profkit.badge("failed", "tone-bad");
    return warnings.length ? profkit.badge(profkit.plural(warnings.length, "warning"), "tone-warn", warnings.join("\n")) : null;
  }

  /** Half of the interval as a part of the median; null where there is none. */
  const sureness = (time) => (time?.low_s > 0 ? (time.high_s - time.low_s) / 2 / time.median_s : null);

  function sureText(time) {
    const part = sureness(time);
    if (part === null) return "";
    return part > 0 && part < 0.0005 ? "<0.1 %" : `${profkit.decimals(part * 100, part < 0.0995 ? 1 : 0)} %`;
  }

  const blocksOf = (time) => {
    if (!time) return "";
    const blocks = time.processes.map((process) => process.length);
    return `${time.processes.length} × ${Math.min(...blocks)}`;
  };

  /** One scale for all cells: of logarithms where the times lie far apart. */
  function whiskerScale(times) {
    const bounds = times.flatMap(({ low_s, high_s, median_s }) => [low_s ?? median_s, high_s ?? median_s]);
    const ends = bounds.filter((end) => end > 0);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const map = high > low * FAR_APART ? Math.log10 : (value) => value;
    const scale = profkit.scale(profkit.extent([map(low), map(high)], 0.04), [4, 136]);
    return (value) => scale(map(value));
  }

  function miniature(time, at) {
    // Logarithms know no zero.
    if (!time || !((time.low_s ?? time.median_s) > 0)) return null;
    const svg = draw("svg", { viewBox: "0 0 140 18", width: 140, height: 18, "aria-hidden": "true" });
    svg.append(profkit.stroke(2, 9, 138, 9, "plot-grid"));
    profkit.whisker(svg, { at, low: time.low_s, high: time.high_s, middle: time.median_s, y: 9, size: 4 });
    return svg;
  }
}
