/* The source of a function, each line with its heat. */
{
  const { make } = profkit;
  const indexes = new Map();

  profkit.panel("lines", "Source", (body) => {
    const show = () => body.replaceChildren(...tab(profkit.state.selected));
    profkit.on("run thread selected", show);
    show();
  }, () => profkit.head.runs.some((run) => Object.keys(run.source ?? {}).length));

  function tab(fn) {
    if (fn === null) return [profkit.hint("Select a function: here stands its source, each line with its share.")];
    const source = profkit.sourceOf(fn, true);
    const name = profkit.head.functions.name[fn];
    if (!source) return [profkit.hint(`No source of ${name} is here: its file was not at hand, or its share is small.`)];
    return [profkit.titled("h3", name, `${profkit.format.place(fn)} · ${noteOf()}`), source];
  }

  /** The source beside the graph: short, with a way to all of it; null where there is none. */
  profkit.sourceBeside = (fn) => {
    const source = profkit.sourceOf(fn, false);
    const larger = profkit.button("Larger", openTab, { class: "quiet" });
    const head = make("div", { class: "stack-head" }, profkit.titled("h4", "Source", noteOf()), larger);
    return source && make("section", { class: "source-beside" }, head, source);
  };

  function openTab() {
    profkit.set({ tab: "lines" });
    profkit.places.tabs.scrollIntoView({ block: "nearest" });
  }

  /** A function's lines with their weights in all threads together; null where the page has no source of it. */
  profkit.sourceOf = (fn, full) => {
    const source = (profkit.currentRun().source ?? {})[fn];
    if (!source) return null;
    const weights = weightsOf(profkit.state.run, fn);
    const most = Math.max(...[...weights.values()].map((weight) => weight.total), 0) || 1;
    const whole = profkit.tree(profkit.state.run, "all").total[0] || 1;
    const scale = { most, whole, full };
    const lines = dedented(source.lines);
    const rows = lines.map((text, i) => rowOf(source.first + i, text, weights.get(source.first + i), scale));
    const names = full ? ["line", "self", "total", "source"] : ["line", "total", "source"];
    const label = full ? "Source with the weight of each line" : "Source in short";
    const holder = make("div",
      { class: `scroll source-scroll${full ? " full" : ""}`, tabindex: "0", role: "region", "aria-label": label },
      make("table", { class: "source" },
        make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, rows)));
    scrollToHottest(holder, rows);
    return holder;
  };

  function noteOf() {
    if (profkit.isDifference) return "share of both sides";
    return profkit.state.thread === "all" ? "share of all" : "share of all threads";
  }

  /** Lines without the indentation that all of them have: a method needs as little room as a function. */
  function dedented(lines) {
    const depths = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
    const depth = Math.min(...depths);
    return lines.map((line) => line.slice(depth));
  }

  /** line → {self, total} of one function. */
  function weightsOf(run, fn) {
    if (!indexes.has(run)) indexes.set(run, indexOf(run));
    const [functions, lines, self, total] = columnsOf(run);
    return new Map((indexes.get(run).get(fn) ?? []).map((at) => [lines[at], { self: self[at], total: total[at] }]));
  }

  const columnsOf = (run) =>
    ["function", "line", "self", "total"].map((name) => profkit.column(`r${run}.lines.${name}`));

  function indexOf(run) {
    const index = new Map();
    columnsOf(run)[0].forEach((fn, at) => {
      if (!index.has(fn)) index.set(fn, []);
      index.get(fn).push(at);
    });
    return index;
  }

  function rowOf(number, text, weight, { most, whole, full }) {
    const share = (value) => (value ? profkit.format.share(value / whole) : "");
    const heat = weight ? weight.total / most : 0;
    const hot = heat ? { class: "hot", "data-heat": heat.toFixed(3), style: { "--heat": heat.toFixed(3) } } : {};
    return make("tr", hot,
      make("th", { scope: "row", class: "number" }, String(number)),
      full ? make("td", { class: "number" }, weight ? share(weight.self) : "") : null,
      make("td", { class: "number" }, weight ? share(weight.total) : ""),
      make("td", { class: "code" }, make("code", {}, text)));
  }

  /** Once the lines have a height, those that matter are in view. */
  function scrollToHottest(holder, rows) {
    const heatOf = (row) => Number(row.dataset.heat ?? 0);
    const hottest = rows.reduce((best, row) => (heatOf(row) > heatOf(best) ? row : best));
    if (heatOf(hottest)) requestAnimationFrame(() => { holder.scrollTop = hottest.offsetTop - holder.clientHeight / 2; });
  }
}
