/* The processes of a merged run: what each did, and the functions whose shares differ between them. */
{
  const { make } = profkit;
  const ODD = 4;

  profkit.panel("processes", "Processes", (body) => {
    const show = () => body.replaceChildren(...partsOf(profkit.currentRun().merged));
    profkit.on("run", show);
    show();
  }, () => profkit.head.kind === "sampled" && profkit.head.runs.some((run) => run.merged));

  function partsOf(merged) {
    if (!merged) return [profkit.hint("This run is of one process.")];
    const grid = profkit.grid({
      caption: "Processes by their share of all samples.", sort: "share", step: 50, columns: processColumns(),
      key: ({ host, pid, started }) => `${host} ${pid} ${started}`,
    });
    grid.show(merged.processes);
    return [grid.element, ...differing(merged)];
  }

  function processColumns() {
    const number = (id, title, write) => ({
      id, title, value: (row) => row[id], cell: (row) => profkit.numberCell(row[id] === null ? "" : write(row[id])),
    });
    return [
      { id: "pid", title: "process", rising: true, value: ({ pid }) => pid,
        cell: ({ pid }) => make("th", { scope: "row", class: "name plain" }, String(pid)) },
      { id: "share", title: "share", value: ({ share }) => share,
        cell: ({ share }) => profkit.barCell(share, profkit.format.share(share)) },
      number("samples", "samples", profkit.format.count),
      number("calls", "calls", profkit.format.count),
      number("cpu_share", "CPU", (share) => `${Math.round(share * 100)} %`),
      number("peak_rss_bytes", "peak memory", profkit.format.bytes),
      { id: "started", title: "started (UTC)", rising: true, value: ({ started }) => started,
        cell: ({ started }) => profkit.cell(started.slice(0, 19).replace("T", " "), { class: "commit" }) },
      { id: "host", title: "host", rising: true, value: ({ host }) => host, cell: ({ host }) => profkit.cell(host) },
    ];
  }

  function differing({ differing: rows, processes }) {
    if (processes.length < 2) return [];
    const title = profkit.titled("h3", "Shares that differ between processes",
      "of a function and the library calls it makes");
    if (!rows.length) return [title, profkit.hint("None differs by more than noise and 5 points.")];
    const grid = profkit.grid({
      caption: "Functions whose share in a process differs from that in all others.", sort: "share", step: 20,
      key: ({ name, file }) => `${name} ${file}`,
      columns: [
        { id: "name", title: "function", rising: true, value: ({ name }) => name,
          cell: ({ name }) => profkit.plainHead(name) },
        { id: "share", title: "all processes", value: ({ share }) => share,
          cell: ({ share }) => profkit.barCell(share, profkit.format.share(share)) },
        { id: "odd", title: "processes that differ", cell: (row) => profkit.cell(oddOf(row)) },
      ],
    });
    grid.show(rows);
    return [title, grid.element];
  }

  /** `90 % in 4242, 2 % in 4250`: the processes that differ most. */
  function oddOf({ share, processes }) {
    const odd = processes.filter(({ differs }) => differs)
      .sort((a, b) => Math.abs(b.share - share) - Math.abs(a.share - share));
    const several = new Set(processes.map(({ pid }) => pid)).size < processes.length;
    const said = odd.slice(0, ODD).map((one) =>
      `${profkit.format.share(one.share)} in ${one.pid}${several ? ` on ${one.host}` : ""}`);
    return [...said, ...(odd.length > ODD ? [`${odd.length - ODD} more`] : [])].join(", ");
  }
}
