/* Two sides of measured orders: ratios with their intervals, the times of both, and the difference in instructions. */
{
  const { draw, isNumber, make } = profkit;
  const comparison = profkit.head.comparison;
  const GREY = new Set(["no-difference", "too-few-processes", "not-compared"]);
  const ROW = 34, TOP = 8, BELOW = 40, RIGHT = 20;

  profkit.panel("comparison", "Comparison", (body) => {
    const { orders } = comparison;
    body.append(profkit.headline(comparison), ...[
      profkit.warnings(comparison.notes ?? []),
      orders.some((order) => isNumber(order.ratio)) ? ratioFigure(orders) : null,
      ...orders.map(sideBySide)].filter(Boolean));
  }, () => Boolean(comparison?.orders));

  const wordOf = (order) => order.verdict.replaceAll("-", " ");
  const kindOf = (order) => (GREY.has(order.verdict) ? "noise" : order.verdict === "slower" ? "more" : "less");

  function ratioFigure(all) {
    const orders = all.filter((order) => isNumber(order.ratio));
    const { a, b } = comparison.names;
    const bounds = ({ low, high }) =>
      (isNumber(low) ? `${profkit.change(low)} to ${profkit.change(high)}` : "–");
    const rows = orders.map((order) =>
      [order.label, profkit.change(order.ratio), bounds(order), wordOf(order), order.sentence]);
    return make("div", {},
      profkit.figure({
        title: "Ratio of times with 95 % intervals", caption: `Time of ${b} against ${a}: right of the line is slower.`,
        described: orders.map(({ label, sentence }) => `${label}: ${sentence}`).join(" "),
      }, (svg, width) => paint(svg, width, orders)),
      profkit.numbersOf("Ratios as a table", ["order", "change", "95 % interval", "verdict", "in words"], rows));
  }

  function paint(svg, width, orders) {
    const left = width < 560 ? 12 : Math.min(240, width * 0.28);
    // Logarithms: half and double lie equally far from the line.
    const ends = orders.flatMap(({ ratio, low, high }) => [ratio, low ?? ratio, high ?? ratio, 1]).map(Math.log);
    const [least, most] = profkit.extent(ends, 0.12);
    const scale = profkit.scale([least, most], [left, width - RIGHT]);
    const at = (ratio) => scale(Math.log(ratio));
    const row = width < 560 ? ROW + 14 : ROW;
    const bottom = TOP + orders.length * row;
    const room = Math.max(3, Math.floor((width - left) / 110));
    const values = profkit.ticks(Math.exp(least), Math.exp(most), room).filter((value) => value > 0);
    profkit.axisBelow(svg, { at, values, texts: values.map(profkit.change), y: bottom, top: TOP });
    svg.append(profkit.stroke(at(1), TOP, at(1), bottom, "plot-zero"));
    svg.append(profkit.label(at(1), bottom + 32, "no difference", { class: "plot-label plot-name" }));
    orders.forEach((order, i) => paintRow(svg, order, { at, left, y: TOP + (i + 0.5) * row, narrow: width < 560 }));
    return bottom + BELOW;
  }

  function paintRow(svg, order, { at, left, y, narrow }) {
    const middle = narrow ? y + 8 : y;
    const { ratio, low = null, high = null } = order;
    profkit.whisker(svg, { at, low, high, middle: ratio, y: middle, size: 6, kind: kindOf(order) });
    const text = order.label.length > 34 ? `${order.label.slice(0, 33)}…` : order.label;
    const [x, base, anchor] = narrow ? [left, y - 9, "start"] : [left - 12, y + 4, "end"];
    svg.append(profkit.label(x, base, text, { "text-anchor": anchor }));
  }

  function sideBySide(order) {
    const { a, b } = comparison.names;
    return make("section", { class: "order-comparison" },
      make("h3", {}, order.label, profkit.badge(wordOf(order), `change-${kindOf(order)}`)),
      order.sentence ? make("p", { class: "sentence" }, order.sentence) : null,
      ...bothTimes(order, [a, b]),
      order.delta?.length ? deltaTable(order.delta) : null);
  }

  /** The times of both sides one above the other, on one scale. */
  function bothTimes({ a, b }, names) {
    const timings = [a, b].filter(Boolean);
    const range = timings.length ? profkit.usualRange(timings) : null;
    return [a, b].map((timing, i) => timing && make("div", { class: "side-times" },
      make("h4", {}, make("span", { class: "faint" }, "AB"[i]), names[i]),
      profkit.distribution(timing, names[i], range)));
  }

  /** Instructions by function: what B executes more or less, as bars from a line in the middle. */
  function deltaTable(rows) {
    const most = Math.max(...rows.map(([, , , delta]) => Math.abs(delta)), 1);
    const number = (value) => profkit.numberCell(profkit.exactCount(value));
    const bar = (delta) => profkit.cell(deltaBar(delta / most), { class: "whisker-cell", "aria-hidden": "true" });
    const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${profkit.exactCount(Math.abs(value))}`;
    const grid = profkit.grid({
      caption: "Instructions of one execution by function: the difference of B to A, largest first.",
      sort: "delta", step: 15, key: ([name]) => name,
      columns: [
        { id: "name", title: "function", rising: true, value: ([name]) => name, cell: ([name]) => profkit.plainHead(name) },
        { id: "a", title: "A", value: ([, a]) => a, cell: ([, a]) => number(a) },
        { id: "b", title: "B", value: ([, , b]) => b, cell: ([, , b]) => number(b) },
        { id: "delta", title: "difference", value: ([, , , delta]) => Math.abs(delta),
          cell: ([, , , delta]) => profkit.numberCell(signed(delta)) },
        { id: "bar", title: "as a bar", wide: true, cell: ([, , , delta]) => bar(delta) },
      ],
    });
    grid.show(rows);
    return grid.element;
  }

  function deltaBar(part) {
    const svg = draw("svg", { viewBox: "0 0 160 14", width: 160, height: 14 });
    const length = Math.abs(part) * 76;
    const kind = `delta-bar ${part > 0 ? "more" : "less"}`;
    svg.append(
      draw("rect", { x: part > 0 ? 80 : 80 - length, y: 2, width: length, height: 10, class: kind }),
      profkit.stroke(80, 0, 80, 14, "plot-base"));
    return svg;
  }
}
