/* The graph: a canvas that shows a window of a view, and knows what lies where. */
{
  const { make } = profkit;
  const RULER_PX = 24;
  const ROW_PX = matchMedia("(pointer: coarse)").matches ? 26 : 20;
  /** What a canvas can be high everywhere, and how much of that is printed. */
  const MOST_CANVAS_PX = 16000, MOST_PRINTED_PX = 8000;
  const PRINTED_RATIO = 3;
  /** Rows that stay in sight beside the one that is revealed. */
  const MARGIN_ROWS = 2;

  const LABEL = "Flame graph. Arrow keys move between frames, Enter zooms in, Escape zooms out, " +
    "the question mark shows all keys.";

  const canvas = make("canvas", {
    class: "graph-canvas", tabindex: "0", role: "application", "aria-roledescription": "flame graph",
    "aria-label": LABEL,
  });
  const space = make("div", { class: "graph-space" }, canvas);
  const scroller = make("div", { class: "graph-scroller" }, space);
  const nothing = make("p", { class: "graph-nothing", hidden: true }, "No samples");
  const batch = profkit.newBatch();
  const motion = profkit.newMotion();
  const size = { width: 0, height: 0 };
  let view = null;
  let requested = false;

  /** What others may ask of the graph; positions are CSS pixels from the canvas's upper left corner. */
  const graph = {
    canvas, scroller,
    /** The height of the scale above the frames. */
    rulerPx: RULER_PX,
    /** The spot of the current frame: the cursor in terms of the view. */
    spot: 0,
    /** How long the last drawing took. */
    redrawMs: 0,
    /** `palette => function => colour` where frames are not coloured by package. */
    fill: null,
    /** 1 by function that the search matches, null without a search. */
    matches: null,
    view: () => view,
    /** The window that is shown, in weights. */
    window: () => motion.window,
    /** The frame at a position, or null: index in the batch, node, spot, and whether it stands for many. */
    at: (x, y) => frameAt(x, y),
    /** All frames that are drawn now, as objects; for what is not in a hurry. */
    frames: () => Array.from({ length: batch.count }, (_, i) => frame(i)),
    /** Draw soon. */
    redraw: () => request(),
    /** Scroll so that the row of a spot is in sight. */
    reveal: (spot) => reveal(spot),
  };
  profkit.graph = graph;

  /** Show the run, thread and view that the state names. */
  function choose() {
    const tree = profkit.currentTree();
    view = profkit.state.view === "chronological" ? profkit.chronological(tree) : profkit.leftHeavy(tree);
    graph.spot = view.spotOf(profkit.state.cursor);
    nothing.hidden = view.total > 0;
    motion.to(wanted(), false, 0);
    resize();
  }

  /** The window that the state asks for. */
  function wanted() {
    const { range, focus } = profkit.state;
    if (range) return range.map((part) => part * view.total);
    if (profkit.state.view === "chronological") return [0, view.total];
    return view.weight(focus) > 0 ? view.extent(focus) : [0, view.total];
  }

  function move(smoothly) {
    motion.to(wanted(), smoothly, graph.redrawMs);
    request();
  }

  function request() {
    if (requested) return;
    requested = true;
    requestAnimationFrame((now) => {
      requested = false;
      const moving = motion.advance(now);
      draw();
      if (moving) request();
    });
  }

  const isPrinted = () => scroller.classList.contains("printed");
  const rowCount = () => view.tree.deepest + 1;
  const isFlame = () => profkit.state.direction === "flame";
  const rowTop = (row) => RULER_PX - scroller.scrollTop + (isFlame() ? rowCount() - 1 - row : row) * ROW_PX;

  function rowsInSight() {
    const first = Math.floor(scroller.scrollTop / ROW_PX);
    const last = Math.ceil((scroller.scrollTop + size.height - RULER_PX) / ROW_PX);
    return isFlame() ? [Math.max(0, rowCount() - 1 - last), rowCount() - 1 - first] : [first, last];
  }

  function draw() {
    if (!view || size.width === 0) return;
    const start = performance.now();
    batch.clear();
    if (view.total > 0) view.layout(motion.window, size.width, rowsInSight(), batch, graph.matches);
    profkit.paint(canvas.getContext("2d", { alpha: false }), scene());
    graph.redrawMs = performance.now() - start;
  }

  function scene() {
    const { state } = profkit;
    const palette = profkit.palette();
    return {
      batch, size, palette, tree: view.tree, ratio: canvas.width / size.width,
      top: rowTop, height: ROW_PX, ruler: RULER_PX,
      fill: graph.fill ? graph.fill(palette) : (fn) => palette.fills[fn],
      ...profkit.scaleOf(view, motion.window, size.width),
      part: view.total > 0 ? motion.window.map((weight) => weight / view.total) : [0, 1],
      matches: graph.matches, selected: state.selected,
      cursor: document.activeElement === canvas ? graph.spot : -1,
      focusDepth: state.view === "left-heavy" ? view.tree.depth[state.focus] : 0,
    };
  }

  function frameAt(x, y) {
    if (!view || y < RULER_PX) return null;
    const row = Math.floor((y - RULER_PX + scroller.scrollTop) / ROW_PX);
    const i = batch.find(x, isFlame() ? rowCount() - 1 - row : row);
    return i < 0 ? null : frame(i);
  }

  function frame(i) {
    const depth = batch.depth[i];
    return {
      index: i, node: batch.node[i], spot: batch.spot[i], small: batch.small[i] > 0, depth,
      x: batch.x[i], width: batch.width[i], y: rowTop(depth), height: ROW_PX,
    };
  }

  function reveal(spot) {
    const y = rowTop(view.tree.depth[view.node(spot)]);
    const margin = MARGIN_ROWS * ROW_PX;
    if (y < RULER_PX) scroller.scrollTop += y - RULER_PX - margin;
    else if (y + ROW_PX > size.height) scroller.scrollTop += y + ROW_PX - size.height + margin;
  }

  function resize() {
    if (!view) return;
    const height = Math.min(rowCount() * ROW_PX + RULER_PX, isPrinted() ? MOST_PRINTED_PX : Infinity);
    space.style.height = `${height}px`;
    scroller.style.setProperty("--content-height", `${height}px`);
    fit(scroller.clientWidth, Math.min(height, scroller.clientHeight));
  }

  function fit(width, height) {
    // Paper has more dots to an inch than a screen.
    const ratio = isPrinted() ? Math.min(PRINTED_RATIO, MOST_CANVAS_PX / height) : devicePixelRatio || 1;
    Object.assign(size, { width, height });
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    draw();
  }

  function turn() {
    resize();
    scroller.scrollTop = isFlame() ? scroller.scrollHeight : 0;
  }

  /** Put the graph into its place and follow the state. */
  profkit.buildGraph = (element) => {
    element.append(scroller, nothing);
    choose();
    if (isFlame()) turn();
    new ResizeObserver(resize).observe(scroller);
    scroller.addEventListener("scroll", () => {
      profkit.hideTip();
      request();
    });
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, request);
    // On paper nothing scrolls: the canvas is as high as all that it shows.
    profkit.onTheme((printing) => {
      scroller.classList.toggle("printed", printing);
      resize();
    });
    follow();
  };

  function follow() {
    profkit.on("run thread view", choose);
    profkit.on("direction", turn);
    profkit.on("focus range", (_, __, origin) => move(origin !== "drag"));
    profkit.on("cursor", (state, _, origin) => {
      if (origin !== "graph") graph.spot = view.spotOf(state.cursor);
    });
    profkit.on("selected search cursor", request);
  }
}
