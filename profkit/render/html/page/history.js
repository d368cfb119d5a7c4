/* The history of a label: for each of its series the trend over commits, and the same as a table. */
{
  const { make } = profkit;
  const record = profkit.head.history;
  const NAMES = { median_s: "median time", instructions: "instructions", per_call_s: "time of one call" };

  profkit.panel("history", "History", (body) => {
    const all = [record, ...(record.more ?? [])].filter((each) => each.points.length);
    body.append(...all.map((each) => seriesOf(each, all.length > 1)));
  }, () => Boolean(record?.points.length));

  const isNumber = (value) => typeof value === "number";

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
    const { started, low, high, runs, doubts } = points[i];
    const ends = isNumber(low) ? write([low, high]) : null;
    const sure = ends ? `95 % between ${ends[0]} and ${ends[1]}` : measure === "instructions" ? null : "no interval";
    const said = [nameOf(points[i]), texts[i], sure, `${runs} run${runs === 1 ? "" : "s"}`, started.slice(0, 10)];
    return [...said, ...doubts].filter(Boolean).join(" · ");
  }

  function tableOf(view) {
    view.rows = view.points.map((point, i) => rowOf(view, point, i));
    const heads = ["commit", NAMES[view.measure], "to the one before", "95 % interval", "runs", "when", "doubts"];
    const kinds = [null, "number", "number", "number", "number", null, null];
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${view.name}` },
      make("table", { class: "figures" },
        make("thead", {}, make("tr", {}, heads.map((text, i) => make("th", { scope: "col", class: kinds[i] }, text)))),
        make("tbody", {}, [...view.rows].reverse())));
  }

  function rowOf(view, point, i) {
    const ends = isNumber(point.low) ? view.write([point.low, point.high]).join(" – ") : "";
    const doubts = point.doubts.map((doubt) => make("li", {}, doubt));
    return make("tr", { pointerenter: () => view.choose(i), pointerleave: () => view.choose(null) },
      make("th", { scope: "row", class: "commit", title: point.commit }, make("code", {}, nameOf(point))),
      make("td", { class: "number" }, make("strong", {}, view.texts[i])),
      stepCell(view, i),
      make("td", { class: "number faint" }, ends),
      make("td", { class: "number" }, String(point.runs)),
      make("td", { class: "commit" }, point.started.slice(0, 10)),
      make("td", {}, doubts.length ? make("ul", { class: "doubts" }, doubts) : ""));
  }

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
