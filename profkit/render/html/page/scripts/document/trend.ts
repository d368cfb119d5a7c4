/* Plot of values by commit, to walk by pointer and keys. */

import type { Trend, TrendPoint } from "../data/page_data.ts";
import { draw, make } from "../elements/markup.ts";
import {
  axisLeft, explorer, linearScale, paddedExtent, plotFigure, plotLabel, roundTicks, stroke, type Scale,
} from "../elements/plots.ts";
import { axisTexts, isNumber } from "../text/numbers.ts";

/** A plot: `choose` selects a point or none, and `onChoose` is called when that happens. */
export interface TrendPlot {
  element: HTMLElement;
  choose(point: number | null): void;
  onChoose(point: number | null): void;
}
type Point = ReturnType<typeof pointOf>;

const LEFT = 84, RIGHT = 24, TOP = 16, HEIGHT = 240, BELOW = 62;
const WIDEST = 150, NARROW = 16, LEVEL = 76;

/** Return the plot with its readout and key. */
export function trendPlot({ title, summary, points: written, is_time }: Trend): TrendPlot {
  const points = written.map(pointOf);
  const sure = points.some(({ low }) => isNumber(low)) ? "; bars are 95 % intervals" : "";
  let drawn = { step: 1, marks: [] as SVGElement[] };
  const figure = plotFigure({
    title, described: summary,
    caption: `By commit, the newest on the right${sure}. The axis does not start at zero.`,
  }, (svg, width) => {
    drawn = paint(points, is_time, svg, width);
    return TOP + HEIGHT + BELOW;
  });
  const { slider, readout, move } = explorer({
    label: `Commit: ${title}`, count: points.length, rest: points.length, summary,
    describe: (i) => points[i].words,
    nearest: (x) => Math.min(points.length - 1, Math.max(0, Math.floor((x - LEFT) / drawn.step))),
    onMove: (i) => {
      drawn.marks.forEach((mark, k) => mark.classList.toggle("chosen", k === i));
      plot.onChoose(i);
    },
  }, figure);
  const element = make("div", {}, slider, readout, keyOf(points));
  const plot: TrendPlot = { element, choose: move, onChoose: () => {} };
  return plot;
}

const pointOf = ([name, value, low, high, words, warned]: TrendPoint) =>
  ({ name, value, low, high, words, warned });

function paint(points: Point[], isTime: boolean, svg: SVGElement, width: number) {
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
  return { step, marks };
}

function markOf({ value, low, high, warned }: Point, x: number, up: Scale, size: number) {
  const mark = draw("g", { class: `trend-point ${warned ? "warned" : "sure"}` });
  const y = up(value);
  if (isNumber(low) && isNumber(high)) {
    mark.append(stroke(x, up(low), x, up(high), "whisker"));
    for (const end of [up(low), up(high)]) {
      mark.append(stroke(x - size + 0.5, end, x + size - 0.5, end, "whisker"));
    }
  }
  // A distinct shape, because not everyone can distinguish the colours.
  const triangle = `M${x},${y - size * 1.3}l${size * 1.3},${size * 2.3}h${-size * 2.6}z`;
  mark.append(warned ? draw("path", { d: triangle, class: "point" })
    : draw("circle", { cx: x, cy: y, r: size, class: "point" }));
  return mark;
}

/** Label as many commits as fit, always including the last. */
function paintCommits(svg: SVGElement, points: Point[], at: Scale, step: number, bottom: number) {
  const every = Math.max(1, Math.ceil(18 / step));
  points.forEach(({ name }, i) => {
    if ((points.length - 1 - i) % every) return;
    const [x, y] = [at(i), bottom + 16];
    const aslant = { "text-anchor": "end", transform: `rotate(-40 ${x + 3} ${y})` };
    const text = name.replace(/^run /, "").slice(0, 10);
    svg.append(step < LEVEL ? plotLabel(x + 3, y, text, aslant) : plotLabel(x, y, text));
  });
}

const keyOf = (points: Point[]) => (points.some(({ warned }) => warned)
  ? make("ul", { class: "plot-key" }, make("li", {}, "▲ has warnings: see the table")) : null);
