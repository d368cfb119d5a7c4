/* Navigation in the graph: effects of clicks and keys on the state. */

import { setState, state } from "../state/state.js";
import { readAloud } from "./frame_tips.js";
import { graph } from "./graph.js";

/** @import { GraphView, Range, Shortcut, State } from "../types.js" */

const ZOOM_STEP = 1.6;
const PAN_STEP = 0.25;
/** Narrowest window, as a part of the whole; doubles are exact far below it. */
const NARROWEST = 1e-9;

/**
 * Make a spot the current frame, together with other changes of the state.
 * @param {number} spot
 * @param {Partial<State>} changes
 */
export function goTo(spot, changes = {}) {
  const view = graph.view();
  const node = view.node(spot);
  const selected = node === 0 ? state.selected : view.tree.fn[node];
  graph.spot = spot;
  setState({ cursor: node, selected, ...changes }, "graph");
  graph.reveal(spot);
  graph.redraw();
  readAloud(spot);
}

/**
 * Zoom to a spot, together with other changes of the state.
 * @param {number} spot
 * @param {Partial<State>} changes
 */
export function zoomTo(spot, changes = {}) {
  const view = graph.view();
  const inTime = state.view === "chronological" && view.node(spot) > 0;
  const range = inTime ? parts(view.extent(spot)) : null;
  goTo(spot, { focus: view.node(spot), range, ...changes });
}

/** Reset the zoom. */
export const zoomOut = () => setState({ focus: 0, range: null }, "graph");

/**
 * Show the window between two weights.
 * @param {Range} window
 * @param {string} origin
 */
export function showWindow([from, to], origin) {
  const { total } = graph.view();
  const width = Math.min(Math.max(to - from, total * NARROWEST), total);
  const start = Math.min(Math.max(0, from), total - width);
  const whole = width >= total * (1 - 1e-9);
  setState(whole ? { focus: 0, range: null } : { range: parts([start, start + width]) }, origin);
}

/**
 * Zoom by a factor around a position, which is a part of the width.
 * @param {number} factor
 */
export function zoomBy(factor, place = 0.5, origin = "graph") {
  const [from, to] = graph.window();
  const width = (to - from) * factor;
  const fixed = from + (to - from) * place;
  showWindow([fixed - width * place, fixed + width * (1 - place)], origin);
}

/**
 * Pan by a fraction of the width.
 * @param {number} part
 */
export function panBy(part, origin = "graph") {
  const [from, to] = graph.window();
  showWindow([from + (to - from) * part, to + (to - from) * part], origin);
}

/**
 * @param {Range} window
 * @returns {Range}
 */
const parts = ([from, to]) => [from / graph.view().total, to / graph.view().total];

/** @param {(view: GraphView, spot: number) => number} choice */
const step = (choice) => () => {
  const next = choice(graph.view(), graph.spot);
  goTo(next);
  const [from, to] = graph.view().extent(next);
  const [left, right] = graph.window();
  // Spots outside the window are moved into it.
  const around = (right - left - (to - from)) / 2;
  if (to <= left || from >= right) showWindow([from - around, to + around], "graph");
};
const down = step((view, spot) => view.child(spot));
const up = step((view, spot) => view.parent(spot));
const isFlame = () => state.direction === "flame";

/** @param {KeyboardEvent} event */
const isLeft = (event) => event.key === "ArrowLeft";

/** @param {KeyboardEvent} event */
function sideways(event) {
  if (event.shiftKey) panBy(isLeft(event) ? -PAN_STEP : PAN_STEP);
  else step((view, spot) => view.sibling(spot, isLeft(event) ? -1 : 1))();
}

const downward = () => (isFlame() ? up : down)();
const upward = () => (isFlame() ? down : up)();

/**
 * Keys of the graph.
 * @type {Shortcut[]}
 */
export const navigationKeys = [
  { names: ["ArrowDown"], shown: ["↓"], what: "Go to the heaviest callee",
    action: downward, ofGraph: true },
  { names: ["ArrowUp"], shown: ["↑"], what: "Go to the caller (reversed in a flame graph)",
    action: upward, ofGraph: true },
  { names: ["ArrowLeft", "ArrowRight"], shown: ["←", "→"], what: "Go to the neighbour; with Shift: pan",
    action: sideways, ofGraph: true },
  { names: ["Enter", " "], shown: ["Enter"], what: "Zoom to the current frame",
    action: () => zoomTo(graph.spot), ofGraph: true },
  { names: ["Escape"], shown: ["Esc"], what: "Reset the zoom", action: () => zoomOut() },
  { names: ["Home"], shown: ["Home"], what: "Go to the root",
    action: step((view) => view.top), ofGraph: true },
  { names: ["+", "="], shown: ["+"], what: "Zoom in", action: () => zoomBy(1 / ZOOM_STEP), ofGraph: true },
  { names: ["-"], shown: ["−"], what: "Zoom out", action: () => zoomBy(ZOOM_STEP), ofGraph: true },
];
