/* The hot functions: self and total of each, sortable, filtered by the search. */
{
  const { make } = profkit;

  profkit.panel("functions", "Hot functions", (body) => {
    const grid = profkit.grid({
      caption: "Functions by their own weight and with all that they call; click one to select it.",
      columns: columns(), sort: profkit.head.initial?.sort ?? "self", step: 40,
      pick: (fn) => profkit.set({ selected: profkit.state.selected === fn ? null : fn }),
    });
    body.append(grid.element);
    const show = () => { grid.show(found()); grid.mark(profkit.state.selected); };
    profkit.on("run thread search", show);
    profkit.on("selected", () => grid.mark(profkit.state.selected));
    show();
  }, profkit.hasGraph);

  const tree = () => profkit.tree(profkit.state.run, profkit.state.thread);
  const costs = () => profkit.costs(tree());
  const share = (weight) => weight / (tree().total[0] || 1);

  function columns() {
    const { functions } = profkit.head;
    const words = { rising: true, wide: true };
    const { packageOf, format: { place } } = profkit;
    const weights = (name, hint) => ({
      id: name, title: name, hint, value: (fn) => costs()[name][fn], cell: (fn) => weightCell(name, fn),
    });
    return [
      { id: "name", title: "function", rising: true, value: (fn) => functions.name[fn], cell: nameCell },
      weights("self", "its own weight"),
      weights("total", profkit.hasStated(tree())
        ? "with all that it calls, as the file has it" : "with all that it calls; recursion counts once"),
      { id: "package", title: "package", ...words, value: packageOf, cell: (fn) => profkit.cell(packageOf(fn)) },
      { id: "place", title: "place", ...words, value: place,
        cell: (fn) => profkit.cell(profkit.placeElement(place(fn))) },
    ];
  }

  function nameCell(fn) {
    return make("th", { scope: "row", class: "name" }, profkit.functionLink(fn),
      profkit.placeElement(profkit.format.place(fn), { class: "narrow-only place" }));
  }

  /** A weight with a bar as long as its part of the column's largest. */
  function weightCell(name, fn) {
    const weight = costs()[name][fn];
    const amount = make("span", { class: "amount wide-only" }, profkit.amountText(weight));
    const text = weight ? [amount, profkit.format.share(share(weight))] : "";
    return profkit.barCell(weight / (costs().most[name] || 1), text, profkit.weightText(weight));
  }

  function found() {
    const { total } = costs();
    const matches = profkit.matching(profkit.state.search);
    const rows = [];
    total.forEach((weight, fn) => { if (weight && (!matches || matches[fn])) rows.push(fn); });
    return rows;
  }
}
