/* Two sides of sampled runs: the headline with its grade, and what differs, function by function. */
{
  const { draw, isNumber, make, format: { points } } = profkit;
  const comparison = profkit.head.comparison;
  const NOISE = "noise";

  /** What a comparison comes to, in large: the headline, how sure it is, and who the sides are. */
  profkit.headline = ({ headline, grade = null, names }) =>
    make("div", { class: "headline" },
      make("p", { class: "headline-text" }, headline, grade ? profkit.badge(grade, `grade-${grade}`) : null),
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
    if (!isNumber(a) || !isNumber(b)) return null;
    const [textA, textB] = profkit.timesAlike([a, b]);
    const { change } = per_call_s;
    const against = change === NOISE ? "the difference is within the noise" : `${profkit.change(b / a)} against A`;
    return profkit.keyFigures([
      ["A, one call", textA, "on average"],
      ["B, one call", textB, change ? against : "on average"],
    ]);
  }

  /** The table: what changed stands first; what lies within the noise is hidden until it is asked for, and grey. */
  function differences(rows) {
    const changed = rows.filter((row) => row.change !== NOISE);
    const ends = rows.flatMap(({ low, high, a, b }) => [low ?? 0, high ?? 0, b - a]);
    const most = Math.max(...ends.map(Math.abs), 0.01);
    const at = profkit.scale([-most, most], [6, 154]);
    const grid = profkit.grid({
      caption: "Share of each function, its own or with all that it calls: the difference in points, with its interval.",
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
    const none = changed.length ? null : profkit.hint("No function differs by more than the noise.");
    profkit.on("search", show);
    profkit.on("selected", () => grid.mark(profkit.state.selected));
    show();
    const noise = rows.length - changed.length;
    const choice = make("label", { class: "check" }, all, `${profkit.plural(noise, "function")} within the noise, in grey`);
    return make("div", { class: "differences" }, none, grid.element, noise ? choice : null);
  }

  function columns(at) {
    const share = (side) => ({
      id: side, title: side.toUpperCase(), hint: `share of ${side.toUpperCase()}`, value: (row) => row[side],
      cell: (row) => profkit.barCell(row[side], profkit.format.share(row[side])),
    });
    const wide = { wide: true, rising: true };
    return [
      { id: "name", title: "function", rising: true, value: nameOf, cell: nameCell },
      share("a"), share("b"),
      { id: "difference", title: "difference", hint: "changes first, the largest on top", value: weightOf,
        cell: (row) => profkit.numberCell(points(row.b - row.a)) },
      { id: "interval", title: "interval", wide: true, cell: (row) => intervalCell(row, at) },
      { id: "of", title: "share", ...wide, value: shareOf, cell: (row) => profkit.cell(shareOf(row), { class: "faint words" }) },
      { id: "change", title: "change", ...wide, value: ({ change }) => change,
        cell: ({ change }) => profkit.cell(profkit.badge(change, `change-${change}`)) },
    ];
  }

  const nameOf = (row) => profkit.head.functions.name[row.function];
  const shareOf = (row) => (row.of === "self" ? "its own" : "with its calls");
  const weightOf = (row) => (row.change === NOISE ? 0 : 10) + Math.abs(row.b - row.a);

  function nameCell(row) {
    return make("th", { scope: "row", class: `name ${row.change}` }, profkit.functionLink(row.function));
  }

  function intervalCell({ a, b, low = null, high = null, change }, at) {
    const title = low === null ? "no interval" : `${points(low)} to ${points(high)} points`;
    const svg = draw("svg", { viewBox: "0 0 160 18", width: 160, height: 18, role: "img", "aria-label": title });
    svg.append(profkit.stroke(at(0), 0, at(0), 18, "plot-zero"));
    profkit.whisker(svg, { at, low, high, middle: b - a, y: 9, size: 4, kind: change });
    return profkit.cell(svg, { class: "whisker-cell", title });
  }
}
