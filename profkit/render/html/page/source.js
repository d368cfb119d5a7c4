/* The source of a function, each line with its heat. */
{
  const { make } = profkit;
  const indexes = new Map();

  /** The lines of a function with weights; null where the page has no source of it. Weights are of all threads. */
  profkit.sourceOf = (fn) => {
    const source = (profkit.head.runs[profkit.state.run].source ?? {})[fn];
    if (!source) return null;
    const weights = weightsOf(profkit.state.run, fn);
    const most = Math.max(...[...weights.values()].map((weight) => weight.total), 0) || 1;
    const whole = profkit.tree(profkit.state.run, "all").total[0] || 1;
    const rows = source.lines.map((text, i) => rowOf(source.first + i, text, weights.get(source.first + i), most, whole));
    const holder = make("div", { class: "scroll source-scroll", tabindex: "0", role: "region", "aria-label": "Source with the weight of each line" },
      make("table", { class: "source" },
        make("thead", {}, make("tr", {}, ["line", "self", "total", "source"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, rows)));
    scrollToHottest(holder, rows);
    return make("section", {}, make("h4", {}, "Source", make("small", {}, noteOf())), holder);
  };

  const noteOf = () => (profkit.state.thread === "all" ? "share of all" : "share of all threads together");

  /** line → {self, total} of one function. */
  function weightsOf(run, fn) {
    if (!indexes.has(run)) indexes.set(run, indexOf(run));
    const [functions, lines, self, total] = columnsOf(run);
    return new Map((indexes.get(run).get(fn) ?? []).map((at) => [lines[at], { self: self[at], total: total[at] }]));
  }

  const columnsOf = (run) => ["function", "line", "self", "total"].map((name) => profkit.column(`r${run}.lines.${name}`));

  function indexOf(run) {
    const index = new Map();
    columnsOf(run)[0].forEach((fn, at) => {
      if (!index.has(fn)) index.set(fn, []);
      index.get(fn).push(at);
    });
    return index;
  }

  function rowOf(number, text, weight, most, whole) {
    const share = (value) => (value ? profkit.format.share(value / whole) : "");
    const heat = weight ? weight.total / most : 0;
    return make("tr", { class: heat ? "hot" : null, "data-heat": heat ? heat.toFixed(3) : null, style: { "--heat": heat.toFixed(3) } },
      make("th", { scope: "row", class: "number" }, String(number)),
      make("td", { class: "number" }, weight ? share(weight.self) : ""),
      make("td", { class: "number" }, weight ? share(weight.total) : ""),
      make("td", { class: "code" }, make("code", {}, text)));
  }

  /** Once the lines have a height, those that matter are in view. */
  function scrollToHottest(holder, rows) {
    const hottest = rows.reduce((best, row) => (Number(row.dataset.heat ?? 0) > Number(best?.dataset.heat ?? 0) ? row : best), null);
    if (hottest) requestAnimationFrame(() => { holder.scrollTop = hottest.offsetTop - holder.clientHeight / 2; });
  }
}
