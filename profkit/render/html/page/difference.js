/*
 * The graph of a comparison: as wide as the side that is shown, coloured by how a function's share differs.
 * Orange is more in B, blue is less; what the noise explains is grey.
 */
{
  const { make, format, head } = profkit;
  const HUES = { more: 52, less: 252 };
  /** Lightness and chroma of the smallest and the largest difference. */
  const LIGHT = { least: [0.91, 0.045], most: [0.72, 0.165], noise: [0.9, 0] };
  const DARK = { least: [0.66, 0.05], most: [0.74, 0.16], noise: [0.62, 0] };
  const changes = new Map((head.comparison?.functions ?? []).map((each) => [each.function, each]));
  const largest = Math.max(0.02, ...[...changes.values()].map(({ a, b }) => Math.abs(b - a)));

  /** Whether the page compares sampled runs: its frames are coloured by difference. */
  profkit.isDifference = head.kind === "comparison" && changes.size > 0 && head.runs.length > 0;

  /** The colour of a function by its difference. */
  profkit.differenceColor = (fn, dark = profkit.isDark()) => {
    const change = changes.get(fn);
    return colorOf(change?.change ?? "noise", change ? Math.abs(change.b - change.a) / largest : 0, dark);
  };

  const { points } = format;
  const between = ({ low, high }) => (low === null || high === null ? "" : ` (${points(low)} to ${points(high)})`);

  /** What a tip says about a function's difference. */
  profkit.differenceOf = (fn) => {
    const found = changes.get(fn);
    if (!found) return [];
    return [
      [found.of === "self" ? "Own share, A → B" : "Share, A → B", `${format.share(found.a)} → ${format.share(found.b)}`],
      ["Difference", `${points(found.b - found.a)} points${between(found)}`],
      ["", { more: "more in B", less: "less in B", noise: "within the noise" }[found.change]],
    ];
  };

  function colorOf(kind, size, dark) {
    const { least, most, noise } = dark ? DARK : LIGHT;
    if (kind === "noise") return profkit.oklch(...noise, 0);
    const [lightness, chroma] = least.map((from, i) => from + (most[i] - from) * Math.sqrt(size));
    return profkit.oklch(lightness, chroma, HUES[kind]);
  }

  /** The legend of differences. */
  profkit.differenceLegend = () => {
    const list = make("ul", { class: "legend legend-difference", "aria-label": "Colours" });
    const swatch = (kind, size) => make("span", {
      class: "swatch", style: { "background-color": colorOf(kind, size, profkit.isDark()) },
    });
    const scale = (kind) => [0.05, 0.35, 1].map((size) => swatch(kind, size));
    const show = () => list.replaceChildren(
      make("li", {}, scale("less").reverse(), "less in B"),
      make("li", {}, swatch("noise", 0), "within the noise"),
      make("li", {}, scale("more"), `more in B, up to ${(largest * 100).toFixed(1)} points`));
    profkit.onTheme(show);
    show();
    return list;
  };

  if (profkit.isDifference) {
    const tables = new Map();
    profkit.graph.fill = () => {
      const dark = profkit.isDark();
      const colors = () => head.functions.name.map((_, fn) => profkit.differenceColor(fn, dark));
      if (!tables.has(dark)) tables.set(dark, colors());
      return (fn) => tables.get(dark)[fn];
    };
  }
}
