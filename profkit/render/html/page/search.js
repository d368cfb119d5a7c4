/* Search: which functions match, how much of the total they stand for, and the way from match to match. */
{
  const { make, graph, format } = profkit;
  /** A match that fills less of the width than this is zoomed to. */
  const LEAST_SEEN = 0.02;
  const deepest = new WeakMap();
  let at = -1;
  let found = [];

  /** 1 for each function whose name, place or package has every word of the text in it; null for no text. */
  profkit.matching = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return null;
    return Uint8Array.from(profkit.head.functions.name, (own, fn) => {
      const where = `${own}\n${format.place(fn)}\n${profkit.packageOf(fn)}`.toLowerCase();
      return words.every((word) => where.includes(word)) ? 1 : 0;
    });
  };

  /** The outermost matching nodes of a tree: what lies below them is theirs already. */
  profkit.outermostMatches = (tree, matches) => {
    const nodes = [];
    for (let node = 1; node < tree.fn.length; ) {
      const hit = matches[tree.fn[node]] === 1 && tree.total[node] > 0;
      if (hit) nodes.push(node);
      node = hit ? tree.end[node] : node + 1;
    }
    return nodes;
  };

  /** By node the row of the deepest match on the way to it, 0 where there is none; null without a search. */
  profkit.deepestMatches = (tree, matches) => {
    if (!matches) return null;
    if (deepest.get(tree)?.matches !== matches) deepest.set(tree, { matches, rows: rowsOf(tree, matches) });
    return deepest.get(tree).rows;
  };

  function rowsOf(tree, matches) {
    const rows = new Uint16Array(tree.fn.length);
    for (let node = 1; node < rows.length; node++) {
      rows[node] = matches[tree.fn[node]] ? tree.depth[node] : rows[tree.parent[node]];
    }
    return rows;
  }

  const input = make("input", {
    type: "search", class: "search-input", placeholder: "Search functions, files, packages",
    "aria-label": "Search", spellcheck: "false", autocomplete: "off",
    input: () => profkit.set({ search: input.value }), keydown: onKey,
  });
  const share = make("output", { class: "search-share", "aria-live": "polite" });
  const stepButton = (text, name, key, by) => make("button", {
    type: "button", class: "icon-button", title: `${name} (${key})`, "aria-label": name, click: () => step(by),
  }, text);
  const previous = stepButton("‹", "Previous match", "p", -1);
  const next = stepButton("›", "Next match", "n", 1);

  /** The search field and what belongs to it. */
  profkit.searchElement = () => {
    profkit.on("search run thread", update);
    update();
    return make("div", { class: "search", role: "search" }, input, share, previous, next);
  };

  function update() {
    const { search } = profkit.state;
    if (input.value !== search) input.value = search;
    graph.matches = profkit.matching(search);
    at = -1;
    found = [];
    if (graph.matches) {
      const tree = profkit.currentTree();
      found = profkit.outermostMatches(tree, graph.matches).sort((a, b) => tree.total[b] - tree.total[a]);
      const part = found.reduce((sum, node) => sum + tree.total[node], 0) / (tree.total[0] || 1);
      const places = `${format.count(found.length)} ${found.length === 1 ? "place" : "places"}`;
      share.textContent = found.length > 0 ? `${format.share(part)} in ${places}` : "no match";
    } else share.textContent = "";
    previous.disabled = next.disabled = found.length === 0;
    graph.redraw();
  }

  /** Go to another match, the heaviest first; a match that is hard to see is zoomed to. */
  function step(by) {
    if (found.length === 0) return;
    at = at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
    const view = graph.view();
    const spot = view.spotOf(found[at]);
    const [from, to] = view.extent(spot);
    const [left, right] = graph.window();
    const seen = (Math.min(to, right) - Math.max(from, left)) / (right - left);
    if (seen < LEAST_SEEN) profkit.zoomTo(spot);
    else profkit.goTo(spot);
    const part = view.tree.total[found[at]] / view.tree.total[0];
    share.textContent = `${at + 1} of ${format.count(found.length)}: ${format.share(part)}`;
  }

  function onKey(event) {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      profkit.set({ search: "" });
      graph.canvas.focus();
    } else return;
    event.preventDefault();
  }

  profkit.key(["/"], ["/"], "Search", () => input.focus());
  profkit.key(["n"], ["n"], "Next match", () => step(1));
  profkit.key(["p", "N"], ["p"], "Previous match", () => step(-1));
}
