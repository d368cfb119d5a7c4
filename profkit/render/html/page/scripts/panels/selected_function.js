/*
 * Panel of the selected function: costs, place, source, and its heaviest stack to copy. Without a
 * selection, it shows the hottest lines of the run.
 */

import { head } from "../data/page_data.js";
import { costsOf, groupOf } from "../data/trees.js";
import { breakable, placeElement, swatch } from "../elements/function_names.js";
import { button, make } from "../elements/markup.js";
import { bar, copyButton, hint, sureShare, titled } from "../elements/parts.js";
import { currentTree, hasGraph, onChange, setState, state } from "../state/state.js";
import { exactCount } from "../text/numbers.js";
import { differenceRows, formatShare, packageOf, placeOf, weightText } from "../text/run_text.js";
import { hotLines } from "./hot_lines.js";
import { sourceBeside } from "./source.js";

/** @import { CallTree, Panel } from "../types.js" */

const MAX_FRAMES = 12;

/** @type {Panel} */
export const selectedFunctionPanel = {
  id: "details",
  title: "Selected function",
  build(body) {
    const figures = make("div");
    const place = make("div");
    body.append(figures, place);
    const showPlace = () => {
      const { selected } = state;
      place.replaceChildren(...(selected === null ? [] : stack(selected)));
    };
    const show = () => {
      const { selected } = state;
      figures.replaceChildren(...(selected === null ? nothing() : about(selected)));
      showPlace();
    };
    onChange(["run", "thread", "activity", "selected"], show);
    onChange(["cursor"], (_, changed) => { if (!changed.includes("selected")) showPlace(); });
    show();
  },
  applies: hasGraph,
};

const nothing = () => [
  hint("No function is selected. Click a frame, or a row of the table, to select one."),
  ...hotLines(),
];

/** @param {number} fn */
function about(fn) {
  const tree = currentTree();
  const costs = costsOf(tree);
  const clear = { class: "quiet", "aria-label": "Clear the selection" };
  return [
    make("div", { class: "details-head" },
      make("h3", { class: "details-name" }, swatch(fn), head.functions.name[fn]),
      button("clear", () => setState({ selected: null }), clear)),
    make("p", { class: "place" }, placeOf(fn)),
    make("dl", { class: "figures-list" },
      figure("self", costs.self[fn], tree),
      figure("total", costs.total[fn], tree),
      ...differenceRows(fn).map(([name, text]) => pair(name || "change", text)),
      pair("package", packageOf(fn)),
      pair("places in the tree", exactCount(costs.places[fn]))),
    ...sourceBeside(fn),
  ];
}

/**
 * @param {string} name
 * @param {string} value
 */
const pair = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));

/**
 * @param {string} name
 * @param {number} weight
 * @param {CallTree} tree
 */
function figure(name, weight, tree) {
  const whole = tree.total[0] || 1;
  const share = weight / whole;
  return make("div", {}, make("dt", {}, name),
    make("dd", {},
      make("strong", {}, weight ? sureShare(weight, whole) : formatShare(0)),
      make("span", { class: "faint" }, weightText(weight)),
      make("span", { class: "meter" }, bar(share))));
}

/**
 * Return the stack down to the selected frame in the graph, else down to the heaviest node of the function.
 * @param {number} fn
 */
function stack(fn) {
  const tree = currentTree();
  const { nodes, weight } = groupOf(tree, fn);
  if (!nodes.length) return [];
  const { cursor } = state;
  const chosen = cursor > 0 && tree.fn[cursor] === fn && tree.total[cursor] > 0;
  const heavier = (/** @type {number} */ best, /** @type {number} */ each) =>
    (tree.total[each] > tree.total[best] ? each : best);
  const node = chosen ? cursor : nodes.reduce(heavier);
  const frames = framesOf(tree, node);
  const share = formatShare(tree.total[node] / weight);
  return [make("section", { class: "stack" },
    make("div", { class: "stack-head" },
      titled("h4", chosen ? "Stack" : "Heaviest stack", `${share} of its total`),
      copyButton("Copy", () => frames.map(textOf).join("\n"))),
    ...listOf(frames))];
}

/**
 * @param {CallTree} tree
 * @param {number} node
 */
function framesOf(tree, node) {
  const frames = [];
  for (let at = node; at !== 0; at = tree.parent[at]) frames.push(tree.fn[at]);
  return frames.reverse();
}

/** @param {number} fn */
const textOf = (fn) => `${head.functions.name[fn]}  ${placeOf(fn)}`;

/** @param {number[]} frames */
function listOf(frames) {
  const hidden = frames.length > MAX_FRAMES + 3 ? frames.length - MAX_FRAMES : 0;
  const list = make("ol", { class: "frames", start: hidden + 1 }, frames.slice(hidden).map(item));
  if (hidden) {
    const more = button(`${hidden} outer frames`, () => {
      list.prepend(...frames.slice(0, hidden).map(item));
      list.start = 1;
      more.remove();
    }, { class: "more" });
    return [more, list];
  }
  return [list];
}

/** @param {number} fn */
const item = (fn) => make("li", {},
  make("span", { class: "named" }, swatch(fn),
    button(breakable(head.functions.name[fn]), () => setState({ selected: fn }),
      { class: "link" })),
  " ", placeElement(placeOf(fn)));
