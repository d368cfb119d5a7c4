/* Small parts that panels are made of: cells of tables, bars, badges, hints, what folds. */
{
  const { make } = profkit;

  /** A cell of a table. */
  profkit.cell = (content, attributes = {}) => make("td", attributes, content);

  /** A cell with a number, or with what stands for one. */
  profkit.numberCell = (content) => make("td", { class: "number" }, content);

  /** A number beside a bar as long as its share of the cell. */
  profkit.barCell = (share, text, title = null) =>
    make("td", { class: "number bar-cell", title }, profkit.bar(share), make("span", { class: "bar-text" }, text));

  /** A share with its bar, in a line of text. */
  profkit.shareBar = (share, title = null) =>
    make("span", { class: "share-bar", title },
      profkit.bar(share), make("span", { class: "bar-text" }, profkit.format.share(share)));

  /** A bar as long as a part of what it lies in. */
  profkit.bar = (share) => {
    const width = `${Math.min(1, Math.max(0, share)) * 100}%`;
    return make("span", { class: "bar", "aria-hidden": "true", style: { width } });
  };

  /** The head of a row that is the name of a function, as it stands in a file of counts. */
  profkit.plainHead = (name) => make("th", { scope: "row", class: "name plain" }, name);

  /** A short word in a frame; `kind` is a class. */
  profkit.badge = (text, kind, title = null) => make("span", { class: `badge ${kind}`, title }, text);

  /** A sentence that says what could stand here. */
  profkit.hint = (text) => make("p", { class: "hint" }, text);

  /** A title and a remark beside it. */
  profkit.titled = (tag, title, remark) => make(tag, {}, title, make("small", {}, remark));

  /** What opens below its summary. */
  profkit.folded = (summary, content, open = false) =>
    make("details", { class: "numbers", open }, make("summary", {}, summary), content);

  /** `1 run`, `2 runs`. */
  profkit.plural = (number, noun) => `${profkit.exactCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}
