/* Plot of a history: a point with its interval for each commit, to explore by pointer and keys. */

import type { Point } from "../data/page_data.ts";
import { draw, make } from "../elements/markup.ts";
import {
  axisLeft, linearScale, paddedExtent, plotFigure, plotLabel, roundTicks, stroke, type Scale,
} from "../elements/plots.ts";
import { axisTexts, isNumber } from "../text/numbers.ts";

/** Input of a plot: `describe` returns a point in words, and `onChoose` is called with a point or null. */
interface Wanted {
  points: Point[];
  isTime: boolean;
  name: string;
  summary: string;
  describe: (i: number) => string;
  onChoose: (i: number | null) => void;
}
/** The last drawing, and the selected point. */
interface Drawn {
  svg: SVGElement | null;
  width: number;
  step: number;
  marks: SVGElement[];
  chosen: number | null;
}

const LEFT = 84, RIGHT = 24, TOP = 16, HEIGHT = 240, BELOW = 62;
const WIDEST = 150, NARROW = 16, LEVEL = 76;

/** Return the plot with its readout and key, and `choose`, which selects a commit or none. */
export function historyPlot({ points, isTime, name, summary, describe, onChoose }: Wanted) {
  const drawn: Drawn = { svg: null, width: 0, step: 1, marks: [], chosen: null };
  const last = points.length - 1;
  const sure = points.some(({ low }) => isNumber(low)) ? "; bars are 95 % intervals" : "";
  const figure = plotFigure({
    title: name, described: summary,
    caption: `By commit, the newest on the right${sure}. The axis does not start at zero.`,
  }, (svg, width) => paint(drawn, points, isTime, svg, width));
  const slider = make("div", {
    class: "strip-slider", role: "slider", tabindex: "0", "aria-label": `Commit: ${name}`,
    "aria-valuemin": 1, "aria-valuemax": points.length, "aria-valuenow": points.length,
    "aria-valuetext": summary,
    keydown: (event) => {
      const to = pointAfter(drawn.chosen, last, event.key);
      if (to === null) return;
      event.preventDefault();
      choose(to);
    },
    pointermove: (event) => choose(nearest(drawn, last, event)), pointerleave: () => choose(null),
  }, figure);
  const readout = make("output", { class: "strip-readout" }, summary);
  const choose = (i: number | null) => {
    drawn.chosen = i;
    readout.textContent = i === null ? summary : describe(i);
    slider.setAttribute("aria-valuetext", readout.textContent);
    slider.setAttribute("aria-valuenow", String((i ?? last) + 1));
    drawn.marks.forEach((mark, k) => mark.classList.toggle("chosen", k === i));
    onChoose(i);
  };
  return { element: make("div", {}, slider, readout, keyOf(points)), choose };
}

/** Return the first eight digits of a commit; return other names unchanged. */
export const shortCommit = (commit: string) => (/^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit);

function paint(drawn: Drawn, points: Point[], isTime: boolean, svg: SVGElement, width: number) {
  const ends = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const range = paddedExtent(ends, 0.08);
  const bottom = TOP + HEIGHT;
  const up = linearScale(range, [bottom, TOP]);
  const step = Math.min(WIDEST, (width - LEFT - RIGHT) / points.length);
  const at = (i: number) => LEFT + (i + 0.5) * step;
  const values = roundTicks(...range, 5);
  const texts = axisTexts(isTime ? "time" : "count", values);
  axisLeft(svg, up, values, texts, [LEFT, width - RIGHT]);
  const line = points.map(({ value }, i) => `${at(i).toFixed(1)},${up(value).toFixed(1)}`).join(" ");
  svg.append(draw("polyline", { points: line, class: "trend-line" }));
  const marks = points.map((point, i) => svg.appendChild(markOf(point, at(i), up, step < NARROW ? 3.2 : 5)));
  paintCommits(svg, points, at, step, bottom);
  Object.assign(drawn, { svg, width, step, marks });
  return bottom + BELOW;
}

function markOf({ value, low, high, warnings }: Point, x: number, up: Scale, size: number) {
  const mark = draw("g", { class: `trend-point ${warnings.length ? "warned" : "sure"}` });
  const y = up(value);
  if (isNumber(low) && isNumber(high)) {
    mark.append(stroke(x, up(low), x, up(high), "whisker"));
    for (const end of [up(low), up(high)]) {
      mark.append(stroke(x - size + 0.5, end, x + size - 0.5, end, "whisker"));
    }
  }
  // A distinct shape, because not everyone can distinguish the colours.
  const triangle = `M${x},${y - size * 1.3}l${size * 1.3},${size * 2.3}h${-size * 2.6}z`;
  mark.append(warnings.length ? draw("path", { d: triangle, class: "point" })
    : draw("circle", { cx: x, cy: y, r: size, class: "point" }));
  return mark;
}

/** Label as many commits as fit, always including the last. */
function paintCommits(svg: SVGElement, points: Point[], at: Scale, step: number, bottom: number) {
  const every = Math.max(1, Math.ceil(18 / step));
  points.forEach(({ commit }, i) => {
    if ((points.length - 1 - i) % every) return;
    const [x, y] = [at(i), bottom + 16];
    const aslant = { "text-anchor": "end", transform: `rotate(-40 ${x + 3} ${y})` };
    const text = shortCommit(commit).replace(/^run /, "").slice(0, 10);
    svg.append(step < LEVEL ? plotLabel(x + 3, y, text, aslant) : plotLabel(x, y, text));
  });
}

const keyOf = (points: Point[]) => (points.some(({ warnings }) => warnings.length)
  ? make("ul", { class: "plot-key" }, make("li", {}, "▲ has warnings: see the table")) : null);

/** Return the point to which a key moves; null for other keys. */
function pointAfter(chosen: number | null, last: number, key: string) {
  const from = chosen ?? last + 1;
  const places: Record<string, number> = {
    ArrowLeft: from - 1, ArrowDown: from - 1, ArrowRight: from + 1, ArrowUp: from + 1, Home: 0, End: last,
  };
  return Object.hasOwn(places, key) ? Math.min(last, Math.max(0, places[key])) : null;
}

function nearest({ svg, width, step }: Drawn, last: number, event: PointerEvent) {
  if (!svg) return null;
  const bounds = svg.getBoundingClientRect();
  const x = ((event.clientX - bounds.left) / bounds.width) * width;
  return Math.min(last, Math.max(0, Math.floor((x - LEFT) / step)));
}
