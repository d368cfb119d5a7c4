/* The line above the graph: search, views, direction, the way back; and the callers of what is zoomed to. */
{
  const { make, graph } = profkit;

  const VIEWS = [
    ["left-heavy", "Left heavy", "Equal stacks merged, heaviest first"],
    ["chronological", "Chronological", "As it happened, thread after thread"],
  ];
  const DIRECTIONS = [["icicle", "Icicle", "Callers above"], ["flame", "Flame", "Callers below"]];

  /** Fill the toolbar; where no run knows the order of its samples there is one view. */
  profkit.buildToolbar = (element) => {
    const views = profkit.head.runs.some((run) => run.ordered)
      ? [choice("view", "View", VIEWS, (value) => value !== "chronological" || profkit.currentRun().ordered)]
      : [];
    element.append(profkit.searchElement(), ...views, choice("direction", "Direction", DIRECTIONS, () => true));
  };

  /** A group of buttons for a name of the state, one of them pressed. */
  function choice(name, label, values, allowed) {
    const buttons = values.map(([value, text, title]) =>
      make("button", { type: "button", title, click: () => profkit.set({ [name]: value }) }, text));
    const show = () => buttons.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(profkit.state[name] === values[i][0]));
      button.disabled = !allowed(values[i][0]);
      button.title = button.disabled ? "The order of samples is not known in this run" : values[i][2];
    });
    profkit.on(`${name} run`, show);
    show();
    return make("div", { class: "segmented", role: "group", "aria-label": label }, buttons);
  }

  /** The callers of the focus as buttons; nothing while everything is in sight. */
  profkit.breadcrumbs = () => {
    const list = make("ol");
    const nav = make("nav", { class: "breadcrumbs", "aria-label": "Callers of the zoomed frame" }, list);
    const show = () => {
      const { focus, range } = profkit.state;
      const tree = profkit.currentTree();
      const path = [0, ...profkit.pathTo(tree, focus)];
      nav.classList.toggle("idle", focus === 0 && range === null);
      list.replaceChildren(...path.map((node, i) => make("li", {}, crumb(tree, node, i === path.length - 1))));
      nav.scrollLeft = nav.scrollWidth;
    };
    profkit.on("focus range run thread", show);
    show();
    return nav;
  };

  function crumb(tree, node, last) {
    return make("button", {
      type: "button", "aria-current": last ? "location" : null,
      click: () => (node === 0 ? profkit.zoomOut() : profkit.zoomTo(ancestorSpot(node))),
    }, node === 0 ? "Everything" : profkit.nameOf(tree, node));
  }

  /** The spot of a caller: in time, the one around the current frame. */
  function ancestorSpot(node) {
    const view = graph.view();
    let spot = graph.spot;
    while (view.node(spot) !== node && view.node(spot) !== 0) spot = view.parent(spot);
    return view.node(spot) === node ? spot : view.spotOf(node);
  }

  function toggle(name, [[first], [second]]) {
    profkit.set({ [name]: profkit.state[name] === first ? second : first });
  }

  profkit.key(["v"], ["v"], "Left heavy or chronological", () => {
    if (profkit.currentRun().ordered) toggle("view", VIEWS);
  });
  profkit.key(["f"], ["f"], "Icicle or flame", () => toggle("direction", DIRECTIONS));
}
