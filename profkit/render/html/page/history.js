/* The trend of a label over commits: a point for each, its interval, its doubts, and the same as a table. */
{
  const { draw, make } = profkit;
  const record = profkit.head.history;
  const LEFT = 84, RIGHT = 24, TOP = 16, HEIGHT = 260, BELOW = 64;
  const NAMES = { median_s: "median time", instructions: "instructions", per_call_s: "time of one call" };

  profkit.panel("history", "History", (body) => {
    const view = { points: record.points, chosen: null, marks: [], rows: [] };
    view.texts = textsOf(view.points.map((point) => point.value));
    view.readout = make("output", { class: "strip-readout" }, summaryOf(view));
    view.picture = profkit.figure({
      title: `${NAMES[record.measure]} of ${record.label} over ${view.points.length} commits`, described: summaryOf(view),
      caption: `${NAMES[record.measure]} by commit, oldest first; bars are 95 % intervals. The axis does not begin at zero.`,
    }, (svg, width) => paint(view, svg, width));
    body.append(make("div", { class: "history" },
      make("div", { class: "history-plot" }, walker(view), view.readout, keyOf(view)), tableOf(view)));
  }, () => Boolean(record?.points.length));

  const isTime = record?.measure !== "instructions";
  const textsOf = (values) => (isTime ? profkit.timesAlike(values) : values.map(profkit.exactCount));
  const short = (commit) => (/^[0-9a-f]{12,}/.test(commit) ? commit.slice(0, 8) : commit);
  const known = (value) => typeof value === "number";

  function summaryOf({ points, texts }) {
    const [first, last] = [points[0], points.at(-1)];
    if (points.length === 1) return `${short(first.commit)}: ${texts[0]}`;
    const change = first.value > 0 ? `, ${profkit.change(last.value / first.value)}` : "";
    return `From ${short(first.commit)} to ${short(last.commit)}: ${texts[0]} to ${texts.at(-1)}${change}`;
  }

  function sayPoint({ points, texts }, i) {
    const { commit, started, low, high, runs, doubts } = points[i];
    const ends = known(low) ? textsOf([low, high]) : null;
    return [short(commit), texts[i], ends ? `95 % between ${ends[0]} and ${ends[1]}` : "no interval",
      `${runs} run${runs === 1 ? "" : "s"}`, started.slice(0, 10), ...doubts].join(" · ");
  }

  /** The picture as one thing that arrow keys walk over, point by point. */
  function walker(view) {
    view.walker = make("div", {
      class: "strip-slider", role: "slider", tabindex: "0", "aria-label": "Commit", "aria-valuemin": 1, "aria-valuemax": view.points.length,
      "aria-valuenow": view.points.length, "aria-valuetext": summaryOf(view),
      keydown: (event) => onKey(view, event), pointermove: (event) => choose(view, nearest(view, event)),
      pointerleave: () => choose(view, null),
    }, view.picture);
    return view.walker;
  }

  function onKey(view, event) {
    const last = view.points.length - 1;
    const from = view.chosen ?? last + 1;
    const to = { ArrowLeft: from - 1, ArrowDown: from - 1, ArrowRight: from + 1, ArrowUp: from + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(view, Math.min(last, Math.max(0, to)));
  }

  function nearest(view, event) {
    const bounds = view.svg.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * view.width;
    const step = (view.width - LEFT - RIGHT) / view.points.length;
    return Math.min(view.points.length - 1, Math.max(0, Math.floor((x - LEFT) / step)));
  }

  function choose(view, i) {
    view.chosen = i;
    view.readout.textContent = i === null ? summaryOf(view) : sayPoint(view, i);
    view.walker.setAttribute("aria-valuetext", view.readout.textContent);
    view.walker.setAttribute("aria-valuenow", (i ?? view.points.length - 1) + 1);
    view.marks.forEach((mark, k) => mark.classList.toggle("chosen", k === i));
    view.rows.forEach((row, k) => row.classList.toggle("chosen", k === i));
  }

  function paint(view, svg, width) {
    const { points } = view;
    const range = profkit.extent(points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]), 0.08);
    const bottom = TOP + HEIGHT;
    const up = profkit.scale(range, [bottom, TOP]);
    const step = (width - LEFT - RIGHT) / points.length;
    const at = (i) => LEFT + (i + 0.5) * step;
    const values = profkit.ticks(...range, 5);
    profkit.axisLeft(svg, { at: up, values, texts: profkit.axisText(isTime ? "time" : "count", values), left: LEFT, right: width - RIGHT });
    svg.append(draw("polyline", { points: points.map(({ value }, i) => `${at(i)},${up(value)}`).join(" "), class: "trend-line" }));
    view.marks = points.map((point, i) => svg.appendChild(markOf(point, at(i), up, step < 16 ? 3.2 : 5)));
    paintCommits(svg, points, at, step, bottom);
    Object.assign(view, { svg, width });
    return bottom + BELOW;
  }

  function markOf({ value, low, high, doubts }, x, up, size) {
    const kind = doubts.length ? "doubtful" : "sure";
    const cap = size - 0.5;
    const mark = draw("g", { class: `trend-point ${kind}` });
    if (known(low)) {
      mark.append(profkit.stroke(x, up(low), x, up(high), "whisker"));
      for (const end of [low, high]) mark.append(profkit.stroke(x - cap, up(end), x + cap, up(end), "whisker"));
    }
    const y = up(value);
    // A shape of its own, since not everybody sees a colour.
    mark.append(doubts.length ? draw("path", { d: `M${x},${y - size * 1.3}l${size * 1.3},${size * 2.3}h${-size * 2.6}z`, class: "point" }) : draw("circle", { cx: x, cy: y, r: size, class: "point" }));
    return mark;
  }

  /** As many commits as there is room for, the last one always among them. */
  function paintCommits(svg, points, at, step, bottom) {
    const every = Math.max(1, Math.ceil(18 / step));
    points.forEach(({ commit }, i) => {
      if ((points.length - 1 - i) % every) return;
      const y = bottom + 14;
      svg.append(profkit.label(at(i) + 3, y, short(commit).slice(0, 10), { "text-anchor": "end", transform: `rotate(-40 ${at(i) + 3} ${y})` }));
    });
  }

  const keyOf = ({ points }) => (points.some(({ doubts }) => doubts.length)
    ? make("ul", { class: "plot-key" }, make("li", {}, "▲ in doubt: see the table")) : null);

  function tableOf(view) {
    view.rows = view.points.map((point, i) => rowOf(view, point, i));
    const heads = ["commit", NAMES[record.measure], "to the one before", "95 % interval", "runs", "when", "doubts"];
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "History as a table" },
      make("table", { class: "figures" },
        make("thead", {}, make("tr", {}, heads.map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, [...view.rows].reverse())));
  }

  function rowOf(view, { commit, started, low, high, runs, doubts }, i) {
    const ends = known(low) ? textsOf([low, high]).join(" – ") : "";
    return make("tr", { pointerenter: () => choose(view, i) },
      make("th", { scope: "row", title: commit }, make("code", {}, short(commit))),
      make("td", { class: "number" }, make("strong", {}, view.texts[i])), stepCell(view.points, i),
      make("td", { class: "number faint" }, ends), make("td", { class: "number" }, String(runs)), make("td", {}, started.slice(0, 10)),
      make("td", {}, doubts.length ? make("ul", { class: "doubts" }, doubts.map((doubt) => make("li", {}, doubt))) : ""));
  }

  /** The change to the point before: grey where the intervals overlap or are not known. */
  function stepCell(points, i) {
    if (i === 0 || !(points[i - 1].value > 0)) return make("td", { class: "number" });
    const [before, now] = [points[i - 1], points[i]];
    const exact = record.measure === "instructions" && !known(now.low);
    const apart = exact ? now.value !== before.value : known(now.low) && known(before.low) && (now.low > before.high || now.high < before.low);
    const tone = apart ? (now.value > before.value ? "more" : "less") : "noise";
    return make("td", { class: `number ${tone}`, title: apart ? null : "within the noise" }, profkit.change(now.value / before.value));
  }
}
