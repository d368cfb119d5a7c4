/* Mouse, pen and touch input on the graph. */

import type { Range } from "../data/page_data.ts";
import { hideTip, showTip } from "./frame_tips.ts";
import { graph, type DrawnFrame } from "./graph.ts";
import { panBy, showWindow, zoomBy, zoomOut, zoomTo } from "./navigation.ts";

type Place = { x: number, y: number };
type Pinch = { middle: number, apart: number };
type Press = Place & { top: number, window: Range, moved: boolean, pinch: Pinch | null };

const { canvas, scroller } = graph;
/** Movement up to which a press is a click. */
const STILL_PX = 5;
const WHEEL_ZOOM = 0.0035;
const pressed = new Map<number, Place>();
let press: Press | null = null;

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

function onDown(event: PointerEvent) {
  if (event.button !== 0) return;
  pressed.set(event.pointerId, placeOf(event));
  press = begin(placeOf(event), pressed.size > 1, pinchOf());
}

function onMove(event: PointerEvent) {
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

function onRelease(event: PointerEvent) {
  pressed.delete(event.pointerId);
  // The remaining finger continues from its position.
  for (const place of pressed.values()) press = begin(place, true, null);
}

function onClick(event: MouseEvent) {
  if (press?.moved || event.detail > 1) return;
  const { x, y } = placeOf(event);
  const frame = graph.at(x, y);
  if (!frame) return;
  if (frame.small) showWindow(weightsOf(frame), "graph");
  else zoomTo(frame.spot);
}

function onWheel(event: WheelEvent) {
  const width = canvas.clientWidth;
  const [across, along] = event.shiftKey ? [event.deltaY || event.deltaX, 0] : [event.deltaX, event.deltaY];
  // Browsers report pinching on a touchpad as a wheel event with Ctrl. The wheel alone scrolls.
  if (event.ctrlKey || event.metaKey) {
    zoomBy(Math.exp(event.deltaY * WHEEL_ZOOM), placeOf(event).x / width, "drag");
  } else if (Math.abs(across) > Math.abs(along)) panBy(across / width, "drag");
  else return;
  event.preventDefault();
}

function placeOf(event: MouseEvent): Place {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

const begin = (place: Place, moved: boolean, fingers: Pinch | null): Press =>
  ({ ...place, top: scroller.scrollTop, window: graph.window(), moved, pinch: fingers });

function drag(from: Press, event: PointerEvent, place: Place) {
  const [left, right] = from.window;
  const shift = ((from.x - place.x) / canvas.clientWidth) * (right - left);
  showWindow([left + shift, right + shift], "drag");
  // The browser handles vertical movement of a finger, see touch-action.
  if (event.pointerType === "mouse") scroller.scrollTop = from.top + from.y - place.y;
}

function pinchOf(): Pinch | null {
  if (pressed.size !== 2) return null;
  const [a, b] = [...pressed.values()].map(({ x }) => x);
  return { middle: (a + b) / 2, apart: Math.max(10, Math.abs(a - b)) };
}

function pinch(from: Press, before: Pinch) {
  const now = pinchOf();
  if (!now) return;
  const [left, right] = from.window;
  const width = (right - left) * (before.apart / now.apart);
  const fixed = left + (right - left) * (before.middle / canvas.clientWidth);
  const start = fixed - width * (now.middle / canvas.clientWidth);
  showWindow([start, start + width], "drag");
}

function weightsOf({ x, width }: DrawnFrame): Range {
  const [from, to] = graph.window();
  const scale = (to - from) / canvas.clientWidth;
  return [from + Math.max(0, x) * scale, from + (x + width) * scale];
}
