/* The legend: packages by the weight of their own frames, in the colours of the graph. */
{
  const { make, format } = profkit;
  const MOST = 8;

  /** The legend, which follows run, thread and theme. A package's entry searches for it. */
  profkit.legend = () => {
    const list = make("ul", { class: "legend", "aria-label": "Packages by their own share" });
    const show = () => list.replaceChildren(...entries());
    profkit.on("run thread", show);
    profkit.onTheme(show);
    show();
    return list;
  };

  function entries() {
    const tree = profkit.currentTree();
    const own = profkit.ownByPackage(tree);
    const order = [...own.keys()].filter((index) => own[index] > 0).sort((a, b) => own[b] - own[a]);
    const shown = order.slice(0, MOST).map((index) => entry(index, own[index] / tree.total[0]));
    const rest = order.slice(MOST).reduce((sum, index) => sum + own[index], 0);
    const others = `${order.length - MOST} more ${format.share(rest / tree.total[0])}`;
    if (rest > 0) shown.push(make("li", { class: "faint" }, others));
    return shown;
  }

  function entry(index, share) {
    const { name, kind } = profkit.head.packages[index];
    const search = () => profkit.set({ search: profkit.state.search === name ? "" : name });
    return make("li", {},
      make("button", { type: "button", title: name && `Search for ${name}`, disabled: !name, click: search },
        make("span", { class: "swatch", style: { "background-color": profkit.packageColor(index) } }),
        name ? `${name}${kind === "native" ? " (native)" : ""}` : "no file",
        make("span", { class: "faint" }, format.share(share))));
  }

  /** The weight of their own frames by package. */
  profkit.ownByPackage = (tree) => {
    const own = new Float64Array(profkit.head.packages.length);
    const of = profkit.head.functions.package;
    for (let node = 1; node < tree.fn.length; node++) own[of[tree.fn[node]]] += tree.self[node];
    return own;
  };
}
