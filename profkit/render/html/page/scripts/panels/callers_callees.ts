/* Panel of the selected function's callers and callees, over all its nodes. */

import { calleesOf, callersOf, type CallGroup, type CallTree } from "../data/call_tree.ts";
import { head } from "../data/page_data.ts";
import { groupOf } from "../data/trees.ts";
import { make } from "../elements/markup.ts";
import { hint, placeElement, shareBar, swatch } from "../elements/parts.ts";
import { treeList } from "../elements/tree_list.ts";
import type { Panel } from "../layout.ts";
import { currentTree, follow, hasGraph, setState, state } from "../state/state.ts";
import { formatShare, placeOf, weightText } from "../text/run_text.ts";

export const callersAndCalleesPanel: Panel = {
  id: "sandwich",
  title: "Callers and callees",
  build(body) {
    const show = () => {
      const { selected } = state;
      body.replaceChildren(...(selected === null ? [nothingSelected()] : sides(selected)));
    };
    follow(["run", "thread", "activity", "selected"], show);
  },
  applies: hasGraph,
};

const nothingSelected = () =>
  hint("Select a function in the graph or the table to see its callers and callees.");

function sides(selected: number) {
  const tree = currentTree();
  const group = groupOf(tree, selected);
  if (!group.weight) return [hint("The selected function has no samples here.")];
  const view = { tree, whole: group.weight, name: head.functions.name[selected] };
  return [make("div", { class: "sandwich" },
    side("Callers", "functions that call it", view, callersOf(tree, group), callersOf),
    side("Callees", "functions that it calls", view, withOwn(tree, group), withOwn))];
}

/** Return the callees of a group and its self weight, so that shares add up to the whole. */
function withOwn(tree: CallTree, group: CallGroup) {
  const callees = calleesOf(tree, group);
  const own = group.weight - callees.reduce((sum, callee) => sum + callee.weight, 0);
  const itself = { fn: group.fn, own: true, nodes: [], weights: [], weight: own };
  return own > 1e-9 && (callees.length || group.fn === state.selected)
    ? [...callees, itself].sort((a, b) => b.weight - a.weight) : callees;
}

function side(
  title: string,
  meaning: string,
  { tree, whole, name: selected }: { tree: CallTree, whole: number, name: string },
  top: CallGroup[],
  grow: (tree: CallTree, group: CallGroup) => CallGroup[],
) {
  const id = `sandwich-${title.toLowerCase()}`;
  return make("section", { class: "sandwich-side", "aria-labelledby": id },
    make("h3", { id }, title, make("small", {}, meaning)),
    treeList({
      label: `${title} of ${selected}`,
      top,
      below: (group) => (functionOf(group) === null ? [] : grow(tree, group)),
      content: (group) => content(group, group.weight / whole),
      name: (group) =>
        [formatShare(group.weight / whole), groupName(group), groupPlace(group)].join(" ").trim(),
      pick: (group) => { if (functionOf(group) !== null) setState({ selected: group.fn }); },
    }));
}

const functionOf = (group: CallGroup) => (group.own ? null : group.fn);

const wordOf = (group: CallGroup) => (group.own ? "self" : "the bottom of the stack");

function groupName(group: CallGroup) {
  const fn = functionOf(group);
  return fn === null ? wordOf(group) : head.functions.name[fn];
}

function groupPlace(group: CallGroup) {
  const fn = functionOf(group);
  return fn === null ? "" : placeOf(fn);
}

function content(group: CallGroup, share: number) {
  const bar = shareBar(share, weightText(group.weight));
  const fn = functionOf(group);
  if (fn === null) return [bar, " ", make("span", { class: "faint" }, groupName(group))];
  // Spaces between flex items are invisible, but they are read aloud and copied.
  return [bar, swatch(fn), " ", make("span", { class: "pick" }, groupName(group)), " ",
    placeElement(groupPlace(group))];
}
