/* A tree of groups that open when asked for, by mouse and by the keys that trees have. */
{
  const { make } = profkit;
  const MOST = 25;

  /**
   * `top`: the first groups; `below(group)`: those below one; `content(group)`: elements that say what it is;
   * `name(group)`: the same in words; `pick(group)`: what Enter and a click on its name do.
   */
  profkit.branches = ({ label, top, below, content, name, pick }) => {
    const view = { below, content, name, pick };
    const root = make("ul", { role: "tree", "aria-label": label, class: "branches" }, itemsOf(view, top));
    const first = root.querySelector("[role=treeitem]");
    if (first) first.tabIndex = 0;
    root.addEventListener("keydown", (event) => onKey(root, event));
    return root;
  };

  function itemsOf(view, groups, from = 0) {
    const items = groups.slice(from, from + MOST).map((group) => itemOf(view, group));
    if (groups.length > from + MOST) items.push(restOf(view, groups, from + MOST));
    return items;
  }

  function itemOf(view, group) {
    const groups = view.below(group);
    const twig = make("span", { class: "twig", "aria-hidden": "true" });
    const row = make("div", { class: "branch" }, twig, view.content(group));
    const expanded = groups.length ? "false" : null;
    const item = make("li",
      { role: "treeitem", tabindex: "-1", "aria-label": view.name(group), "aria-expanded": expanded }, row);
    item.toggle = (open = item.getAttribute("aria-expanded") === "false") => {
      if (!groups.length) return;
      item.setAttribute("aria-expanded", String(open));
      if (open && item.children.length === 1) item.append(make("ul", { role: "group" }, itemsOf(view, groups)));
    };
    item.pick = () => view.pick(group);
    row.addEventListener("click", (event) => (event.target.closest(".pick") ? item.pick() : item.toggle()));
    return item;
  }

  function restOf(view, groups, from) {
    const item = make("li", { role: "treeitem", tabindex: "-1" },
      make("div", { class: "branch rest" }, `${profkit.exactCount(groups.length - from)} smaller`));
    item.pick = () => {
      const items = itemsOf(view, groups, from);
      item.replaceWith(...items);
      focus(items[0]);
    };
    item.toggle = item.pick;
    item.firstChild.addEventListener("click", item.pick);
    return item;
  }

  function focus(item) {
    for (const other of item.closest("[role=tree]").querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }

  function onKey(root, event) {
    const item = event.target.closest("[role=treeitem]");
    const shown = [...root.querySelectorAll("[role=treeitem]")].filter((other) => other.offsetParent !== null);
    const moves = {
      ArrowDown: () => shown[shown.indexOf(item) + 1],
      ArrowUp: () => shown[shown.indexOf(item) - 1],
      Home: () => shown[0],
      End: () => shown.at(-1),
      ArrowRight: () => inwards(item),
      ArrowLeft: () => outwards(item),
      Enter: () => item.pick(),
      " ": () => item.toggle(),
    };
    if (!item || !moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    const to = moves[event.key]();
    if (to) focus(to);
  }

  function inwards(item) {
    if (item.getAttribute("aria-expanded") === "true") return item.querySelector("[role=treeitem]");
    if (item.hasAttribute("aria-expanded")) item.toggle(true);
    return null;
  }

  function outwards(item) {
    if (item.getAttribute("aria-expanded") !== "true") return item.parentElement.closest("[role=treeitem]");
    item.toggle(false);
    return null;
  }
}
