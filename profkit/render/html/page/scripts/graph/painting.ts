/* Painting on the canvas: frames with their labels, in the colors of a search or selection, and the scale. */

import type { Range } from "../data/page_data.ts";
import type { FrameBatch } from "./frame_batch.ts";
import type { Palette } from "./function_colors.ts";
import type { GraphView } from "./views.ts";

/** The start of a thread. */
type Mark = { x: number, room: number, text: string };
type Tick = { x: number, text: string };
/**
 * Input of a drawing: rows at `top(row)` with the height `height`, on a canvas of `size` with `ratio`
 * device pixels per CSS pixel. `matches`, `selected`, `cursor` and `focusDepth` identify highlighted
 * frames.
 */
export interface Scene {
  batch: FrameBatch;
  view: GraphView;
  /** The name of a box. */
  nameOf: (spot: number) => string;
  palette: Palette;
  size: { width: number, height: number };
  ratio: number;
  top: (row: number) => number;
  height: number;
  /** The height of the scale. */
  ruler: number;
  /** 1 for each function that the search matches; null without a search. */
  matches: Uint8Array | null;
  selected: number | null;
  cursor: number;
  focusDepth: number;
  ticks: Tick[];
  marks: Mark[];
  /** The window as fractions of the whole. */
  part: Range;
}
type Context = CanvasRenderingContext2D;

const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const FONT_PX = 12;
const PADDING = 5;
const MIN_LABEL_PX = 26;
/** Opacity of frames that a search does not match, and of frames above the zoomed one. */
const NO_MATCH = 0.32;
const ABOVE_FOCUS = 0.5;
const MIN_TINT = 0.25;
/** Minimum opacity of text, which stays readable. */
const TEXT = 0.62;
const SCALE_FONT_PX = 11;
const TICK_PX = 5;
const MIN_PART_PX = 6;
const PART_HEIGHT_PX = 3;
const LONGEST_NAME_PX = 160;

/** Widths of texts by font and text, cached because the same names are drawn repeatedly. */
const widths = new Map<string, number>();
/** Style of the frame that is being drawn; one object is reused for all. */
const look = { fill: "", text: "", alpha: 1, outline: "", line: 0 };

/** Draw the frames and the scale of a scene. */
export function paintGraph(context: Context, scene: Scene) {
  const { size, ratio, palette } = scene;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, size.width, size.height);
  context.font = fontOf(FONT_PX);
  context.textBaseline = "middle";
  paintFrames(context, scene);
  context.globalAlpha = 1;
  paintScale(context, scene);
}

function paintFrames(context: Context, scene: Scene) {
  const { batch, ratio, size, height } = scene;
  const gap = 1 / ratio;
  for (let i = 0; i < batch.count; i++) {
    const y = scene.top(batch.depth[i]);
    if (y + height <= scene.ruler || y >= size.height) continue;
    // Edges are on whole device pixels, so that they are sharp and neighbours never overlap.
    const left = Math.round(Math.max(0, batch.x[i]) * ratio) / ratio;
    const right = Math.round(Math.min(size.width, batch.x[i] + batch.width[i]) * ratio) / ratio;
    const width = Math.max(gap, right - left - (right - left > 3 * gap ? gap : 0));
    setLook(scene, i);
    context.globalAlpha = look.alpha;
    context.fillStyle = look.fill;
    context.fillRect(left, y, width, height - gap);
    if (batch.small[i] > 1) tint(context, scene, batch.matchedPart(i), left, y, width);
    if (width >= MIN_LABEL_PX && !batch.small[i]) paintLabel(context, scene, i, left, y, width);
    if (look.outline) paintOutline(context, left, y, width, height - gap);
  }
}

/** Tint a combined frame by its matched part; even the smallest part is visible. */
function tint(
  context: Context, { palette, height, ratio }: Scene, part: number, left: number, y: number, width: number,
) {
  context.globalAlpha = MIN_TINT + (1 - MIN_TINT) * part;
  context.fillStyle = palette.match;
  context.fillRect(left, y, width, height - 1 / ratio);
}

/** Set the style of a frame. */
function setLook(scene: Scene, i: number) {
  const { batch, palette, view: { tree, rows } } = scene;
  const [node, small] = [batch.node[i], batch.small[i]];
  const fn = tree.fn[node];
  look.fill = small ? palette.small : node === 0 ? palette.root : palette.fills[fn];
  look.text = palette.text;
  look.outline = "";
  look.alpha = batch.depth[i] < scene.focusDepth ? ABOVE_FOCUS : 1;
  if (node === 0 && !small && scene.view.thread(batch.spot[i]) !== null) {
    [look.fill, look.text] = [palette.lane, palette.ink];
    if (batch.spot[i] === scene.cursor) [look.outline, look.line] = [palette.ring, 2.5];
  }
  if (small || node === 0) return;
  const functions = rows.chains.get(node)?.map((each) => tree.fn[each]);
  const { matches, selected } = scene;
  if (matches) setMatch(functions ? functions.some((each) => matches[each]) : matches[fn] === 1, palette);
  const isSelected = functions && selected !== null ? functions.includes(selected) : fn === selected;
  if (batch.spot[i] === scene.cursor) [look.outline, look.line] = [palette.ring, 2.5];
  else if (isSelected) [look.outline, look.line] = [palette.chosen, 1.5];
}

