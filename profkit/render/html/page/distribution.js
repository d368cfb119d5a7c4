/* How the times of an order spread: a histogram of all blocks above a strip of dots for each process. */
{
  const { draw, make } = profkit;
  const HISTOGRAM = 64, TOP = 22, BELOW = 28, RIGHT = 44;
  const HEADS = ["process", "zygote", "blocks", "min", "median", "max"];
  /** How many times as far as the fastest quarter of the blocks a plot reaches from the least one. */
  const REACH = 8;

  /** The figure of a timing with its key and its numbers; figures of one range compare. */
  profkit.distribution = (timing, label, range = profkit.usualRange([timing])) => {
    const rows = rowsOf(timing);
    const named = { title: `Times of ${label}`, described: wordsOf(timing, rows) };
    return make("div", { class: "distribution" },
      profkit.figure(named, (svg, width) => paint(svg, width, { rows, timing, range })),
      keyOf(timing),
      profkit.numbersOf("Times of each process as a table", HEADS, numbers(rows)));
  };

  /** Processes ordered by their zygote: {process, zygote, times_s, first: whether a zygote begins here}. */
  function rowsOf(timing) {
    const { processes, zygotes } = timing;
    const rows = processes.map((times_s, process) => ({ process, zygote: zygotes[process] ?? 0, times_s }));
    rows.sort((a, b) => a.zygote - b.zygote || a.process - b.process);
    return rows.map((row, i) => ({ ...row, first: i === 0 || rows[i - 1].zygote !== row.zygote }));
  }

  const sorted = (times_s) => [...times_s].sort((a, b) => a - b);
  const middle = (times_s) => {
    const [values, half] = [sorted(times_s), times_s.length >> 1];
    return times_s.length % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
  };

  /** From the least time to where undisturbed blocks end: the others would squeeze them. */
  profkit.usualRange = (timings) => profkit.extent(timings.flatMap(({ processes, median_s, high_s }) => {
    const all = sorted(processes.flat());
    const far = all[0] + REACH * (all[Math.floor(all.length / 4)] - all[0]);
    const least = processes.map((times_s) => Math.min(...times_s));
    const usual = all.filter((time_s) => time_s <= far);
    return [all[0], usual.at(-1), median_s, high_s ?? median_s, ...least];
  }), 0.04);

  function paint(svg, width, { rows, timing, range }) {
    const left = width < 520 ? 40 : 88;
    const each = rows.length > 30 ? 9 : 15;
    const at = profkit.scale(range, [left, width - RIGHT]);
    const top = TOP + HISTOGRAM + 12;
    const gaps = rows.filter((row, i) => i && row.first).length;
    const bottom = top + rows.length * each + gaps * 6;
    const values = profkit.ticks(...range, Math.max(3, Math.floor((width - left - RIGHT) / 110)));
    profkit.axisBelow(svg, { at, values, texts: profkit.axisText("time", values), y: bottom + 2, top: TOP });
    paintMedian(svg, timing, at, bottom + 2);
    paintHistogram(svg, rows, range, at);
    let y = top - each / 2;
    rows.forEach((row, i) => {
      y += each + (i && row.first ? 6 : 0);
      paintRow(svg, row, { y, each, at, range, left, width });
    });
    return bottom + BELOW;
  }

  function paintMedian(svg, { median_s, low_s, high_s }, at, bottom) {
    const x = at(median_s);
    if (low_s !== null) {
      const width = Math.max(1, at(high_s) - at(low_s));
      svg.append(draw("rect", { x: at(low_s), y: TOP, width, height: bottom - TOP, class: "interval-band" }));
    }
    svg.append(profkit.stroke(x, TOP - 4, x, bottom, "median-line"));
    svg.append(profkit.label(x, TOP - 9, `median ${profkit.exactTime(median_s)}`, { class: "plot-label median-label" }));
  }

  function paintHistogram(svg, rows, [low, high], at) {
    const all = rows.flatMap((row) => row.times_s).filter((time) => time <= high);
    const many = Math.min(60, Math.max(8, Math.round(2 * Math.sqrt(all.length))));
    const bins = new Array(many).fill(0);
    for (const time of all) bins[Math.min(many - 1, Math.floor(((time - low) / (high - low)) * many))]++;
    const most = Math.max(...bins, 1);
    const step = (at(high) - at(low)) / many;
    const base = TOP + HISTOGRAM;
    const width = Math.max(1, step - 1);
    bins.forEach((count, i) => {
      const height = (count / most) * HISTOGRAM;
      const x = at(low) + i * step + 0.5;
      if (count) svg.append(draw("rect", { x, y: base - height, width, height, class: "histogram-bar" }));
    });
    svg.append(profkit.stroke(at(low), base, at(high), base, "plot-base"));
    svg.append(profkit.label(at(low) - 6, TOP + 10, String(most), { "text-anchor": "end" }));
    svg.append(profkit.label(at(low) - 6, base, "blocks", { "text-anchor": "end", class: "plot-label plot-name" }));
  }

  function paintRow(svg, row, { y, each, at, range, left, width }) {
    if (row.first) {
      const text = left < 60 ? `z${row.zygote}` : `zygote ${row.zygote}`;
      svg.append(profkit.label(left - 8, y + 4, text, { "text-anchor": "end" }));
    }
    svg.append(profkit.stroke(left, y, width - RIGHT, y, "plot-row"));
    const inside = row.times_s.filter((time) => time <= range[1]);
    // One path for a row: a thousand blocks are one element. The heights tell dots apart that would cover each other.
    const height = (i) => y + (((i * 0.618) % 1) - 0.5) * each * 0.5;
    const dots = inside.map((time, i) => `M${at(time).toFixed(1)},${height(i).toFixed(1)}h0`);
    const least = Math.min(...row.times_s);
    svg.append(draw("path", { d: dots.join(""), class: "block-dots" }));
    svg.append(draw("circle", { cx: at(least), cy: y, r: Math.min(4, each / 2.5), class: "least-dot" }));
    const beyond = row.times_s.length - inside.length;
    if (beyond) svg.append(profkit.label(width - RIGHT + 6, y + 4, `+${beyond} →`, { "text-anchor": "start" }));
  }

  function keyOf({ low_s }) {
    const sign = (kind) => make("span", { class: `key-sign ${kind}`, "aria-hidden": "true" });
    const entry = (kind, text) => make("li", {}, sign(kind), text);
    return make("ul", { class: "plot-key" },
      entry("sign-least", "least block of a process"), entry("sign-block", "its other blocks"),
      entry("sign-median", `median of the least blocks${low_s === null ? "" : ", with its 95 % interval"}`),
      make("li", {}, "+n → slower blocks beyond the edge"));
  }

  function wordsOf({ median_s, low_s, high_s, min_s }, rows) {
    const [median, low, high, min] = profkit.timesAlike([median_s, low_s, high_s, min_s]);
    return `${rows.length} processes; median ${median}${low ? `, 95 % between ${low} and ${high}` : ""}, min ${min}.`;
  }

  function numbers(rows) {
    const figures = rows.map(({ times_s }) => [Math.min(...times_s), middle(times_s), Math.max(...times_s)]);
    const texts = profkit.timesAlike(figures.flat());
    return rows.map(({ process, zygote, times_s }, i) =>
      [process + 1, zygote, times_s.length, ...texts.slice(3 * i, 3 * i + 3)].map(String));
  }
}
