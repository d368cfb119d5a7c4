/* The graph: a canvas that shows a window of a view, and finds the frame at a position. */

import { head, type Range } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { currentRun, onChange, state } from "../state/state.ts";
import { isDark, onTheme } from "../state/theme.ts";
import { FrameBatch } from "./frame_batch.ts";
import { paletteOf } from "./function_colors.ts";
import { paintGraph, type Scene } from "./painting.ts";
import { scaleOf } from "./scale.ts";
import { boxName, currentView, type GraphView } from "./views.ts";

/** A frame that is drawn, in CSS pixels from the canvas's upper left corner. */
export interface DrawnFrame {
  index: number;
  node: number;
  spot: number;
  /** Whether it combines several frames that are too narrow to draw. */
  small: boolean;
  depth: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

const MOVE_MS = 180;
/** Duration of a drawing above which movement would stutter. */
const SLOW_MS = 30;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const RULER_PX = 24;
const ROW_PX = matchMedia("(pointer: coarse)").matches ? 26 : 20;
/** Maximum height of a canvas in all browsers, and of a printed one. */
const MAX_CANVAS_PX = 16000, MAX_PRINTED_PX = 8000;
const PRINTED_RATIO = 3;
/** Number of rows that stay visible around a revealed row. */
const MARGIN_ROWS = 2;

/** Window that moves to a target. */
class Motion {
  window: Range = [0, 1];
  path: { from: Range, to: Range, start: number | null } | null = null;

  /** Go to another window; immediately, unless movement is wanted and drawing is fast. */
  to(target: Range, smoothly: boolean, drawMs: number) {
    const there = target.every((edge, i) => edge === this.window[i]);
    const still = there || !smoothly || calm.matches || drawMs > SLOW_MS;
    this.path = still ? null : { from: this.window, to: target, start: null };
    if (still) this.window = target;
  }

