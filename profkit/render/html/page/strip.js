/* The process's resources over time: CPU, memory and threads on one axis, with a moment that can be moved. */
{
  const { draw, make } = profkit;
  const HEIGHT = 58, GAP = 18, LEFT = 50, TOP = 20, BELOW = 20, NARROW = 640;

  profkit.panel("strip", "Resources over time", (body) => {
    let strip = null;
    const show = () => {
      const resources = profkit.currentRun()?.resources;
      strip = resources && resources.at_s.length > 1 ? stripOf(resources) : null;
      body.replaceChildren(...(strip ? [strip.slider, strip.readout] : []));
    };
    profkit.on("run", show);
    profkit.on("run thread view range", () => strip && showWindow(strip));
    show();
  }, () => profkit.head.runs.some((run) => run.resources));

  /** The curves of the strip: values at each point, and how they are written. */
  function curvesOf(resources) {
    return [
      { name: "CPU", unit: "100 % is one core", values: [resources.cpu_share[0] ?? 0, ...resources.cpu_share],
        text: (value) => `${Math.round(value * 100)} %`, kind: "cpu" },
      { name: "memory", unit: "resident", values: resources.rss_bytes, text: profkit.format.bytes, kind: "memory" },
      { name: "threads", unit: "", values: resources.threads, text: profkit.format.count, kind: "threads" },
    ];
  }

  function stripOf(resources) {
    const strip = { at: resources.at_s, curves: curvesOf(resources), moment: null, boxes: [], cursors: [] };
    strip.readout = make("output", { class: "strip-readout" }, rangesOf(strip));
    const named = { title: "CPU, memory and threads over time", described: rangesOf(strip), least: 200 };
    const figure = profkit.figure(named, (svg, width) => paint(strip, svg, width));
    strip.slider = make("div", {
      class: "strip-slider", role: "slider", tabindex: "0", "aria-label": "Moment of the recording",
      "aria-valuemin": 0, "aria-valuemax": strip.at.length - 1, "aria-valuenow": 0, "aria-valuetext": rangesOf(strip),
      pointermove: (event) => moveTo(strip, nearest(strip, event)), pointerleave: () => moveTo(strip, null),
      click: () => goTo(strip), keydown: (event) => onKey(strip, event),
    }, figure);
    return strip;
  }

  /** The most of each curve in words. */
  const rangesOf = ({ at, curves }) => [
    `watched for ${profkit.format.time(at.at(-1))}`,
    ...curves.map(({ name, values, text }) => `${name} up to ${text(Math.max(...values))}`),
  ].join(" · ");

  function paint(strip, svg, width) {
    const beside = width >= NARROW;
    const each = beside ? (width - 2 * GAP) / 3 : width;
    strip.boxes = strip.curves.map((curve, i) => {
      const x = (beside ? i * (each + GAP) : 0) + LEFT;
      const y = TOP + (beside ? 0 : i * (HEIGHT + TOP + BELOW));
      return { curve, x, y, right: x + each - LEFT - 4, bottom: y + HEIGHT };
    });
    strip.boxes.forEach((box) => paintCurve(strip, svg, box));
    Object.assign(strip, { svg, width, bands: svg.appendChild(draw("g")) });
    strip.cursors = strip.boxes.map(() => svg.appendChild(draw("g", { class: "strip-cursor" })));
    showMoment(strip);
    showWindow(strip);
    return strip.boxes.at(-1).bottom + BELOW;
  }

  function paintCurve(strip, svg, box) {
    const { curve, x, y, right, bottom } = box;
    const most = Math.max(...curve.values) || 1;
    box.across = profkit.scale([strip.at[0], strip.at.at(-1)], [x, right]);
    box.up = profkit.scale([0, most], [bottom, y]);
    const points = strip.at.map((at, i) => `${box.across(at).toFixed(1)},${box.up(curve.values[i]).toFixed(1)}`);
    const name = curve.unit ? `${curve.name} (${curve.unit})` : curve.name;
    const area = [`${x},${bottom}`, ...points, `${right},${bottom}`].join(" ");
    svg.append(
      profkit.label(x, y - 7, name, { "text-anchor": "start", class: "plot-label plot-name" }),
      profkit.stroke(x, y, right, y, "plot-grid"), profkit.stroke(x, bottom, right, bottom, "plot-base"),
      draw("polygon", { points: area, class: `area area-${curve.kind}` }),
      draw("polyline", { points: points.join(" "), class: `curve curve-${curve.kind}` }),
      profkit.label(x - 5, y + 4, curve.text(most), { "text-anchor": "end" }),
      profkit.label(x - 5, bottom + 1, "0", { "text-anchor": "end" }),
      profkit.label(x, bottom + 14, "0 s", { "text-anchor": "start" }),
      profkit.label(right, bottom + 14, profkit.format.time(strip.at.at(-1)), { "text-anchor": "end" }));
  }

  /** The point nearest to the pointer: in the box that it is over. */
  function nearest(strip, event) {
    const bounds = strip.svg.getBoundingClientRect();
    const factor = strip.width / bounds.width;
    const [x, y] = [(event.clientX - bounds.left) * factor, (event.clientY - bounds.top) * factor];
    const over = strip.boxes.find((box) => x <= box.right + GAP / 2 && y <= box.bottom + BELOW) ?? strip.boxes.at(-1);
    const part = Math.min(1, Math.max(0, (x - over.x) / (over.right - over.x)));
    const at = strip.at[0] + part * (strip.at.at(-1) - strip.at[0]);
    let low = 0;
    for (let high = strip.at.length - 1; low < high;) {
      const middle = (low + high) >> 1;
      if (strip.at[middle] < at) low = middle + 1;
      else high = middle;
    }
    return low > 0 && at - strip.at[low - 1] < strip.at[low] - at ? low - 1 : low;
  }

  function moveTo(strip, moment) {
    strip.moment = moment;
    strip.readout.textContent = moment === null ? rangesOf(strip) : sayMoment(strip);
    strip.slider.setAttribute("aria-valuenow", moment ?? 0);
    strip.slider.setAttribute("aria-valuetext", strip.readout.textContent);
    showMoment(strip);
  }

  const sayMoment = ({ at, curves, moment }) => [
    profkit.format.time(at[moment]), ...curves.map(({ name, values, text }) => `${name} ${text(values[moment])}`),
  ].join(" · ");

  function showMoment({ at, boxes, cursors, moment }) {
    cursors.forEach((cursor, i) => {
      if (moment === null) return cursor.replaceChildren();
      const { curve, across, up, y, bottom } = boxes[i];
      const [cx, cy] = [across(at[moment]), up(curve.values[moment])];
      return cursor.replaceChildren(
        profkit.stroke(cx, y, cx, bottom, "plot-cursor"),
        draw("circle", { cx, cy, r: 3.5, class: `dot dot-${curve.kind}` }));
    });
  }

  function showWindow({ bands, boxes, at }) {
    bands?.replaceChildren(...profkit.windowBands(boxes, at.at(-1)));
  }

  /** Take the chronological graph to the moment, where it has the same axis. */
  function goTo({ at, moment }) {
    if (moment === null || !profkit.sharesAxis(at.at(-1))) return;
    profkit.showAround((at[moment] - at[0]) / (at.at(-1) - at[0]));
  }

  function onKey(strip, event) {
    if (event.key === "Enter") return goTo(strip);
    const last = strip.at.length - 1;
    const from = strip.moment ?? 0;
    const wide = Math.max(1, Math.round(last / 10));
    const steps = {
      ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: wide, PageDown: -wide, Home: -last, End: last,
    };
    const step = steps[event.key];
    if (step === undefined) return undefined;
    event.preventDefault();
    event.stopPropagation();
    return moveTo(strip, Math.min(last, Math.max(0, from + step)));
  }
}
