/* Trees of items that unfold on demand, by mouse and by the usual keys of trees. */

import { exactCount } from "../text/numbers.ts";
import { make, type Child } from "./markup.ts";

/** Functions with which a tree shows its items. */
interface View<Item> {
  /** The children of an item. */
  below: (item: Item) => Item[];
  content: (item: Item) => Child[];
  /** The label for screen readers. */
  name: (item: Item) => string;
  /** Called on Enter and on a click on a `.pick` in the content. */
  pick: (item: Item) => void;
}
type Actions = { toggle: (open?: boolean) => void, pick: () => void };

const MOST = 25;
const actions = new WeakMap<Element, Actions>();

/** Return a tree with the top items `top`. */
export function treeList<Item>({ label, top, ...view }: View<Item> & { label: string, top: Item[] }) {
  const root = make("ul", { role: "tree", "aria-label": label, class: "branches" }, elementsOf(view, top));
  const first = itemIn(root);
  if (first) first.tabIndex = 0;
  root.addEventListener("keydown", (event) => onKey(root, event));
  return root;
}

function elementsOf<Item>(view: View<Item>, items: Item[], from = 0): HTMLElement[] {
  const elements = items.slice(from, from + MOST).map((item) => elementOf(view, item));
  if (items.length > from + MOST) elements.push(restOf(view, items, from + MOST));
  return elements;
}

function elementOf<Item>(view: View<Item>, item: Item) {
  const items = view.below(item);
  const twig = make("span", { class: "twig", "aria-hidden": "true" });
  const row = make("div", { class: "branch" }, twig, view.content(item));
  const expanded = items.length ? "false" : null;
  const element = make("li",
    { role: "treeitem", tabindex: "-1", "aria-label": view.name(item), "aria-expanded": expanded }, row);
  const toggle = (open = element.getAttribute("aria-expanded") === "false") => {
    if (!items.length) return;
    element.setAttribute("aria-expanded", String(open));
    if (!open || element.children.length > 1) return;
    element.append(make("ul", { role: "group" }, elementsOf(view, items)));
  };
  const pick = () => view.pick(item);
  actions.set(element, { toggle, pick });
  row.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(".pick")) pick();
    else toggle();
  });
  return element;
}

/** Return an element that shows the items from an index on when it is clicked. */
function restOf<Item>(view: View<Item>, items: Item[], from: number) {
  const row = make("div", { class: "branch rest" }, `${exactCount(items.length - from)} smaller`);
  const element = make("li", { role: "treeitem", tabindex: "-1" }, row);
  const pick = () => {
    const elements = elementsOf(view, items, from);
    element.replaceWith(...elements);
    focus(elements[0]);
  };
  actions.set(element, { toggle: pick, pick });
  row.addEventListener("click", pick);
  return element;
}

function focus(item: HTMLElement) {
  const others = item.closest("[role=tree]")?.querySelectorAll("[tabindex='0']") ?? [];
  for (const other of others) other.setAttribute("tabindex", "-1");
  item.tabIndex = 0;
  item.focus();
}

function onKey(root: HTMLElement, event: KeyboardEvent) {
  const item = event.target instanceof Element ? itemAround(event.target) : null;
  if (!item) return;
  const shown = [...root.querySelectorAll("[role=treeitem]") as NodeListOf<HTMLElement>]
    .filter((other) => other.offsetParent !== null);
  const moves: Record<string, () => HTMLElement | null | undefined | void> = {
    ArrowDown: () => shown[shown.indexOf(item) + 1],
    ArrowUp: () => shown[shown.indexOf(item) - 1],
    Home: () => shown[0],
    End: () => shown.at(-1),
    ArrowRight: () => inwards(item),
    ArrowLeft: () => outwards(item),
    Enter: () => actions.get(item)?.pick(),
    " ": () => actions.get(item)?.toggle(),
  };
  if (!Object.hasOwn(moves, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  const to = moves[event.key]();
  if (to) focus(to);
}

function inwards(item: HTMLElement) {
  if (item.getAttribute("aria-expanded") === "true") return itemIn(item);
  if (item.hasAttribute("aria-expanded")) actions.get(item)?.toggle(true);
  return null;
}

function outwards(item: HTMLElement) {
  const { parentElement: around } = item;
  if (item.getAttribute("aria-expanded") !== "true") return around && itemAround(around);
  actions.get(item)?.toggle(false);
  return null;
}

const itemAround = (element: Element) => element.closest("[role=treeitem]") as HTMLElement | null;

const itemIn = (element: Element) => element.querySelector("[role=treeitem]") as HTMLElement | null;
