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
    return [
      { id: "name", title: "function", rising: true, value: (fn) => functions.name[fn], cell: nameCell },
      { id: "self", title: "self", hint: "its own weight", value: (fn) => costs().self[fn], cell: (fn) => weightCell("self", fn) },
      { id: "total", title: "total", hint: "with all that it calls; recursion counts once",
        value: (fn) => costs().total[fn], cell: (fn) => weightCell("total", fn) },
      { id: "package", title: "package", rising: true, wide: true, value: profkit.packageOf, cell: (fn) => make("td", {}, profkit.packageOf(fn)) },
      { id: "place", title: "place", rising: true, wide: true, value: profkit.format.place, cell: (fn) => make("td", { class: "place" }, profkit.format.place(fn)) },
    ];
  }

  function nameCell(fn) {
    return make("th", { scope: "row", class: "name" }, profkit.functionLink(fn),
      make("span", { class: "narrow-only place" }, profkit.format.place(fn)));
  }

  /** A weight with a bar as long as its part of the column's largest. */
  function weightCell(name, fn) {
    const weight = costs()[name][fn];
    const most = costs().most[name] || 1;
    return profkit.barCell(weight / most, weight ? [make("span", { class: "amount wide-only" }, profkit.amountText(weight)), profkit.format.share(share(weight))] : "",
      { title: profkit.weightText(weight) });
  }

  function found() {
    const { total } = costs();
    const matches = profkit.matching(profkit.state.search);
    const rows = [];
    total.forEach((weight, fn) => { if (weight && (!matches || matches[fn])) rows.push(fn); });
    return rows;
  }
}
