/* Trees of items that unfold on demand, by mouse and by the usual keys of trees. */

import { exactCount } from "../text/numbers.js";
import { make } from "./markup.js";

/** @import { Child } from "../types.js" */
/**
 * Functions with which a tree shows its items.
 * @template Item
 * @typedef {object} View
 * @property {(item: Item) => Item[]} below the children of an item
 * @property {(item: Item) => Child[]} content
 * @property {(item: Item) => string} name the label for screen readers
 * @property {(item: Item) => void} pick called on Enter and on a click on a `.pick` in the content
 */
/** @typedef {{ toggle: (open?: boolean) => void, pick: () => void }} Actions */

const MOST = 25;
/** @type {WeakMap<Element, Actions>} */
const actions = new WeakMap();

/**
 * Return a tree with the top items `top`.
 * @template Item
 * @param {View<Item> & { label: string, top: Item[] }} wanted
 */
export function treeList({ label, top, ...view }) {
  const root = make("ul", { role: "tree", "aria-label": label, class: "branches" }, elementsOf(view, top));
  const first = itemIn(root);
  if (first) first.tabIndex = 0;
  root.addEventListener("keydown", (event) => onKey(root, event));
  return root;
}

/**
 * @template Item
 * @param {View<Item>} view
 * @param {Item[]} items
 * @returns {HTMLElement[]}
 */
function elementsOf(view, items, from = 0) {
  const elements = items.slice(from, from + MOST).map((item) => elementOf(view, item));
  if (items.length > from + MOST) elements.push(restOf(view, items, from + MOST));
  return elements;
}

/**
 * @template Item
 * @param {View<Item>} view
 * @param {Item} item
 */
function elementOf(view, item) {
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

/**
 * Return an element that shows the items from an index on when it is clicked.
 * @template Item
 * @param {View<Item>} view
 * @param {Item[]} items
 * @param {number} from
 */
function restOf(view, items, from) {
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

/** @param {HTMLElement} item */
function focus(item) {
  const others = item.closest("[role=tree]")?.querySelectorAll("[tabindex='0']") ?? [];
  for (const other of others) other.setAttribute("tabindex", "-1");
  item.tabIndex = 0;
  item.focus();
}

/**
 * @param {HTMLElement} root
 * @param {KeyboardEvent} event
 */
function onKey(root, event) {
  const item = event.target instanceof Element ? itemAround(event.target) : null;
  if (!item) return;
  const shown = [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[role=treeitem]"))]
    .filter((other) => other.offsetParent !== null);
  /** @type {Record<string, () => HTMLElement | null | undefined | void>} */
  const moves = {
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

/** @param {HTMLElement} item */
function inwards(item) {
  if (item.getAttribute("aria-expanded") === "true") return itemIn(item);
  if (item.hasAttribute("aria-expanded")) actions.get(item)?.toggle(true);
  return null;
}

/** @param {HTMLElement} item */
function outwards(item) {
  const { parentElement: around } = item;
  if (item.getAttribute("aria-expanded") !== "true") return around && itemAround(around);
  actions.get(item)?.toggle(false);
  return null;
}

/** @param {Element} element */
const itemAround = (element) => /** @type {HTMLElement | null} */ (element.closest("[role=treeitem]"));

/** @param {Element} element */
const itemIn = (element) => /** @type {HTMLElement | null} */ (element.querySelector("[role=treeitem]"));
