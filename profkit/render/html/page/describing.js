/* Frames in words: the tip under the pointer, and the line that screen readers read. */
{
  const { make, format } = profkit;

  /** The name of a node: of its function, or of what the root stands for. */
  profkit.nameOf = (tree, node) => {
    if (node > 0) return profkit.head.functions.name[tree.fn[node]];
    const { threads, label } = profkit.head.runs[tree.run];
    if (tree.thread !== "all") return threads[tree.thread].name;
    return threads.length > 1 ? `all ${threads.length} threads` : label;
  };

  const tip = make("div", { class: "tip", "aria-hidden": "true", hidden: true });
  const rim = make("div", { class: "rim", "aria-hidden": "true", hidden: true });
  const line = make("p", { class: "off-screen", "aria-live": "polite" });

  /** Elements to be placed once: the tip, the rim of what it is about, and the line that is read aloud. */
  profkit.describingElements = () => [tip, rim, line];

  /** Hide the tip and the rim. */
  profkit.hideTip = () => {
    tip.hidden = rim.hidden = true;
  };

  /** Show what a frame is beside the pointer; null hides the tip. */
  profkit.showTip = (event, frame) => {
    profkit.graph.canvas.style.cursor = frame ? "pointer" : "default";
    if (!frame || event.pointerType === "touch") return profkit.hideTip();
    tip.replaceChildren(...(frame.small ? wordsOfSmall() : words(frame)));
    tip.hidden = rim.hidden = false;
    surround(frame);
    placeTip(event);
    return undefined;
  };

  function placeTip(event) {
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 18 + box.height < innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? event.clientY + 18 : event.clientY - box.height - 12}px`;
  }

  /** The rim lies on the part of a frame that can be seen; moving it draws nothing anew. */
  function surround(frame) {
    const box = profkit.graph.canvas.getBoundingClientRect();
    const top = Math.max(frame.y, profkit.graph.rulerPx);
    const [left, right] = [Math.max(0, frame.x), Math.min(box.width, frame.x + frame.width)];
    const bottom = Math.min(box.height, frame.y + frame.height);
    const width = Math.max(1, right - left);
    const place = { left: box.left + left, top: box.top + top, width, height: bottom - top };
    for (const [name, px] of Object.entries(place)) rim.style.setProperty(name, `${px}px`);
  }

  /** Say what a spot is. */
  profkit.readAloud = (spot) => {
    const view = profkit.graph.view();
    const { tree } = view;
    const node = view.node(spot);
    const calls = profkit.children(tree, node).length;
    const whole = tree.total[0] || 1;
    line.textContent = [
      profkit.nameOf(tree, node), `${format.share(tree.total[node] / whole)} of the total`,
      `${format.share(tree.self[node] / whole)} itself`, `level ${tree.depth[node]}`,
      calls === 0 ? "calls nothing" : `calls ${calls}`,
    ].join(", ");
  };

  function words({ node, spot }) {
    const { tree } = profkit.graph.view();
    const rows = costsOf(tree, node);
    if (node > 0) rows.push(...stretchOf(spot), ...more(tree, node));
    return [
      make("strong", {}, profkit.nameOf(tree, node)),
      make("span", { class: "tip-place" }, node === 0 ? "" : originOf(tree.fn[node])),
      make("dl", {}, rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
    ];
  }

  function wordsOfSmall() {
    const hint = make("span", { class: "tip-place" }, "Click to zoom in on them");
    return [make("strong", {}, "Frames too narrow to draw"), hint];
  }

  const amount = (weight) => {
    const whole = profkit.graph.view().total;
    return `${format.weight(profkit.currentRun(), weight)} · ${format.share(weight / whole)}`;
  };

  const costsOf = (tree, node) => [["Total", amount(tree.total[node])], ["Self", amount(tree.self[node])]];

  /** In time, the one stretch that is pointed at, beside the sum of all like it. */
  const stretchOf = (spot) =>
    profkit.state.view === "chronological" ? [["This stretch", amount(profkit.graph.view().weight(spot))]] : [];

  function more(tree, node) {
    const run = profkit.currentRun();
    const rows = [["Of its caller", format.share(tree.total[node] / tree.total[tree.parent[node]])]];
    if (format.isTimed(run)) rows.push(["Weight", `${format.count(tree.total[node])} ${run.unit}`]);
    return [...rows, ...profkit.differenceOf(tree.fn[node])];
  }

  const originOf = (fn) => [format.place(fn), profkit.packageOf(fn)].filter(Boolean).join("  ·  ");
}