function setMatch(matches: boolean, palette: Palette) {
  look.alpha = matches ? 1 : NO_MATCH;
  if (matches) [look.fill, look.text] = [palette.match, palette.matchText];
}

function paintLabel(context: Context, scene: Scene, i: number, left: number, y: number, width: number) {
  const shown = fittedText(context, scene.nameOf(scene.batch.spot[i]), width - 2 * PADDING);
  if (shown === "") return;
  context.globalAlpha = Math.max(look.alpha, TEXT);
  context.fillStyle = look.alpha < 1 ? scene.palette.ink : look.text;
  context.fillText(shown, left + PADDING, y + scene.height / 2);
}

/** Draw an outline within a frame. In frames that are too narrow for one, only the cursor's is drawn. */
function paintOutline(context: Context, left: number, y: number, width: number, height: number) {
  context.globalAlpha = 1;
  context.strokeStyle = look.outline;
  context.lineWidth = look.line;
  const inset = look.line / 2;
  if (width > 4) context.strokeRect(left + inset, y + inset, width - look.line, height - look.line);
  else if (look.line > 2) context.strokeRect(left, y + inset, 2, height - look.line);
}

/** Return the font for a size in pixels. */
const fontOf = (px: number) => `${px}px ${FAMILY}`;

/** Return as much of a text as fits into a width in the context's font; "" if too little fits. */
function fittedText(context: Context, text: string, width: number) {
  const whole = textWidth(context, text);
  if (whole <= width) return text;
  for (let keep = Math.floor((text.length * width) / whole); keep >= 2; keep--) {
    const shown = `${text.slice(0, keep - 1)}…`;
    if (context.measureText(shown).width <= width) return shown;
  }
  return "";
}

/** Return the width of a text, from the cache if possible. */
function textWidth(context: Context, text: string) {
  const key = `${context.font}\n${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  const { width } = context.measureText(text);
  widths.set(key, width);
  return width;
}

/** Draw the scale of a scene: ticks, marks, and the window as a part of the whole. */
function paintScale(context: Context, scene: Scene) {
  const { size, palette, ruler } = scene;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, size.width, ruler);
  context.font = fontOf(SCALE_FONT_PX);
  paintTicks(context, scene);
  scene.marks.forEach((mark) => paintMark(context, scene, mark));
  context.fillStyle = palette.line;
  context.fillRect(0, ruler - 1, size.width, 1);
  paintPart(context, scene);
}

function paintTicks(context: Context, { size, palette, ruler, ticks }: Scene) {
  for (const { x, text } of ticks) {
    const width = textWidth(context, text);
    context.fillStyle = palette.line;
    context.fillRect(Math.round(x), ruler - TICK_PX, 1, TICK_PX);
    context.fillStyle = palette.faint;
    const left = Math.min(Math.max(x - width / 2, PADDING), size.width - width - PADDING);
    context.fillText(text, left, ruler / 2 - 2);
  }
}

/** Draw a line at the beginning of a thread, and the thread's name. */
function paintMark(context: Context, { size, palette, ruler }: Scene, { x, room, text }: Mark) {
  const shown = fittedText(context, text, Math.min(LONGEST_NAME_PX, room - 2 * PADDING));
  context.fillStyle = palette.ink;
  context.fillRect(Math.round(x), 0, 1, size.height);
  context.fillStyle = palette.ground;
  context.fillRect(Math.round(x) + 1, 0, textWidth(context, shown) + 2 * PADDING, ruler);
  context.fillStyle = palette.ink;
  context.fillText(shown, x + PADDING, ruler / 2 - 2);
}

/** Draw the visible part of the whole, like a scroll bar; nothing if all is visible. */
function paintPart(context: Context, { size, palette, ruler, part: [from, to] }: Scene) {
  if (to - from >= 1) return;
  const width = Math.max(MIN_PART_PX, (to - from) * size.width);
  context.fillStyle = palette.ring;
  const left = Math.min(from * size.width, size.width - width);
  context.fillRect(left, ruler - PART_HEIGHT_PX, width, PART_HEIGHT_PX);
}
