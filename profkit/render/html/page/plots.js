/* What plots are made of: scales, ticks, axes, and a frame that is drawn anew for each width. */
{
  const { draw, make } = profkit;

  /** A linear map from `[low, high]` to `[from, to]`; a domain of one value lies in the middle. */
  profkit.scale = ([low, high], [from, to]) => (value) =>
    high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2;

  /** About `wanted` round values within `[low, high]`: steps of 1, 2 or 5 times a power of ten. */
  profkit.ticks = (low, high, wanted = 5) => {
    if (!(high > low)) return [low];
    const rough = (high - low) / Math.max(1, wanted);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? 10 * power;
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return Array.from({ length: Math.max(0, last - first) + 1 }, (_, i) => (first + i) * step);
  };

  /** `[low, high]` of numbers with some room at both ends. */
  profkit.extent = (values, room = 0.05) => {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (value === null || !Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const pad = (high - low || Math.abs(high) || 1) * room;
    return low > high ? [0, 1] : [low - pad, high + pad];
  };

  /**
   * A figure whose picture `paint(svg, width)` draws for the room there is, and anew when that changes;
   * `paint` returns the height. `title` names the picture, `described` says in words what it shows.
   */
  profkit.figure = ({ title, described, caption = null, least = 260 }, paint) => {
    const holder = make("div", { class: "plot" });
    const repaint = (width) => {
      const svg = draw("svg", { role: "img", width: "100%", "aria-label": title });
      svg.append(draw("title", {}, title), draw("desc", {}, described));
      const height = paint(svg, width);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      holder.replaceChildren(svg);
    };
    onWidth(holder, least, repaint);
    return make("figure", { class: "plot-figure" }, caption && make("figcaption", {}, caption), holder);
  };

  function onWidth(element, least, repaint) {
    let last = 0;
    const watcher = new ResizeObserver(([entry]) => {
      const width = Math.max(least, Math.floor(entry.contentRect.width));
      if (entry.contentRect.width === 0 || width === last) return;
      last = width;
      repaint(width);
    });
    watcher.observe(element);
  }

  /** Text of a picture; `anchor` is start, middle or end. */
  profkit.label = (x, y, text, attributes = {}) =>
    draw("text", { x, y, "text-anchor": "middle", class: "plot-label", ...attributes }, text);

  /** A straight line. */
  profkit.stroke = (x1, y1, x2, y2, kind) => draw("line", { x1, y1, x2, y2, class: kind });

  /** A horizontal axis below a plot: gridlines up to `top`, values below `y`; labels that would touch are left out. */
  profkit.axisBelow = (svg, { at, values, texts, y, top }) => {
    let free = -Infinity;
    const width = Math.max(...texts.map((text) => text.length)) * 6.5;
    values.forEach((value, i) => {
      const x = at(value);
      svg.append(profkit.stroke(x, top, x, y, "plot-grid"));
      if (x - width / 2 < free) return;
      svg.append(profkit.label(x, y + 16, texts[i]));
      free = x + width / 2 + 8;
    });
  };

  /** A vertical axis on the left: gridlines from `left` to `right`, values left of it. */
  profkit.axisLeft = (svg, { at, values, texts, left, right }) => {
    values.forEach((value, i) => {
      const y = at(value);
      svg.append(profkit.stroke(left, y, right, y, "plot-grid"));
      svg.append(profkit.label(left - 6, y + 4, texts[i], { "text-anchor": "end" }));
    });
  };

  /** An interval with its middle: a line with ends and a point; `kind` colours it. */
  profkit.whisker = (svg, { at, low, high, middle, y, size = 5, kind = "" }) => {
    if (low !== null && high !== null) {
      svg.append(profkit.stroke(at(low), y, at(high), y, `whisker ${kind}`));
      for (const x of [at(low), at(high)]) svg.append(profkit.stroke(x, y - size, x, y + size, `whisker ${kind}`));
    }
    svg.append(draw("circle", { cx: at(middle), cy: y, r: size - 0.5, class: `point ${kind}` }));
  };

  /** A table that opens below a picture and says the same in numbers. */
  profkit.numbersOf = (summary, head, rows) =>
    make("details", { class: "numbers" },
      make("summary", {}, summary),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": summary },
        make("table", { class: "figures" },
          make("thead", {}, make("tr", {}, head.map((text) => make("th", { scope: "col" }, text)))),
          make("tbody", {}, rows.map(([first, ...cells]) => make("tr", {},
            make("th", { scope: "row" }, first), cells.map((cell) => make("td", { class: "number" }, cell))))))));
}
