/* Two sides of sampled runs: the headline with its grade, and what differs, function by function. */
{
  const { draw, make } = profkit;
  const comparison = profkit.head.comparison;
  const NOISE = "noise";

  /** What a comparison comes to, in large: the headline, how sure it is, and who the sides are. */
  profkit.headline = ({ headline, grade = null, names }) =>
    make("div", { class: "headline" },
      make("p", { class: "headline-text" }, headline, grade ? make("span", { class: `badge grade-${grade}` }, grade) : null),
      make("dl", { class: "sides" }, ["a", "b"].map((side) =>
        make("div", { class: `side-${side}` }, make("dt", {}, side.toUpperCase()), make("dd", {}, names[side])))));

  profkit.panel("comparison", "Comparison", (body) => {
    body.append(...[
      profkit.headline(comparison), callTimes(comparison.per_call_s),
      profkit.warnings(comparison.notes ?? []), differences(comparison.functions),
    ].filter(Boolean));
  }, () => Boolean(comparison?.functions));

  function callTimes(per_call_s) {
    const { a, b } = per_call_s ?? {};
    if (typeof a !== "number" || typeof b !== "number") return null;
    const [textA, textB] = profkit.timesAlike([a, b]);
    const changed = per_call_s.change && per_call_s.change !== NOISE;
    return profkit.keyFigures([
      ["A, one call", textA, "on average"],
      ["B, one call", textB, changed ? `${profkit.change(b / a)} against A` : per_call_s.change ? "the difference is within the noise" : "on average"],
    ]);
  }

  /** The table: what changed stands first; what lies within the noise is hidden until it is asked for, and grey. */
  function differences(rows) {
    const changed = rows.filter((row) => row.change !== NOISE);
    const most = Math.max(...rows.flatMap(({ low, high, a, b }) => [low, high, b - a].map((end) => Math.abs(end ?? 0))), 0.01);
    const at = profkit.scale([-most, most], [6, 154]);
    const grid = profkit.grid({
      caption: "Share of each function, its own or with all that it calls: the difference in points, with its confidence interval.",
      columns: columns(at), sort: "difference", key: (row) => row.function, step: 30,
      pick: ({ function: fn }) => profkit.set({ selected: profkit.state.selected === fn ? null : fn }),
    });
    const all = make("input", { type: "checkbox", change: () => show() });
    const show = () => {
      const matches = profkit.matching(profkit.state.search);
      grid.show((all.checked || matches ? rows : changed).filter((row) => !matches || matches[row.function]));
      grid.mark(profkit.state.selected);
      grid.element.hidden = !changed.length && !all.checked && !matches;
    };
    const none = changed.length ? null : make("p", { class: "hint" }, "No function differs by more than the noise.");
    profkit.on("search", show);
    profkit.on("selected", () => grid.mark(profkit.state.selected));
    show();
    const noise = rows.length - changed.length;
    return make("div", { class: "differences" }, none, grid.element,
      noise ? make("label", { class: "check" }, all, `${profkit.exactCount(noise)} functions within the noise, in grey`) : null);
  }

  function columns(at) {
    const share = (side) => ({ id: side, title: side.toUpperCase(), hint: `share of ${side.toUpperCase()}`, value: (row) => row[side],
      cell: (row) => profkit.barCell(row[side], profkit.format.share(row[side])) });
    return [
      { id: "name", title: "function", rising: true, value: (row) => profkit.head.functions.name[row.function], cell: nameCell },
      share("a"), share("b"),
      { id: "difference", title: "difference", hint: "changes first, the largest on top", value: weightOf,
        cell: (row) => make("td", { class: "number" }, points(row.b - row.a)) },
      { id: "interval", title: "interval", wide: true, cell: (row) => make("td", { class: "whisker-cell", title: intervalText(row) }, whisker(row, at)) },
      { id: "of", title: "share", rising: true, wide: true, value: shareOf, cell: (row) => make("td", { class: "faint" }, shareOf(row)) },
      { id: "change", title: "change", rising: true, wide: true, value: (row) => row.change, cell: (row) => make("td", {}, make("span", { class: `badge change-${row.change}` }, row.change)) },
    ];
  }

  const shareOf = (row) => (row.of === "self" ? "its own" : "with its calls");
  const weightOf = (row) => (row.change === NOISE ? 0 : 10) + Math.abs(row.b - row.a);

  function nameCell(row) {
    return make("th", { scope: "row", class: `name ${row.change}` }, profkit.functionLink(row.function));
  }

  /** A difference of shares in points: `+2.1 points`. */
  const points = (part) => `${part > 0 ? "+" : part < 0 ? "−" : ""}${profkit.decimals(Math.abs(part) * 100, 1)}`;
  const intervalText = ({ low, high }) => (typeof low === "number" && typeof high === "number" ? `${points(low)} to ${points(high)} points` : "no interval");

  function whisker(row, at) {
    const svg = draw("svg", { viewBox: "0 0 160 18", width: 160, height: 18, role: "img", "aria-label": intervalText(row) });
    svg.append(profkit.stroke(at(0), 0, at(0), 18, "plot-zero"));
    profkit.whisker(svg, { at, low: row.low ?? null, high: row.high ?? null, middle: row.b - row.a, y: 9, size: 4, kind: row.change });
    return svg;
  }
}
