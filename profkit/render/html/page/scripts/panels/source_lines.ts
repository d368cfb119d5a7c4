/*
 * Panel of source lines: the files with the most time, and their lines coloured by share, or in a comparison
 * by the difference of shares in functions that changed.
 */

import { head } from "../data/page_data.ts";
import { hasLines, hasStatedTotals, linesOf, treeOf } from "../data/trees.ts";
import { button, make } from "../elements/markup.ts";
import { cell, hint, numberCell, placeElement, shareBar, sureShare } from "../elements/parts.ts";
import { listenToRows, onPick, setTabStop } from "../elements/sortable_table.ts";
import { isDifference, largestChange } from "../graph/function_colors.ts";
import type { Panel } from "../layout.ts";
import { currentTree, follow, onChange, setState, state } from "../state/state.ts";
import { exactCount, formatPoints } from "../text/numbers.ts";
import { formatShare } from "../text/run_text.ts";
import {
  changeOf, linesOfFile, MAX_LINES, sharesOfFiles, type FileLine, type FileShare,
} from "./file_lines.ts";
import { codeCell, dedented } from "./source.ts";

type Measure = "self" | "total";

const MAX_FILES = 12;

const view = { measure: "total" as Measure, opened: new Map<string, boolean>(), files: MAX_FILES };

export const sourceLinesPanel: Panel = {
  id: "lines",
  title: "Source lines",
  build(body) {
    const list = make("div", { class: "heat-map" });
    const remark = make("p", { class: "hint" });
    const show = () => {
      remark.textContent = remarkOf();
      list.replaceChildren(...shownFiles(show));
    };
    body.append(make("div", { class: "heat-head" }, remark, isDifference ? null : measures(show)), list);
    follow(["run", "thread", "activity"], show);
    onChange(["selected", "tab"], () => showChosen(list, show));
    requestAnimationFrame(() => scrollToSelected(list));
  },
  applies: hasLines,
};

/**
 * Show the selected function's lines. If it was selected here, the lines stay, so that the focus does too.
 */
function showChosen(list: HTMLElement, show: () => void) {
  if (!list.contains(document.activeElement)) {
    show();
    scrollToSelected(list);
    return;
  }
  for (const row of list.querySelectorAll("tr[data-function]")) {
    row.classList.toggle("chosen-line", Number(row.getAttribute("data-function")) === state.selected);
  }
}

function remarkOf() {
  if (isDifference) {
    return "Total share of each line in A and B. Lines of functions that changed are orange if B spends " +
      "more there, blue if it spends less. Differences of single lines are not tested for noise.";
  }
  // Call graphs know functions only by their first line.
  return hasStatedTotals(treeOf(state.run))
    ? "Shares are those of whole functions, at their first line." : "Select a line to select its function.";
}

function measures(show: () => void) {
  const choose = (measure: Measure) => button(measure, () => {
    view.measure = measure;
    for (const each of choices) each.setAttribute("aria-pressed", String(each.textContent === measure));
    show();
  }, { "aria-pressed": String(view.measure === measure) });
  const choices = [choose("self"), choose("total")];
  return make("div", { class: "segmented", role: "group", "aria-label": "Colour of lines by" }, choices);
}

/** Return the files, each with its lines if it is open. */
function shownFiles(show: () => void) {
  const files = sharesOfFiles();
  const wanted = state.selected === null ? null : head.functions.file[state.selected];
  const heat = heatScale();
  const isOpen = (file: string) =>
    file === wanted || (view.opened.get(file) ?? file === files[0].file);
  const shown = files.filter(({ file }, i) => i < view.files || file === wanted)
    .map((each) => fileElement(each, heat, isOpen(each.file)));
  const rest = files.length - shown.length;
  const more = button(`${rest} more files`, () => { view.files *= 2; show(); }, { class: "more" });
  return [...shown, ...(rest > 0 ? [more] : []), ...(files.length ? [] : [hint("There are no lines here.")])];
}

/** Return the largest weight of a line, or the largest difference: colours have one scale in all files. */
function heatScale() {
  if (isDifference) return largestChange;
  return linesOf(currentTree()).lines.reduce((most, line) => Math.max(most, line[view.measure]), 0) || 1;
}

function fileElement(share: FileShare, heat: number, open: boolean) {
  const { file } = share;
  const element = make("details", { class: "file", open, "data-file": file },
    make("summary", {}, titleOf(share)));
  const fill = () => {
    if (element.open && element.children.length < 2) element.append(...fileBody(file, heat));
  };
  element.addEventListener("toggle", () => { view.opened.set(file, element.open); fill(); });
  fill();
  return element;
}

