/* List of the hottest lines in the graph, or of those that changed most, each with its source if known. */

import { linesOf } from "../data/lines.ts";
import { head } from "../data/page_data.ts";
import { placeElement, swatch } from "../elements/function_names.ts";
import { button, make } from "../elements/markup.ts";
import { shareBar, titled } from "../elements/parts.ts";
import { isDifference } from "../graph/function_colors.ts";
import { currentTree, setState } from "../state/state.ts";
import { formatPoints } from "../text/numbers.ts";
import { plusMinus } from "../text/run_text.ts";
import { changedLines, changeOf, lineText } from "./file_lines.ts";
import type { Child } from "../types.ts";

type Line = { fn: number, line: number };

const MAX_LINES = 6;
/** Smallest difference of shares in the list, in parts of 1. */
const MIN_LISTED = 0.005;

/** Return the list; nothing if there are no lines. */
export const hotLines = () => (isDifference ? mostChanged() : hottest());

function hottest() {
  const tree = currentTree();
  const whole = tree.total[0] || 1;
  const found = linesOf(tree).lines.filter(({ self }) => self > 0);
  found.sort((a, b) => b.self - a.self);
  const shares = ({ self }: typeof found[number]) =>
    [shareBar(self / whole, null, plusMinus(self, whole))];
  const items = found.slice(0, MAX_LINES).map((each) => itemOf(each, shares(each)));
  return listOf("Hottest lines", "by self share", items);
}

function mostChanged() {
  const found = changedLines()
    .filter((line) => changeOf(line) !== "noise" && Math.abs(line.b - line.a) >= MIN_LISTED)
    .sort((one, other) => Math.abs(other.b - other.a) - Math.abs(one.b - one.a));
  const points = ({ a, b }: typeof found[number]) =>
    [make("strong", { class: `points ${b > a ? "more" : "less"}` }, `${formatPoints(b - a)} points`)];
  return listOf("Lines that differ most", "by total share, in functions that changed",
    found.slice(0, MAX_LINES).map((each) => itemOf(each, points(each))));
}

const listOf = (title: string, remark: string, items: HTMLElement[]) => (items.length
  ? [make("section", { class: "hot-lines" }, titled("h3", title, remark), make("ol", {}, items))] : []);

function itemOf({ fn, line }: Line, figures: Child[]) {
  const text = lineText(fn, line);
  return make("li", {},
    make("div", { class: "hot-line" }, figures,
      make("span", { class: "named" }, swatch(fn),
        button(head.functions.name[fn], () => setState({ selected: fn }), { class: "link" }))),
    text ? make("code", { class: "hot-code", title: text }, text) : null,
    placeElement(`${head.functions.file[fn]}:${line}`));
}
