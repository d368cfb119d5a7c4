/* Which region and which thread the page is about, as labelled lists to choose from. */
{
  const { make } = profkit;

  profkit.panel("selectors", "What is shown", (body) => {
    const thread = make("span", { class: "chooser-place" });
    body.append(...regionChooser(), thread);
    const show = () => thread.replaceChildren(...threadChooser());
    profkit.on("run", show);
    show();
  }, () => profkit.head.runs.length > 1 || profkit.head.runs.some((run) => run.threads.length > 1));

  function regionChooser() {
    const { runs, kind } = profkit.head;
    if (runs.length < 2 || kind !== "sampled") return [];
    const options = runs.map((run, i) => [i, run.label]);
    return [chooser("Region", options, (value) => ({ run: Number(value) }), () => profkit.state.run)];
  }

  function sideChooser({ a, b }) {
    const options = [[0, `A: ${a}`], [1, `B: ${b}`]];
    return chooser("Side", options, (value) => ({ thread: Number(value) }), () => profkit.state.thread);
  }

  function threadChooser() {
    const run = profkit.currentRun();
    if (run.threads.length < 2) return [];
    if (profkit.head.kind === "comparison") return [sideChooser(profkit.head.comparison.names)];
    const total = profkit.tree(profkit.state.run, "all").total[0] || 1;
    const weights = weightsOf(profkit.state.run, run.threads.length);
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]);
    const several = new Set(run.threads.map((thread) => thread.pid)).size > 1;
    const shareOf = (i) => profkit.format.share(weights[i] / total);
    const named = order.map((i) => [i, `${nameOf(run.threads[i], several)} – ${shareOf(i)}`]);
    return [chooser("Thread", [["all", `all ${run.threads.length} threads`], ...named],
      (value) => ({ thread: value === "all" ? value : Number(value) }), () => profkit.state.thread)];
  }

  /** Weight by thread, without a tree of each. */
  function weightsOf(run, count) {
    const weights = new Array(count).fill(0);
    const [threads, amounts] = [profkit.column(`r${run}.pair.thread`), profkit.column(`r${run}.pair.weight`)];
    threads.forEach((thread, pair) => (weights[thread] += amounts[pair]));
    return weights;
  }

  const nameOf = ({ name, pid, tid }, several) =>
    [name, several ? `process ${pid}` : "", tid ?? ""].filter((part) => part !== "").join(" · ");

  function chooser(name, options, changes, current) {
    const id = `choose-${name.toLowerCase()}`;
    const select = make("select", { id, change: () => profkit.set(changes(select.value)) },
      options.map(([value, text]) => make("option", { value: String(value) }, text)));
    const show = () => { select.value = String(current()); };
    profkit.on("run thread", show);
    show();
    return make("div", { class: "chooser" }, make("label", { class: "chooser-name", for: id }, name), select);
  }
}
