/* Toolbar above the graph: search, view and direction; and the callers of the zoomed frame. */

import { pathTo, type CallTree } from "../data/call_tree.ts";
import { head } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import type { Shortcut } from "../state/keyboard.ts";
import { currentRun, currentTree, follow, setState, state, type State } from "../state/state.ts";
import { nodeName } from "../text/run_text.ts";
import { graph } from "./graph.ts";
import { zoomOut, zoomTo } from "./navigation.ts";
import { searchElement } from "./search.ts";
import { canFold } from "./views.ts";

/** Values of a name in the state, each with its text and title. */
type Choices<Name extends keyof State> = [value: State[Name], text: string, title: string][];

const VIEWS: Choices<"view"> = [
  ["left-heavy", "Left heavy", "Equal stacks merged, heaviest first"],
  ["chronological", "Chronological", "In order of time"],
];
const DIRECTIONS: Choices<"direction"> =
  [["icicle", "Icicle", "Callers above"], ["flame", "Flame", "Callers below"]];
const FOLD = "Draw calls that only lead from one function of a library to the next as one box (l)";

/** Fill the toolbar. If no run has the order of its samples, there is only one view. */
export function buildToolbar(element: HTMLElement) {
  const views = head.runs.some((run) => run.ordered)
    ? [choice("view", "View", VIEWS, (value) => value !== "chronological" || currentRun().ordered)]
    : [];
  const direction = choice("direction", "Direction", DIRECTIONS, () => true);
  element.append(searchElement(), ...views, direction, ...(canFold ? [foldButton()] : []));
}

const toggleChains = () => setState({ chains: state.chains === "folded" ? "unfolded" : "folded" });

/** Return the button that folds or unfolds chains of library calls. */
function foldButton() {
  const button = make("button", { type: "button", title: FOLD, click: toggleChains }, "Fold libraries");
  const show = () => button.setAttribute("aria-pressed", String(state.chains === "folded"));
  follow(["chains"], show);
  return make("div", { class: "segmented" }, button);
}

/** Return a group of buttons for a name in the state, one of them pressed. */
function choice<Name extends "view" | "direction">(
  name: Name, label: string, values: Choices<Name>, allowed: (value: State[Name]) => boolean,
) {
  const buttons = values.map(([value, text, title]) =>
    make("button", { type: "button", title, click: () => setState({ [name]: value }) }, text));
  const show = () => buttons.forEach((button, i) => {
    button.setAttribute("aria-pressed", String(state[name] === values[i][0]));
    button.disabled = !allowed(values[i][0]);
    button.title = button.disabled ? "This run has no order of samples" : values[i][2];
  });
  follow([name, "run"], show);
  return make("div", { class: "segmented", role: "group", "aria-label": label }, buttons);
}

/** Return the callers of the focus as buttons, hidden while the whole graph is visible. */
export function breadcrumbs() {
  const list = make("ol");
  const nav = make("nav", { class: "breadcrumbs", "aria-label": "Callers of the zoomed frame" }, list);
  const show = () => {
    const { focus, range } = state;
    const tree = currentTree();
    const path = [0, ...pathTo(tree, focus)];
    nav.classList.toggle("idle", focus === 0 && range === null);
    list.replaceChildren(...path.map((node, i) => make("li", {}, crumb(tree, node, i === path.length - 1))));
    nav.scrollLeft = nav.scrollWidth;
  };
  follow(["focus", "range", "run", "thread", "activity"], show);
  return nav;
}

function crumb(tree: CallTree, node: number, last: boolean) {
  return make("button", {
    type: "button", "aria-current": last ? "location" : null,
    click: () => (node === 0 ? zoomOut() : zoomTo(ancestorSpot(node))),
  }, node === 0 ? "Everything" : nodeName(tree, node));
}

/** Return the spot of a caller; in the chronological view, the one around the current frame. */
function ancestorSpot(node: number) {
  const view = graph.view();
  const shown = view.rows.head[node];
  let spot = graph.spot;
  while (view.node(spot) !== shown && view.parent(spot) !== spot) spot = view.parent(spot);
  return view.node(spot) === shown ? spot : view.spotOf(node);
}

export const viewKeys: Shortcut[] = [
  { names: ["v"], shown: ["v"], what: "Switch between left heavy and chronological", action: () => {
    const view = state.view === "left-heavy" ? "chronological" : "left-heavy";
    if (currentRun().ordered) setState({ view });
  } },
  { names: ["f"], shown: ["f"], what: "Switch between icicle and flame",
    action: () => setState({ direction: state.direction === "icicle" ? "flame" : "icicle" }) },
  { names: ["l"], shown: ["l"], what: "Fold or unfold straight runs of library calls", action: toggleChains },
];
