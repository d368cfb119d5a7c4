/* Frames in words: the tip under the pointer, and the line that screen readers read. */
{
  const { make, format } = profkit;

  /** The name of a node: of its function, or of what the root stands for. */
  profkit.nameOf = (tree, node) => {
    if (node > 0) return profkit.head.functions.name[tree.fn[node]];
    const { threads, label } = profkit.head.runs[tree.run];
    return tree.thread === "all" ? (threads.length > 1 ? `all ${threads.length} threads` : label) : threads[tree.thread].name;
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
    const sides = { left: box.left + left, top: box.top + top, width: Math.max(1, right - left), height: bottom - top };
    for (const [name, px] of Object.entries(sides)) rim.style.setProperty(name, `${px}px`);
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

  function words(frame) {
    const run = profkit.currentRun();
    const view = profkit.graph.view();
    const { tree } = view;
    const fn = tree.fn[frame.node];
    const amount = (weight) => `${format.weight(run, weight)} · ${format.share(weight / tree.total[0])}`;
    const rows = [["Total", amount(tree.total[frame.node])], ["Self", amount(tree.self[frame.node])]];
    if (profkit.state.view === "chronological" && frame.node > 0) rows.unshift(["This stretch", amount(view.weight(frame.spot))]);
    if (run.weight_s !== null) rows.push(["Weight", `${format.count(tree.total[frame.node])} ${run.unit}`]);
    if (frame.node > 0) rows.push(...profkit.differenceOf(fn));
    const origin = frame.node === 0 ? "" : [format.place(fn), profkit.head.packages[profkit.head.functions.package[fn]].name].filter(Boolean).join("  ·  ");
    return [
      make("strong", {}, profkit.nameOf(tree, frame.node)),
      make("span", { class: "tip-place" }, origin),
      make("dl", {}, rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
    ];
  }

  const wordsOfSmall = () => [
    make("strong", {}, "Frames too narrow to draw"), make("span", { class: "tip-place" }, "Click to zoom in on them"),
  ];
}
