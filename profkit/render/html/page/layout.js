/* Where everything stands: header, what leads the page, the graph with its side, and the tabs below. */
{
  const { make } = profkit;
  const PLACES = {
    selectors: "selectors", notes: "lead", comparison: "lead", measured: "lead", plots: "lead", history: "lead",
    strip: "strip", details: "side", source: "side",
  };
  const panels = [];

  /**
   * Register a panel: `build(element)` fills its element once, when it is first shown. The id says where
   * it stands (`PLACES`), tabs by default. A panel that does not apply to the page is left out.
   */
  profkit.panel = (id, title, build, applies = () => true) => panels.push({ id, title, build, applies });

  /** Put the page together; `profkit.places` holds its parts by name afterwards. */
  profkit.buildLayout = () => {
    const places = {
      selectors: make("div", { class: "selectors" }),
      lead: make("div", { class: "lead" }),
      toolbar: make("div", { class: "toolbar", role: "toolbar", "aria-label": "Graph" }),
      strip: make("div", { class: "strip" }),
      graph: make("section", { class: "graph", "aria-label": "Flame graph" }),
      side: make("aside", { class: "side", "aria-label": "Selected function" }),
      tabs: make("section", { class: "tabs" }),
    };
    profkit.places = places;
    const page = document.getElementById("profkit");
    const middle = profkit.hasGraph() ? filledWorkspace(places) : places.strip;
    page.replaceChildren(header(places), places.lead, middle, places.tabs, footer());
    const shown = panels.filter((panel) => panel.applies());
    for (const panel of shown.filter((each) => each.id in PLACES)) place(panel, places[PLACES[panel.id]]);
    profkit.buildTabs(places.tabs, shown.filter((panel) => !(panel.id in PLACES)));
  };

  function header(places) {
    const keys = profkit.hasGraph() ? profkit.keysButton() : null;
    return make("header", { class: "top" },
      make("div", { class: "title" }, make("h1", {}, profkit.titleText()), profkit.summaryLine()),
      places.selectors,
      make("div", { class: "page-tools" }, profkit.themeButton(), keys));
  }

  function filledWorkspace(places) {
    profkit.buildToolbar(places.toolbar);
    places.graph.append(profkit.breadcrumbs());
    profkit.buildGraph(places.graph);
    const legend = profkit.isDifference ? profkit.differenceLegend() : profkit.legend();
    places.graph.append(legend, ...profkit.describingElements());
    profkit.listenToKeys(profkit.graph.canvas);
    places.workspace = make("div", { class: "workspace" },
      make("div", { class: "workspace-main" }, places.toolbar, places.strip, places.graph), places.side);
    return places.workspace;
  }

  function place(panel, element) {
    const body = make("div", { class: "panel-body" });
    const attributes = { class: `panel panel-${panel.id}`, id: `panel-${panel.id}`, "aria-label": panel.title };
    const section = make("section", attributes);
    if (["lead", "side"].includes(element.className)) section.append(make("h2", {}, panel.title));
    section.append(body);
    element.append(section);
    panel.build(body);
  }

  function footer() {
    return make("footer", { class: "foot" }, `profkit ${profkit.head.profkit}`);
  }

  /** Whether any run of the page has stacks to draw. */
  profkit.hasGraph = () => profkit.head.runs.some((run) => run.total > 0);
}
