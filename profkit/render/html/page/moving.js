/* Moving in the graph: what clicks and keys do, in terms of the state. */
{
  const { graph } = profkit;
  const ZOOM_STEP = 1.6;
  const PAN_STEP = 0.25;
  /** The narrowest window, as a part of the whole: doubles are exact far below. */
  const NARROWEST = 1e-9;

  /** Make a spot the current frame, and change the state in other ways at the same time. */
  profkit.goTo = (spot, changes = {}) => {
    const view = graph.view();
    const node = view.node(spot);
    const selected = node === 0 ? profkit.state.selected : view.tree.fn[node];
    graph.spot = spot;
    profkit.set({ cursor: node, selected, ...changes }, "graph");
    graph.reveal(spot);
    graph.redraw();
    profkit.readAloud(spot);
  };

  /** Let a spot fill the width. */
  profkit.zoomTo = (spot) => {
    const view = graph.view();
    const inTime = profkit.state.view === "chronological" && view.node(spot) > 0;
    profkit.goTo(spot, { focus: view.node(spot), range: inTime ? parts(view.extent(spot)) : null });
  };

  /** Show everything again. */
  profkit.zoomOut = () => profkit.set({ focus: 0, range: null }, "graph");

  /** Show the window between two weights. */
  profkit.showWindow = ([from, to], origin) => {
    const { total } = graph.view();
    const width = Math.min(Math.max(to - from, total * NARROWEST), total);
    const start = Math.min(Math.max(0, from), total - width);
    const whole = width >= total * (1 - 1e-9);
    profkit.set(whole ? { focus: 0, range: null } : { range: parts([start, start + width]) }, origin);
  };

  /** Zoom by a factor around a place, given as a part of the width. */
  profkit.zoomBy = (factor, place = 0.5, origin = "graph") => {
    const [from, to] = graph.window();
    const width = (to - from) * factor;
    const fixed = from + (to - from) * place;
    profkit.showWindow([fixed - width * place, fixed + width * (1 - place)], origin);
  };

  /** Move by a part of the width. */
  profkit.panBy = (part, origin = "graph") => {
    const [from, to] = graph.window();
    profkit.showWindow([from + (to - from) * part, to + (to - from) * part], origin);
  };

  const parts = (window) => window.map((weight) => weight / graph.view().total);

  const step = (choice) => () => {
    const next = choice(graph.view(), graph.spot);
    profkit.goTo(next);
    const [from, to] = graph.view().extent(next);
    const [left, right] = graph.window();
    // What lies beside the window is moved into it.
    const around = (right - left - (to - from)) / 2;
    if (to <= left || from >= right) profkit.showWindow([from - around, to + around], "graph");
  };
  const down = step((view, spot) => view.child(spot));
  const up = step((view, spot) => view.parent(spot));
  const isFlame = () => profkit.state.direction === "flame";

  const isLeft = (event) => event.key === "ArrowLeft";

  function sideways(event) {
    if (event.shiftKey) profkit.panBy(isLeft(event) ? -PAN_STEP : PAN_STEP);
    else step((view, spot) => view.sibling(spot, isLeft(event) ? -1 : 1))();
  }

  const downward = () => (isFlame() ? up : down)();
  const upward = () => (isFlame() ? down : up)();

  profkit.key(["ArrowDown"], ["↓"], "To the heaviest frame that it calls", downward, true);
  profkit.key(["ArrowUp"], ["↑"], "To its caller; the other way round in a flame", upward, true);
  profkit.key(["ArrowLeft", "ArrowRight"], ["←", "→"], "To the frame beside it; with Shift: move", sideways,
    true);
  profkit.key(["Enter", " "], ["Enter"], "Zoom to the current frame", () => profkit.zoomTo(graph.spot), true);
  profkit.key(["Escape"], ["Esc"], "Show everything again", () => profkit.zoomOut());
  profkit.key(["Home"], ["Home"], "To the root", step(() => 0), true);
  profkit.key(["+", "="], ["+"], "Zoom in", () => profkit.zoomBy(1 / ZOOM_STEP), true);
  profkit.key(["-"], ["−"], "Zoom out", () => profkit.zoomBy(ZOOM_STEP), true);
}
