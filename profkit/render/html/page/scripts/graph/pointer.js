/* Mouse, pen and touch input on the graph. */

import { hideTip, showTip } from "./frame_tips.js";
import { graph } from "./graph.js";
import { panBy, showWindow, zoomBy, zoomOut, zoomTo } from "./navigation.js";

/** @import { DrawnFrame, Range } from "../types.js" */
/** @typedef {{ x: number, y: number }} Place */
/** @typedef {{ middle: number, apart: number }} Pinch */
/** @typedef {Place & { top: number, window: Range, moved: boolean, pinch: Pinch | null }} Press */

const { canvas, scroller } = graph;
/** Movement up to which a press is a click. */
const STILL_PX = 5;
const WHEEL_ZOOM = 0.0035;
/** @type {Map<number, Place>} */
const pressed = new Map();
/** @type {Press | null} */
let press = null;

/** Handle pointers on the graph. */
export function listenToPointers() {
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onRelease);
  canvas.addEventListener("pointercancel", onRelease);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", onClick);
  canvas.addEventListener("dblclick", zoomOut);
  canvas.addEventListener("wheel", onWheel, { passive: false });
}

/** @param {PointerEvent} event */
function onDown(event) {
  if (event.button !== 0) return;
  pressed.set(event.pointerId, placeOf(event));
  press = begin(placeOf(event), pressed.size > 1, pinchOf());
}

/** @param {PointerEvent} event */
function onMove(event) {
  const place = placeOf(event);
  if (!press || !pressed.has(event.pointerId)) {
    showTip(event, graph.at(place.x, place.y));
    return;
  }
  pressed.set(event.pointerId, place);
  if (!press.moved && Math.hypot(place.x - press.x, place.y - press.y) < STILL_PX) return;
  if (!press.moved) canvas.setPointerCapture(event.pointerId);
  press.moved = true;
  hideTip();
  if (press.pinch) pinch(press, press.pinch);
  else drag(press, event, place);
}

/** @param {PointerEvent} event */
function onRelease(event) {
  pressed.delete(event.pointerId);
  // The remaining finger continues from its position.
  for (const place of pressed.values()) press = begin(place, true, null);
}

/** @param {MouseEvent} event */
function onClick(event) {
  if (press?.moved || event.detail > 1) return;
  const { x, y } = placeOf(event);
  const frame = graph.at(x, y);
  if (!frame) return;
  if (frame.small) showWindow(weightsOf(frame), "graph");
  else zoomTo(frame.spot);
}

/** @param {WheelEvent} event */
function onWheel(event) {
  const width = canvas.clientWidth;
  const [across, along] = event.shiftKey ? [event.deltaY || event.deltaX, 0] : [event.deltaX, event.deltaY];
  // Browsers report pinching on a touchpad as a wheel event with Ctrl. The wheel alone scrolls.
  if (event.ctrlKey || event.metaKey) {
    zoomBy(Math.exp(event.deltaY * WHEEL_ZOOM), placeOf(event).x / width, "drag");
  } else if (Math.abs(across) > Math.abs(along)) panBy(across / width, "drag");
  else return;
  event.preventDefault();
}

/**
 * @param {MouseEvent} event
 * @returns {Place}
 */
function placeOf(event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/**
 * @param {Place} place
 * @param {boolean} moved
 * @param {Pinch | null} fingers
 * @returns {Press}
 */
const begin = (place, moved, fingers) =>
  ({ ...place, top: scroller.scrollTop, window: graph.window(), moved, pinch: fingers });

/**
 * @param {Press} from
 * @param {PointerEvent} event
 * @param {Place} place
 */
function drag(from, event, place) {
  const [left, right] = from.window;
  const shift = ((from.x - place.x) / canvas.clientWidth) * (right - left);
  showWindow([left + shift, right + shift], "drag");
  // The browser handles vertical movement of a finger, see touch-action.
  if (event.pointerType === "mouse") scroller.scrollTop = from.top + from.y - place.y;
}

/** @returns {Pinch | null} */
function pinchOf() {
  if (pressed.size !== 2) return null;
  const [a, b] = [...pressed.values()].map(({ x }) => x);
  return { middle: (a + b) / 2, apart: Math.max(10, Math.abs(a - b)) };
}

/**
 * @param {Press} from
 * @param {Pinch} before
 */
function pinch(from, before) {
  const now = pinchOf();
  if (!now) return;
  const [left, right] = from.window;
  const width = (right - left) * (before.apart / now.apart);
  const fixed = left + (right - left) * (before.middle / canvas.clientWidth);
  const start = fixed - width * (now.middle / canvas.clientWidth);
  showWindow([start, start + width], "drag");
}

/**
 * @param {DrawnFrame} frame
 * @returns {Range}
 */
function weightsOf({ x, width }) {
  const [from, to] = graph.window();
  const scale = (to - from) / canvas.clientWidth;
  return [from + Math.max(0, x) * scale, from + (x + width) * scale];
}