function titleOf({ file, share, isUsers, a, b }: FileShare) {
  const figures = isDifference
    ? [make("span", { class: "file-sides" }, `${formatShare(a)} → ${formatShare(b)}`)] : [shareBar(share)];
  return make("span", { class: "file-title" }, figures, " ",
    make("strong", {}, placeElement(file || "no file")), " ",
    make("small", { class: "faint" }, isUsers ? "with library calls" : "in the file itself"));
}

function fileBody(file: string, heat: number) {
  const { lines, sampled } = linesOfFile(file);
  const texts = dedented(lines.map(({ text }) => text ?? ""));
  const rows = lines.flatMap((line, i) => {
    const isGap = i > 0 && line.number > lines[i - 1].number + 1;
    return [...(isGap ? [gapRow()] : []), lineRow(line, line.text === null ? null : texts[i], heat)];
  });
  const rest = sampled - MAX_LINES;
  return [
    tableOf(file, rows),
    ...(rest > 0 ? [hint(`${exactCount(rest)} more lines have smaller shares.`)] : []),
  ];
}

function tableOf(file: string, rows: HTMLElement[]) {
  const body = make("tbody", {}, rows);
  listenToRows(body);
  setTabStop(body, (row) => row.classList.contains("chosen-line"));
  const names = ["line", ...(isDifference ? ["A", "B", "difference"] : ["self", "total"]), "source"];
  const heads = names.map((name) => make("th", { scope: "col" }, name));
  return make("div", { class: "scroll" },
    make("table", { class: "source" },
      make("caption", { class: "off-screen" }, `Lines of ${file} with their shares`),
      make("thead", {}, make("tr", {}, heads)), body));
}

const gapRow = () => make("tr", { class: "gap" }, make("td", { colspan: 5 }, "⋯"));

function lineRow(line: FileLine, text: string | null, heat: number) {
  const { number, fn } = line;
  const name = head.functions.name[fn];
  const select = () => setState({ selected: fn });
  const title = `Select ${name}`;
  const chosen = fn === state.selected ? " chosen-line" : "";
  const { kind, part } = colourOf(line, heat);
  const attributes = {
    class: `${kind}${chosen}`.trim() || null, "data-function": fn, style: { "--heat": part.toFixed(3) },
  };
  const row = make("tr", attributes,
    make("th", { scope: "row", class: "number" },
      button(String(number), () => {}, { class: "link", title, "aria-label": `${number}, ${title}` })),
    ...(isDifference ? sideCells(line) : shareCells(line)),
    text === null ? cell(`in ${name}`, { class: "code faint" }) : codeCell(text));
  onPick(row, select);
  return row;
}

/** Return the class of a line and the depth of its colour from 0 to 1, which makes small shares visible. */
function colourOf(line: FileLine, heat: number) {
  if (!isDifference) return { kind: line.total ? "hot" : "", part: Math.sqrt(line[view.measure] / heat) };
  const change = changeOf(line);
  if (change === "noise") return { kind: "", part: 0 };
  return { kind: `${change}-line`, part: Math.sqrt(Math.min(1, Math.abs(line.b - line.a) / heat)) };
}

function shareCells({ self, total }: FileLine) {
  const whole = currentTree().total[0] || 1;
  return [self, total].map((weight) => cell(sureShare(weight, whole), { class: "number" }));
}

function sideCells(line: FileLine) {
  const { a, b } = line;
  const points = a || b ? formatPoints(b - a) : "";
  // Differences that are coloured are bold, too.
  return [
    ...[a, b].map((share) => numberCell(share ? formatShare(share) : "")),
    cell(points, { class: `number ${changeOf(line)}` }),
  ];
}

/** Show the selected function's heaviest line, without moving the page. */
function scrollToSelected(list: HTMLElement) {
  const rows = [...list.querySelectorAll(".chosen-line")] as HTMLElement[];
  const heatOf = (row: HTMLElement) => Number(row.style.getPropertyValue("--heat"));
  if (!rows.length || rows.some((row) => row.contains(document.activeElement))) return;
  const hottest = rows.reduce((best, row) => (heatOf(row) > heatOf(best) ? row : best));
  const at = hottest.getBoundingClientRect().top - list.getBoundingClientRect().top;
  list.scrollTop += at - list.clientHeight / 3;
}
