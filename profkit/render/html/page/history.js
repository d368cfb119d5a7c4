/* The history of a label: for each of its series the trend over commits, and the same as a table. */
{
  const { isNumber, make } = profkit;
  const record = profkit.head.history;
  const NAMES = { median_s: "median time", instructions: "instructions", per_call_s: "time of one call" };

  profkit.panel("history", "History", (body) => {
    const all = [record, ...(record.more ?? [])].filter((each) => each.points.length);
    body.append(...all.map((each) => seriesOf(each, all.length > 1)));
  }, () => Boolean(record?.points.length));

  function seriesOf({ label, measure, points }, titled) {
    const isTime = measure !== "instructions";
    const write = (values) => (isTime ? profkit.timesAlike(values) : values.map(profkit.exactCount));
    const view = { points, measure, isTime, write, rows: [], texts: write(points.map((point) => point.value)) };
    view.name = `${NAMES[measure]} of ${label} over ${points.length} commit${points.length === 1 ? "" : "s"}`;
    view.summary = summaryOf(view);
    view.say = (i) => sayPoint(view, i);
    view.onChoose = (i) => view.rows.forEach((row, k) => row.classList.toggle("chosen", k === i));
    const title = titled ? make("h3", {}, label, make("small", {}, NAMES[measure])) : null;
    return make("section", { class: "history" }, title, profkit.trendOf(view), tableOf(view));
  }

  const nameOf = (point) => profkit.shortCommit(point.commit);

  function summaryOf({ points, texts }) {
    const [first, last] = [points[0], points.at(-1)];
    if (points.length === 1) return `${nameOf(first)}: ${texts[0]}`;
    const change = first.value > 0 ? `, ${profkit.change(last.value / first.value)}` : "";
    return `From ${nameOf(first)} to ${nameOf(last)}: ${texts[0]} to ${texts.at(-1)}${change}`;
  }

  function sayPoint({ points, texts, write, measure }, i) {
    const { started, low, high, runs, warnings } = points[i];
    const ends = isNumber(low) ? write([low, high]) : null;
    const sure = ends ? `95 % between ${ends[0]} and ${ends[1]}` : measure === "instructions" ? null : "no interval";
    const said = [nameOf(points[i]), texts[i], sure, `${runs} run${runs === 1 ? "" : "s"}`, started.slice(0, 10)];
    return [...said, ...warnings].filter(Boolean).join(" · ");
  }

  /** The table, newest first; columns in which no point has anything are left out. */
  function tableOf(view) {
    const columns = columnsOf(view).filter(({ applies }) => applies !== false);
    view.rows = view.points.map((point, i) =>
      make("tr", { pointerenter: () => view.choose(i), pointerleave: () => view.choose(null) },
        columns.map(({ cell }) => cell(point, i))));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${view.name}` },
      make("table", { class: "figures" },
        make("thead", {}, make("tr", {}, columns.map(headOf))),
        make("tbody", {}, [...view.rows].reverse())));
  }

  function columnsOf(view) {
    const { points, measure, texts } = view;
    return [
      { title: "commit", cell: (point) =>
        make("th", { scope: "row", class: "commit", title: point.commit }, make("code", {}, nameOf(point))) },
      { title: NAMES[measure], kind: "number", cell: (_, i) => profkit.numberCell(make("strong", {}, texts[i])) },
      { title: "to the one before", kind: "number", cell: (_, i) => stepCell(view, i) },
      { title: "95 % interval", kind: "number", applies: points.some(({ low }) => isNumber(low)),
        cell: (point) => profkit.cell(boundsOf(view, point), { class: "number faint" }) },
      { title: "runs", kind: "number", cell: ({ runs }) => profkit.numberCell(String(runs)) },
      { title: "when", cell: ({ started }) => profkit.cell(started.slice(0, 10), { class: "commit" }) },
      { title: "warnings", applies: points.some(({ warnings }) => warnings.length), cell: ({ warnings }) =>
        profkit.cell(make("ul", { class: "warnings" }, warnings.map((warning) => make("li", {}, warning)))) },
    ];
  }

  const headOf = ({ title, kind }) => make("th", { scope: "col", class: kind }, title);
  const boundsOf = ({ write }, { low, high }) => (isNumber(low) ? write([low, high]).join(" – ") : "");

  /** The change to the point before: grey where the intervals overlap or are not known. */
  function stepCell({ points, measure }, i) {
    if (i === 0 || !(points[i - 1].value > 0)) return make("td", { class: "number" });
    const [before, now] = [points[i - 1], points[i]];
    const apart = areApart(before, now, measure === "instructions");
    const tone = apart ? (now.value > before.value ? "more" : "less") : "noise";
    const title = apart ? null : "within the noise";
    return make("td", { class: `number ${tone}`, title }, profkit.change(now.value / before.value));
  }

  function areApart(before, now, exact) {
    if (isNumber(now.low) && isNumber(before.low)) return now.low > before.high || now.high < before.low;
    return exact && now.value !== before.value;
  }
}
