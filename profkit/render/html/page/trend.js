/* The plot of a trend: a point for each commit with its interval, which the pointer and keys walk over. */
{
  const { draw, isNumber, label, make, stroke } = profkit;
  const LEFT = 84, RIGHT = 24, TOP = 16, HEIGHT = 240, BELOW = 62;
  const WIDEST = 150, NARROW = 16, LEVEL = 76;

  /**
   * The plot of `view`: `points` as the head has them, `isTime`, `name` and `summary` in words, `say(i)` for a
   * point, `onChoose(i or null)`. What it draws it keeps in `view`.
   */
  profkit.trendOf = (view) => {
    const sure = view.points.some(({ low }) => isNumber(low)) ? "; bars are 95 % intervals" : "";
    const figure = profkit.figure({
      title: view.name, described: view.summary,
      caption: `By commit, the newest on the right${sure}. The axis does not begin at zero.`,
    }, (svg, width) => paint(view, svg, width));
    view.slider = make("div", {
      class: "strip-slider", role: "slider", tabindex: "0", "aria-label": `Commit: ${view.name}`,
      "aria-valuemin": 1, "aria-valuemax": view.points.length, "aria-valuenow": view.points.length,
      "aria-valuetext": view.summary, keydown: (event) => onKey(view, event),
      pointermove: (event) => choose(view, nearest(view, event)), pointerleave: () => choose(view, null),
    }, figure);
    view.readout = make("output", { class: "strip-readout" }, view.summary);
    view.choose = (i) => choose(view, i);
    return make("div", {}, view.slider, view.readout, keyOf(view));
  };

  /** A commit as people write it: its first eight digits; other names stay. */
  profkit.shortCommit = (commit) => (/^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit);

  function paint(view, svg, width) {
    const { points, isTime } = view;
    const range = profkit.extent(points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]), 0.08);
    const bottom = TOP + HEIGHT;
    const up = profkit.scale(range, [bottom, TOP]);
    const step = Math.min(WIDEST, (width - LEFT - RIGHT) / points.length);
    const at = (i) => LEFT + (i + 0.5) * step;
    const values = profkit.ticks(...range, 5);
    profkit.axisLeft(svg, {
      at: up, values, texts: profkit.axisText(isTime ? "time" : "count", values), left: LEFT, right: width - RIGHT,
    });
    const line = points.map(({ value }, i) => `${at(i).toFixed(1)},${up(value).toFixed(1)}`).join(" ");
    svg.append(draw("polyline", { points: line, class: "trend-line" }));
    view.marks = points.map((point, i) => svg.appendChild(markOf(point, at(i), up, step < NARROW ? 3.2 : 5)));
    paintCommits(svg, points, at, step, bottom);
    Object.assign(view, { svg, width, step });
    return bottom + BELOW;
  }

  function markOf({ value, low, high, warnings }, x, up, size) {
    const mark = draw("g", { class: `trend-point ${warnings.length ? "warned" : "sure"}` });
    const y = up(value);
    if (isNumber(low)) {
      mark.append(stroke(x, up(low), x, up(high), "whisker"));
      for (const end of [low, high]) mark.append(stroke(x - size + 0.5, up(end), x + size - 0.5, up(end), "whisker"));
    }
    // A shape of its own, since not everybody sees a colour.
    const triangle = `M${x},${y - size * 1.3}l${size * 1.3},${size * 2.3}h${-size * 2.6}z`;
    mark.append(warnings.length ? draw("path", { d: triangle, class: "point" })
      : draw("circle", { cx: x, cy: y, r: size, class: "point" }));
    return mark;
  }

  /** As many commits as there is room for, the last one always among them. */
  function paintCommits(svg, points, at, step, bottom) {
    const every = Math.max(1, Math.ceil(18 / step));
    points.forEach(({ commit }, i) => {
      if ((points.length - 1 - i) % every) return;
      const [x, y] = [at(i), bottom + 16];
      const aslant = { "text-anchor": "end", transform: `rotate(-40 ${x + 3} ${y})` };
      const text = profkit.shortCommit(commit).replace(/^run /, "").slice(0, 10);
      svg.append(step < LEVEL ? label(x + 3, y, text, aslant) : label(x, y, text));
    });
  }

  const keyOf = ({ points }) => (points.some(({ warnings }) => warnings.length)
    ? make("ul", { class: "plot-key" }, make("li", {}, "▲ in warning: see the table")) : null);

  function onKey(view, event) {
    const last = view.points.length - 1;
    const from = view.chosen ?? last + 1;
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -last - 1, End: last + 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(view, Math.min(last, Math.max(0, from + step)));
  }

  function nearest(view, event) {
    const bounds = view.svg.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * view.width;
    return Math.min(view.points.length - 1, Math.max(0, Math.floor((x - LEFT) / view.step)));
  }

  /** Point at a commit, or at none, in the plot and beside it. */
  function choose(view, i) {
    view.chosen = i ?? undefined;
    view.readout.textContent = i === null ? view.summary : view.say(i);
    view.slider.setAttribute("aria-valuetext", view.readout.textContent);
    view.slider.setAttribute("aria-valuenow", (i ?? view.points.length - 1) + 1);
    view.marks?.forEach((mark, k) => mark.classList.toggle("chosen", k === i));
    view.onChoose(i);
  }
}
