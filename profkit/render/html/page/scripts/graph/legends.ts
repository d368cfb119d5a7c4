/* Legend of the graph: packages by self weight, or the scale of differences. */

import { head, type Change } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { currentTree, follow, setState, state } from "../state/state.ts";
import { isDark, onTheme } from "../state/theme.ts";
import { formatShare } from "../text/run_text.ts";
import { changeColor } from "./colors.ts";
import { isDifference, largestChange, ownWeights, packageColor } from "./function_colors.ts";

const MAX_PACKAGES = 8;

/** Return the legend, which follows the run, the thread and the theme. */
export const legend = () => (isDifference ? differenceLegend() : packageLegend());

/** Return the legend of packages; a click on an entry searches for its package. */
function packageLegend() {
  const list = make("ul", { class: "legend", "aria-label": "Packages by self share" });
  const show = () => list.replaceChildren(...packageEntries());
  follow(["run", "thread", "activity"], show);
  onTheme(show);
  return list;
}

function packageEntries() {
  const tree = currentTree();
  const own = ownWeights(tree);
  const order = [...own.keys()].filter((index) => own[index] > 0).sort((a, b) => own[b] - own[a]);
  const shown = order.slice(0, MAX_PACKAGES).map((index) => packageEntry(index, own[index] / tree.total[0]));
  const rest = order.slice(MAX_PACKAGES).reduce((sum, index) => sum + own[index], 0);
  const others = `${order.length - MAX_PACKAGES} more ${formatShare(rest / tree.total[0])}`;
  if (rest > 0) shown.push(make("li", { class: "faint" }, others));
  return shown;
}

function packageEntry(index: number, share: number) {
  const { name, kind } = head.packages[index];
  const search = () => setState({ search: state.search === name ? "" : name });
  return make("li", {},
    make("button", { type: "button", title: name && `Search for ${name}`, disabled: !name, click: search },
      make("span", { class: "swatch", style: { "background-color": packageColor(index) } }),
      name ? `${name}${kind === "native" ? " (native)" : ""}` : "no file",
      make("span", { class: "faint" }, formatShare(share))));
}

function differenceLegend() {
  const list = make("ul", { class: "legend legend-difference", "aria-label": "Colours" });
  const swatch = (change: Change, size: number) =>
    make("span", { class: "swatch", style: { "background-color": changeColor(change, size, isDark()) } });
  const scale = (change: Change) => [0.05, 0.35, 1].map((size) => swatch(change, size));
  const show = () => list.replaceChildren(
    make("li", {}, scale("less").reverse(), "less in B"),
    make("li", {}, swatch("noise", 0), "within noise"),
    make("li", {}, scale("more"), `more in B, up to ${(largestChange * 100).toFixed(1)} points`));
  onTheme(show);
  show();
  return list;
}
