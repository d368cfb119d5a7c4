/* Instruction counts of an order: what they come to, and the functions that executed them. */
{
  const { make } = profkit;
  const ORDERS = { self: "exclusive", total: "inclusive", name: "name" };

  /** Figures and functions of counts as the page's head has them; where there is a graph of them the table is folded. */
  profkit.countsOf = (counts, graphed) => make("section", { class: "counts" },
    make("h4", {}, "Instructions", make("small", {}, "of one execution")),
    profkit.keyFigures([
      ["stripped", profkit.exactCount(counts.stripped), `without memory allocators${shareOf(counts)}`],
      ["net", profkit.exactCount(counts.net), "without the loop around it"],
      ["baseline", profkit.exactCount(counts.baseline), "the same loop around pass"],
      ["repeats", String(counts.raw.length), agreement(counts.raw)],
    ]),
    counts.functions.length
      ? make("details", { class: "numbers", open: !graphed }, make("summary", {}, "Functions as Callgrind counted them"), functions(counts)) : null);

  const shareOf = ({ net, stripped }) => (net > stripped && net > 0 ? `, ${profkit.format.share((net - stripped) / net)} of net` : "");

  function agreement(raw) {
    const [low, high] = [Math.min(...raw), Math.max(...raw)];
    if (raw.length === 0) return "";
    if (raw.length === 1) return `raw ${profkit.exactCount(low)}`;
    return low === high ? `agree: raw ${profkit.exactCount(low)}` : `differ: raw ${profkit.exactCount(low)} to ${profkit.exactCount(high)}`;
  }

  function functions({ net, functions: rows }) {
    const cell = (value) => profkit.barCell(net > 0 ? value / net : 0, profkit.exactCount(value), { title: profkit.format.share(net > 0 ? value / net : 0) });
    const grid = profkit.grid({
      caption: "Functions by the instructions that they executed themselves, and with all that they called.",
      sort: ORDERS[profkit.head.initial?.sort] ?? "exclusive", step: 12, key: ([name]) => name,
      columns: [
        { id: "name", title: "function", rising: true, value: ([name]) => name, cell: ([name]) => make("th", { scope: "row", class: "name plain" }, name) },
        { id: "exclusive", title: "exclusive", value: ([, exclusive]) => exclusive, cell: ([, exclusive]) => cell(exclusive) },
        { id: "inclusive", title: "inclusive", value: ([, , inclusive]) => inclusive, cell: ([, , inclusive]) => cell(inclusive) },
        { id: "calls", title: "calls", value: ([, , , calls]) => calls, cell: ([, , , calls]) => make("td", { class: "number" }, calls ? profkit.exactCount(calls) : "") },
      ],
    });
    grid.show(rows);
    return grid.element;
  }
}