  /** Move to the window at a moment, and return whether the movement continues. */
  advance(now: number) {
    if (!this.path) return false;
    const { from, to } = this.path;
    const start = this.path.start ?? now;
    this.path.start = start;
    const part = Math.min(1, (now - start) / MOVE_MS);
    const eased = 1 - (1 - part) ** 3;
    this.window = [from[0] + (to[0] - from[0]) * eased, from[1] + (to[1] - from[1]) * eased];
    if (part === 1) [this.window, this.path] = [to, null];
    return part < 1;
  }
}

const LABEL = "Flame graph. Arrow keys move between frames, Enter zooms in, Escape zooms out, " +
  "the question mark lists all shortcuts.";

const canvas = make("canvas", {
  class: "graph-canvas", tabindex: "0", role: "application", "aria-roledescription": "flame graph",
  "aria-label": LABEL,
});
const space = make("div", { class: "graph-space" }, canvas);
const scroller = make("div", { class: "graph-scroller" }, space);
const nothing = make("p", { class: "graph-nothing", hidden: true }, "No samples");
const batch = new FrameBatch();
const motion = new Motion();
const size = { width: 0, height: 0 };
let view: GraphView;
let requested = false;

/** Interface of the graph for other modules; positions are CSS pixels from the canvas's upper left corner. */
export const graph = {
  canvas, scroller,
  /** Height of the scale above the frames. */
  rulerPx: RULER_PX,
  /** Spot of the current frame, at which the cursor is. */
  spot: 0,
  /** Duration of the last drawing. */
  redrawMs: 0,
  /** 1 for each function that the search matches; null without a search. */
  matches: null as Uint8Array | null,
  view: () => view,
  /** Return the visible window, in weights. */
  window: () => motion.window,
  /** Return the frame at a position; null if there is none. */
  at: frameAt,
  /** Return all frames that are drawn now. Slow. */
  frames: () => Array.from({ length: batch.count }, (_, i) => frame(i)),
  /** Schedule a drawing. */
  redraw: request,
  /** Scroll to make the row of a spot visible. */
  reveal,
};

/** Show the run, thread and view in the state. */
function showView() {
  view = currentView();
  graph.spot = view.spotOf(state.cursor);
  nothing.hidden = view.total > 0;
  motion.to(wanted(), false, 0);
  resize();
}

/** Return the window in the state. */
function wanted(): Range {
  const { range, focus } = state;
  if (range) return [range[0] * view.total, range[1] * view.total];
  if (state.view === "chronological") return [0, view.total];
  return view.weight(focus) > 0 ? view.extent(focus) : [0, view.total];
}

/**
 * Return the weight that a scale is relative to: the times of all runs and threads of a side are no time
 * that passed.
 */
const partsOf = (whole: number) => (head.kind === "comparison" ? { whole } : {});

function move(smoothly: boolean) {
  motion.to(wanted(), smoothly, graph.redrawMs);
  request();
}

function request() {
  if (requested) return;
  requested = true;
  requestAnimationFrame((now) => {
    requested = false;
    const moving = motion.advance(now);
    draw();
    if (moving) request();
  });
}

const isPrinted = () => scroller.classList.contains("printed");
const rowCount = () => view.height;
const isFlame = () => state.direction === "flame";
const rowTop = (row: number) => RULER_PX - scroller.scrollTop + flipped(row) * ROW_PX;

/** Return the place of a row, or the row at a place: rows of each lane are upside down in a flame graph. */
function flipped(row: number) {
  if (!isFlame()) return row;
  const { top, rows } = view.lane(row);
  return 2 * top + rows - 1 - row;
}

function rowsInSight(): Range {
  const first = Math.floor(scroller.scrollTop / ROW_PX);
  const last = Math.min(rowCount() - 1, Math.ceil((scroller.scrollTop + size.height - RULER_PX) / ROW_PX));
  if (!isFlame()) return [first, last];
  const [upper, lower] = [view.lane(first), view.lane(last)];
  return upper.top === lower.top ? [flipped(last), flipped(first)] : [upper.top, lower.top + lower.rows - 1];
}

function draw() {
  const context = canvas.getContext("2d", { alpha: false });
  if (!view || !context || size.width === 0) return;
  const start = performance.now();
  batch.clear();
  if (view.total > 0) view.layout(motion.window, size.width, rowsInSight(), batch, graph.matches);
  paintGraph(context, scene());
  graph.redrawMs = performance.now() - start;
}

function scene(): Scene {
  const { window } = motion;
  return {
    batch, size, palette: paletteOf(isDark()), view, ratio: canvas.width / size.width,
    top: rowTop, height: ROW_PX, ruler: RULER_PX,
    nameOf: (spot) => boxName(view, spot),
    ...scaleOf({ ...currentRun(), ...partsOf(view.total) }, view, window, size.width),
    part: view.total > 0 ? [window[0] / view.total, window[1] / view.total] : [0, 1],
    matches: graph.matches, selected: state.selected,
    cursor: document.activeElement === canvas ? graph.spot : -1,
    focusDepth: state.view === "left-heavy" ? view.rows.row[state.focus] : 0,
  };
}

function frameAt(x: number, y: number) {
  if (!view || y < RULER_PX) return null;
  const row = Math.floor((y - RULER_PX + scroller.scrollTop) / ROW_PX);
  const i = batch.find(x, flipped(row));
  return i < 0 ? null : frame(i);
}

function frame(i: number): DrawnFrame {
  const depth = batch.depth[i];
  return {
    index: i, node: batch.node[i], spot: batch.spot[i], small: batch.small[i] > 0, depth,
    x: batch.x[i], width: batch.width[i], y: rowTop(depth), height: ROW_PX,
  };
}

function reveal(spot: number) {
  const y = rowTop(view.row(spot));
  const margin = MARGIN_ROWS * ROW_PX;
  if (y < RULER_PX) scroller.scrollTop += y - RULER_PX - margin;
  else if (y + ROW_PX > size.height) scroller.scrollTop += y + ROW_PX - size.height + margin;
}

function resize() {
  if (!view) return;
  const height = Math.min(rowCount() * ROW_PX + RULER_PX, isPrinted() ? MAX_PRINTED_PX : Infinity);
  space.style.height = `${height}px`;
  scroller.style.setProperty("--content-height", `${height}px`);
  fit(scroller.clientWidth, Math.min(height, scroller.clientHeight));
}

function fit(width: number, height: number) {
  // Paper has a higher resolution than a screen.
  const ratio = isPrinted() ? Math.min(PRINTED_RATIO, MAX_CANVAS_PX / height) : devicePixelRatio || 1;
  Object.assign(size, { width, height });
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  draw();
}

function turn() {
  resize();
  const isOneFlame = isFlame() && view.lane(0).rows === rowCount();
  scroller.scrollTop = isOneFlame ? scroller.scrollHeight : 0;
}

/** Insert the graph into the page, and follow the state. */
export function buildGraph(element: HTMLElement) {
  element.append(scroller, nothing);
  showView();
  // Before its first size is known, it cannot scroll to the root of a flame graph.
  let update = () => { update = resize; turn(); };
  new ResizeObserver(() => update()).observe(scroller);
  scroller.addEventListener("scroll", request);
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, request);
  // Paper does not scroll, so the canvas has the height of its whole content.
  onTheme((printing) => {
    scroller.classList.toggle("printed", printing);
    resize();
  });
  followState();
}

function followState() {
  onChange(["run", "thread", "activity", "view", "chains"], showView);
  onChange(["direction"], turn);
  onChange(["focus", "range"], (_, __, origin) => move(origin !== "drag"));
  onChange(["cursor"], (_, __, origin) => {
    if (origin !== "graph") graph.spot = view.spotOf(state.cursor);
  });
  onChange(["selected", "search", "cursor"], request);
}
