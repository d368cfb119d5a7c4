/* Navigation in the graph: effects of clicks and keys on the state. */

import type { Range } from "../data/page_data.ts";
import type { Shortcut } from "../state/keyboard.ts";
import { setState, state, type State } from "../state/state.ts";
import { readAloud } from "./frame_tips.ts";
import { graph } from "./graph.ts";
import type { GraphView } from "./views.ts";

const ZOOM_STEP = 1.6;
const PAN_STEP = 0.25;
/** Narrowest window, as a part of the whole; doubles are exact far below it. */
const NARROWEST = 1e-9;

/** Make a spot the current frame, together with other changes of the state. */
export function goTo(spot: number, changes: Partial<State> = {}) {
  const view = graph.view();
  const node = view.node(spot);
  const selected = node === 0 ? state.selected : view.tree.fn[node];
  graph.spot = spot;
  setState({ cursor: node, selected, ...changes }, "graph");
  graph.reveal(spot);
  graph.redraw();
  readAloud(spot);
}

/** Zoom to a spot, together with other changes of the state. */
export function zoomTo(spot: number, changes: Partial<State> = {}) {
  const view = graph.view();
  const inTime = state.view === "chronological" && view.node(spot) > 0;
  const range = inTime ? parts(view.extent(spot)) : null;
  goTo(spot, { focus: view.node(spot), range, ...changes });
}

/** Reset the zoom. */
export const zoomOut = () => setState({ focus: 0, range: null }, "graph");

/** Show the window between two weights. */
export function showWindow([from, to]: Range, origin: string) {
  const { total } = graph.view();
  const width = Math.min(Math.max(to - from, total * NARROWEST), total);
  const start = Math.min(Math.max(0, from), total - width);
  const whole = width >= total * (1 - 1e-9);
  setState(whole ? { focus: 0, range: null } : { range: parts([start, start + width]) }, origin);
}

/** Zoom by a factor around a position, which is a part of the width. */
export function zoomBy(factor: number, place = 0.5, origin = "graph") {
  const [from, to] = graph.window();
  const width = (to - from) * factor;
  const fixed = from + (to - from) * place;
  showWindow([fixed - width * place, fixed + width * (1 - place)], origin);
}

/** Pan by a fraction of the width. */
export function panBy(part: number, origin = "graph") {
  const [from, to] = graph.window();
  showWindow([from + (to - from) * part, to + (to - from) * part], origin);
}

const parts = ([from, to]: Range): Range => [from / graph.view().total, to / graph.view().total];

const step = (choice: (view: GraphView, spot: number) => number) => () => {
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

const isLeft = (event: KeyboardEvent) => event.key === "ArrowLeft";

function sideways(event: KeyboardEvent) {
  if (event.shiftKey) panBy(isLeft(event) ? -PAN_STEP : PAN_STEP);
  else step((view, spot) => view.sibling(spot, isLeft(event) ? -1 : 1))();
}

const downward = () => (isFlame() ? up : down)();
const upward = () => (isFlame() ? down : up)();

/** Keys of the graph. */
export const navigationKeys: Shortcut[] = [
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
