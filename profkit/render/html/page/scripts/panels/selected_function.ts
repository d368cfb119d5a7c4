/*
 * Panel of the selected function: costs, place, source, and its heaviest stack to copy. Without a
 * selection, it shows the hottest lines of the run.
 */

import type { CallTree } from "../data/call_tree.ts";
import { head } from "../data/page_data.ts";
import { costsOf, groupOf, linesOf } from "../data/trees.ts";
import { button, make, type Child } from "../elements/markup.ts";
import {
  bar, copyButton, functionLink, hint, placeElement, shareBar, sureShare, swatch, titled,
} from "../elements/parts.ts";
import { isDifference } from "../graph/function_colors.ts";
import type { Panel } from "../layout.ts";
import { currentTree, follow, hasGraph, onChange, setState, state } from "../state/state.ts";
import { exactCount, formatPoints } from "../text/numbers.ts";
import { differenceRows, formatShare, packageOf, placeOf, plusMinus, weightText } from "../text/run_text.ts";
import { changedLines, changeOf, lineText } from "./file_lines.ts";
import { sourceBeside } from "./source.ts";

const MAX_FRAMES = 12;

export const selectedFunctionPanel: Panel = {
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
    follow(["run", "thread", "activity", "selected"], show);
    onChange(["cursor"], (_, changed) => { if (!changed.includes("selected")) showPlace(); });
  },
  applies: hasGraph,
};

const nothing = () => [
  hint("No function is selected. Click a frame, or a row of the table, to select one."),
  ...hotLines(),
];

function about(fn: number) {
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

const pair = (name: string, value: string) => make("div", {}, make("dt", {}, name), make("dd", {}, value));

function figure(name: string, weight: number, tree: CallTree) {
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
 */
function stack(fn: number) {
  const tree = currentTree();
  const { nodes, weight } = groupOf(tree, fn);
  if (!nodes.length) return [];
  const { cursor } = state;
  const chosen = cursor > 0 && tree.fn[cursor] === fn && tree.total[cursor] > 0;
  const heavier = (best: number, each: number) =>
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

function framesOf(tree: CallTree, node: number) {
  const frames = [];
  for (let at = node; at !== 0; at = tree.parent[at]) frames.push(tree.fn[at]);
  return frames.reverse();
}

const textOf = (fn: number) => `${head.functions.name[fn]}  ${placeOf(fn)}`;

function listOf(frames: number[]) {
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

const select = (fn: number) => () => setState({ selected: fn });

const item = (fn: number) =>
  make("li", {}, functionLink(fn, select(fn)), " ", placeElement(placeOf(fn)));

type Line = { fn: number, line: number };

const MAX_LINES = 6;
/** Smallest difference of shares in the list, in parts of 1. */
const MIN_LISTED = 0.005;

/** Return the list; nothing if there are no lines. */
const hotLines = () => (isDifference ? mostChanged() : hottest());

function hottest() {
  const tree = currentTree();
  const whole = tree.total[0] || 1;
  const found = linesOf(tree).lines.filter(({ self }) => self > 0);
  found.sort((a, b) => b.self - a.self);
  const shares = ({ self }: typeof found[number]) =>
    [shareBar(self / whole, null, plusMinus(self, whole))];
  const items = found.slice(0, MAX_LINES).map((each) => lineItem(each, shares(each)));
  return lineList("Hottest lines", "by self share", items);
}

function mostChanged() {
  const found = changedLines()
    .filter((line) => changeOf(line) !== "noise" && Math.abs(line.b - line.a) >= MIN_LISTED)
    .sort((one, other) => Math.abs(other.b - other.a) - Math.abs(one.b - one.a));
  const points = ({ a, b }: typeof found[number]) =>
    [make("strong", { class: `points ${b > a ? "more" : "less"}` }, `${formatPoints(b - a)} points`)];
  return lineList("Lines that differ most", "by total share, in functions that changed",
    found.slice(0, MAX_LINES).map((each) => lineItem(each, points(each))));
}

const lineList = (title: string, remark: string, items: HTMLElement[]) => (items.length
  ? [make("section", { class: "hot-lines" }, titled("h3", title, remark), make("ol", {}, items))] : []);

function lineItem({ fn, line }: Line, figures: Child[]) {
  const text = lineText(fn, line);
  return make("li", {},
    make("div", { class: "hot-line" }, figures, functionLink(fn, select(fn))),
    text ? make("code", { class: "hot-code", title: text }, text) : null,
    placeElement(`${head.functions.file[fn]}:${line}`));
}
