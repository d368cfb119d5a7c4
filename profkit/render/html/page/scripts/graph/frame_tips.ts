/* Descriptions of frames: the tooltip under the pointer, and the line for screen readers. */

import type { CallTree } from "../data/call_tree.ts";
import { make } from "../elements/markup.ts";
import { currentRun, state } from "../state/state.ts";
import { formatCount, formatWeight, isTimed } from "../text/numbers.ts";
import { differenceRows, formatShare, nodeName, packageOf, placeOf } from "../text/run_text.ts";
import { graph, type DrawnFrame } from "./graph.ts";
import { calleesOfBox, nodesOfBox } from "./rows.ts";
import { boxName, type GraphView } from "./views.ts";

type Rows = [name: string, text: string][];

/** Maximum number of functions of a chain in a tooltip. */
const MAX_LISTED = 12;

const tip = make("div", { class: "tip", "aria-hidden": "true", hidden: true });
const rim = make("div", { class: "rim", "aria-hidden": "true", hidden: true });
const line = make("p", { class: "off-screen", "aria-live": "polite" });

/** Return the elements to place: the tooltip, the outline of its frame, and the line for screen readers. */
export function tipElements() {
  graph.scroller.addEventListener("scroll", hideTip);
  return [tip, rim, line];
}

/** Hide the tooltip and the outline. */
export function hideTip() {
  tip.hidden = rim.hidden = true;
}

/** Show a frame's tooltip beside the pointer; null hides it. */
export function showTip(event: PointerEvent, frame: DrawnFrame | null) {
  graph.canvas.style.cursor = frame ? "pointer" : "default";
  if (!frame || event.pointerType === "touch") {
    hideTip();
    return;
  }
  tip.replaceChildren(...(frame.small ? wordsOfSmall() : words(frame)));
  tip.hidden = rim.hidden = false;
  surround(frame);
  placeTip(event);
}

function placeTip(event: PointerEvent) {
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const below = event.clientY + 18 + box.height < innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${below ? event.clientY + 18 : event.clientY - box.height - 12}px`;
}

/** Place the outline around the visible part of a frame, without redrawing the graph. */
function surround(frame: DrawnFrame) {
  const box = graph.canvas.getBoundingClientRect();
  const top = Math.max(frame.y, graph.rulerPx);
  const [left, right] = [Math.max(0, frame.x), Math.min(box.width, frame.x + frame.width)];
  const bottom = Math.min(box.height, frame.y + frame.height);
  const width = Math.max(1, right - left);
  const place = { left: box.left + left, top: box.top + top, width, height: bottom - top };
  for (const [name, px] of Object.entries(place)) rim.style.setProperty(name, `${px}px`);
}

/** Announce a spot to screen readers. */
export function readAloud(spot: number) {
  const view = graph.view();
  const { tree, rows } = view;
  const node = view.node(spot);
  const calls = calleesOfBox(tree, rows, node).length;
  const whole = tree.total[0] || 1;
  line.textContent = [
    boxName(view, spot), `${formatShare(tree.total[node] / whole)} of the total`,
    `${formatShare(tree.self[node] / whole)} self`, `level ${tree.depth[node]}`,
    calls === 0 ? "calls nothing" : `calls ${calls}`,
  ].join(", ");
}

function words({ node, spot }: DrawnFrame) {
  const view = graph.view();
  const thread = view.thread(spot);
  const rows = node === 0 && thread !== null ? [] : costsOf(view.tree, node);
  rows.push(...stretchOf(spot));
  if (node > 0 && thread !== null) rows.push(["Thread", currentRun().threads[thread].name]);
  if (node > 0) rows.push(...more(view.tree, node));
  return [
    make("strong", {}, boxName(view, spot)),
    make("span", { class: "tip-place" }, node === 0 ? "" : originOf(view.tree.fn[node])),
    chainOf(view, node),
    make("dl", {}, rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
  ];
}

/**
 * Return the functions of a chain as a list, without some in the middle of a long one; "" for other boxes.
 */
function chainOf({ tree, rows }: GraphView, node: number) {
  const items = nodesOfBox(rows, node).map((each) =>
    make("li", {}, nodeName(tree, each), make("small", {}, packageOf(tree.fn[each]))));
  if (items.length === 1) return "";
  const left = items.length - MAX_LISTED;
  if (left > 0) items.splice(MAX_LISTED / 2, left, make("li", {}, `… ${left} more …`));
  return make("ol", { class: "tip-chain" }, items);
}

function wordsOfSmall() {
  const hint = make("span", { class: "tip-place" }, "Click to zoom in");
  return [make("strong", {}, "Frames too narrow to draw"), hint];
}

const amount = (weight: number) => {
  const whole = graph.view().tree.total[0];
  return `${formatWeight(currentRun(), weight)} · ${formatShare(weight / whole)}`;
};

const costsOf = (tree: CallTree, node: number): Rows =>
  [["Total", amount(tree.total[node])], ["Self", amount(tree.self[node])]];

/**
 * Return the weight of the run under the pointer, in addition to the sum over all runs of its node, if the
 * graph is chronological.
 */
const stretchOf = (spot: number): Rows =>
  state.view === "chronological" ? [["This frame", amount(graph.view().weight(spot))]] : [];

function more(tree: CallTree, node: number): Rows {
  const run = currentRun();
  const rows: Rows = [["Share of caller", formatShare(tree.total[node] / tree.total[tree.parent[node]])]];
  if (isTimed(run)) rows.push(["Weight", `${formatCount(tree.total[node])} ${run.unit}`]);
  return [...rows, ...differenceRows(tree.fn[node])];
}

const originOf = (fn: number) => [placeOf(fn), packageOf(fn)].filter(Boolean).join("  ·  ");
