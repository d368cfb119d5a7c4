/* Who calls the selected function, and whom it calls: over all of its places together. */
{
  const { make } = profkit;

  profkit.panel("sandwich", "Callers and callees", (body) => {
    const show = () => body.replaceChildren(...(profkit.state.selected === null ? [hint()] : sides()));
    profkit.on("run thread selected", show);
    show();
  }, profkit.hasGraph);

  const hint = () => profkit.hint("Select a function in the graph or the table: here stand its callers and callees.");

  function sides() {
    const tree = profkit.tree(profkit.state.run, profkit.state.thread);
    const group = profkit.groupOf(tree, profkit.state.selected);
    if (!group.weight) return [profkit.hint("The selected function has no samples here.")];
    const view = { tree, whole: group.weight };
    return [make("div", { class: "sandwich" },
      side("Callers", "who it is called by", view, profkit.callersOf(tree, group), profkit.callersOf),
      side("Callees", "whom it calls", view, withOwn(tree, group), withOwn))];
  }

  /** The callees of a group, and what it spent itself, which makes the shares add up. */
  function withOwn(tree, group) {
    const callees = profkit.calleesOf(tree, group);
    const own = group.weight - callees.reduce((sum, callee) => sum + callee.weight, 0);
    const itself = { fn: group.fn, own: true, nodes: [], weights: [], weight: own };
    return own > 1e-9 && (callees.length || group.fn === profkit.state.selected)
      ? [...callees, itself].sort((a, b) => b.weight - a.weight) : callees;
  }

  function side(title, meaning, { tree, whole }, top, grow) {
    const id = `sandwich-${title.toLowerCase()}`;
    return make("section", { class: "sandwich-side", "aria-labelledby": id },
      make("h3", { id }, title, make("small", {}, meaning)),
      profkit.branches({
        label: `${title} of ${profkit.head.functions.name[profkit.state.selected]}`,
        top,
        below: (group) => (isFunction(group) ? grow(tree, group) : []),
        content: (group) => content(group, group.weight / whole),
        name: (group) => [profkit.format.share(group.weight / whole), nameOf(group), placeOf(group)].join(" ").trim(),
        pick: (group) => { if (isFunction(group)) profkit.set({ selected: group.fn }); },
      }));
  }

  const isFunction = (group) => group.fn !== null && !group.own;
  const wordOf = (group) => (group.own ? "itself" : "the bottom of the stack");
  const nameOf = (group) => (isFunction(group) ? profkit.head.functions.name[group.fn] : wordOf(group));

  const placeOf = (group) => (isFunction(group) ? profkit.format.place(group.fn) : "");

  function content(group, share) {
    const bar = profkit.shareBar(share, profkit.weightText(group.weight));
    if (!isFunction(group)) return [bar, " ", make("span", { class: "faint" }, nameOf(group))];
    // Spaces between flexible items are not seen, but read out and copied.
    return [bar, profkit.swatch(group.fn), " ", make("span", { class: "pick" }, nameOf(group)), " ",
      profkit.placeElement(placeOf(group))];
  }
}
