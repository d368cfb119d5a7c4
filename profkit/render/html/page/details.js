/* All about the selected function: its costs, where it stands, and its heaviest stack to copy. */
{
  const { make } = profkit;
  const MOST_FRAMES = 12;

  profkit.panel("details", "Selected function", (body) => {
    const figures = make("div");
    const place = make("div");
    body.append(figures, place);
    const showPlace = () => {
      const { selected } = profkit.state;
      place.replaceChildren(...(selected === null ? [] : stack(selected)));
    };
    const show = () => {
      const { selected } = profkit.state;
      figures.replaceChildren(...(selected === null ? nothing() : about(selected)));
      showPlace();
    };
    profkit.on("run thread selected", show);
    profkit.on("cursor", (state, changed) => changed.includes("selected") || showPlace());
    show();
  }, profkit.hasGraph);

  const nothing = () => [
    profkit.hint("Nothing is selected. A click on a frame, or on a row of the table, selects a function."),
    profkit.hotLines() ?? "",
  ];

  function about(fn) {
    const tree = profkit.tree(profkit.state.run, profkit.state.thread);
    const costs = profkit.costs(tree);
    const clear = { class: "quiet", "aria-label": "Clear the selection" };
    return [
      make("div", { class: "details-head" },
        make("h3", { class: "details-name" }, profkit.swatch(fn), profkit.head.functions.name[fn]),
        profkit.button("clear", () => profkit.set({ selected: null }), clear)),
      make("p", { class: "place" }, profkit.format.place(fn)),
      make("dl", { class: "figures-list" },
        figure("self", costs.self[fn], tree),
        figure("total", costs.total[fn], tree),
        ...profkit.differenceOf(fn).map(([name, text]) => pair(name || "change", text)),
        pair("package", profkit.packageOf(fn)),
        pair("places in the tree", profkit.exactCount(costs.places[fn]))),
      profkit.sourceBeside(fn),
    ].filter(Boolean);
  }

  const pair = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));

  function figure(name, weight, tree) {
    const share = weight / (tree.total[0] || 1);
    return make("div", {}, make("dt", {}, name),
      make("dd", {},
        make("strong", {}, profkit.format.share(share)),
        make("span", { class: "faint" }, profkit.weightText(weight)),
        make("span", { class: "meter" }, profkit.bar(share))));
  }

  /** The stack down to the frame that was chosen in the graph, else down to the place where most of the weight is. */
  function stack(fn) {
    const tree = profkit.currentTree();
    const { nodes, weight } = profkit.groupOf(tree, fn);
    if (!nodes.length) return [];
    const { cursor } = profkit.state;
    const chosen = cursor > 0 && tree.fn[cursor] === fn && tree.total[cursor] > 0;
    const node = chosen ? cursor : nodes.reduce((best, each) => (tree.total[each] > tree.total[best] ? each : best));
    const frames = framesOf(tree, node);
    const share = profkit.format.share(tree.total[node] / weight);
    return [make("section", { class: "stack" },
      make("div", { class: "stack-head" },
        profkit.titled("h4", chosen ? "Stack" : "Heaviest stack", `${share} of its total`),
        profkit.copyButton("Copy", () => frames.map(textOf).join("\n"))),
      listOf(frames))];
  }

  function framesOf(tree, node) {
    const frames = [];
    for (let at = node; at !== 0; at = tree.parent[at]) frames.push(tree.fn[at]);
    return frames.reverse();
  }

  const textOf = (fn) => `${profkit.head.functions.name[fn]}  ${profkit.format.place(fn)}`;

  function listOf(frames) {
    const hidden = frames.length > MOST_FRAMES + 3 ? frames.length - MOST_FRAMES : 0;
    const list = make("ol", { class: "frames", start: hidden + 1 }, frames.slice(hidden).map(item));
    if (hidden) {
      const more = profkit.button(`${hidden} frames further out`, () => {
        list.prepend(...frames.slice(0, hidden).map(item));
        list.start = 1;
        more.remove();
      }, { class: "more" });
      return [more, list];
    }
    return list;
  }

  const item = (fn) => make("li", {},
    make("span", { class: "named" }, profkit.swatch(fn),
      profkit.button(profkit.breakable(profkit.head.functions.name[fn]), () => profkit.set({ selected: fn }),
        { class: "link" })),
    " ", profkit.placeElement(profkit.format.place(fn)));
}
