/* Instruction counts of an order: what they come to, and the functions that executed them. */
{
  const { make } = profkit;
  const ORDERS = { self: "exclusive", total: "inclusive", name: "name" };

  /** Figures and functions of counts as the page's head has them; beside a graph of them the table is folded. */
  profkit.countsOf = (counts, graphed) => make("section", { class: "counts" },
    profkit.titled("h4", "Instructions", "of one execution"),
    profkit.keyFigures([
      ["stripped", profkit.exactCount(counts.stripped), `without memory allocators${shareOf(counts)}`],
      ["net", profkit.exactCount(counts.net), "without the loop around it"],
      ["baseline", profkit.exactCount(counts.baseline), "the same loop around pass"],
      ["repeats", String(counts.raw.length), agreement(counts.raw)],
    ]),
    counts.functions.length ? profkit.folded("Functions as Callgrind counted them", functions(counts), !graphed) : null);

  const shareOf = ({ net, stripped }) =>
    (net > stripped && net > 0 ? `, ${profkit.format.share((net - stripped) / net)} of net` : "");

  function agreement(raw) {
    const [low, high] = [Math.min(...raw), Math.max(...raw)];
    if (raw.length === 0) return "";
    if (raw.length === 1) return `raw ${profkit.exactCount(low)}`;
    if (low === high) return `agree: raw ${profkit.exactCount(low)}`;
    return `differ: raw ${profkit.exactCount(low)} to ${profkit.exactCount(high)}`;
  }

  function functions({ net, functions: rows }) {
    const share = (value) => (net > 0 ? value / net : 0);
    const cell = (value) => profkit.barCell(share(value), profkit.exactCount(value), profkit.format.share(share(value)));
    const column = (id, at) => ({ id, title: id, value: (row) => row[at], cell: (row) => cell(row[at]) });
    const calls = {
      id: "calls", title: "calls", value: (row) => row[3],
      cell: (row) => profkit.numberCell(row[3] ? profkit.exactCount(row[3]) : ""),
    };
    const grid = profkit.grid({
      caption: "Functions by the instructions that they executed themselves, and with all that they called.",
      sort: ORDERS[profkit.head.initial?.sort] ?? "exclusive", step: 12, key: ([name]) => name,
      columns: [
        { id: "name", title: "function", rising: true, value: ([name]) => name, cell: ([name]) => profkit.plainHead(name) },
        column("exclusive", 1), column("inclusive", 2), calls,
      ],
    });
    grid.show(rows);
    return grid.element;
  }
}
