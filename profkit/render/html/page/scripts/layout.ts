/* Layout of the page: header, leading panels, the graph with its side panel, and the tabs below. */

import { head, type Run } from "./data/page_data.ts";
import { make } from "./elements/markup.ts";
import { tipElements } from "./graph/frame_tips.ts";
import { legend } from "./graph/function_colors.ts";
import { buildGraph, graph } from "./graph/graph.ts";
import { navigationKeys } from "./graph/navigation.ts";
import { listenToPointers } from "./graph/pointer.ts";
import { searchKeys } from "./graph/search.ts";
import { breadcrumbs, buildToolbar, viewKeys } from "./graph/toolbar.ts";
import { keysButton, listenToKeys } from "./state/keyboard.ts";
import { currentRun, follow, hasGraph, setState, state } from "./state/state.ts";
import { onTheme, themeButton } from "./state/theme.ts";

/** A panel; `build` fills its element once, when it is first shown. */
export interface Panel {
  id: string;
  title: string;
  build(element: HTMLElement): void;
  applies(): boolean;
}

type Tab = ReturnType<typeof tabOf>;

/** Places of panels by their ids; all others are tabs. */
const PLACES: Record<string, "selectors" | "lead" | "strip" | "side"> = {
  selectors: "selectors", sentences: "lead", document: "lead", order: "lead", comparison: "lead",
  notes: "lead", strip: "strip", details: "side",
};
/** Kinds of regions; the fact with the region's place has the name of its kind. */
const REGIONS = ["function", "coroutine", "generator", "async generator", "block"];
/** Facts in the summary: the number of parts shown, and the noun for a bare number. */
const SUMMARY: { name: string, most: number, noun?: string }[] = [
  ...REGIONS.map((name) => ({ name, most: 1 })),
  { name: "imported", most: 2 }, { name: "tool", most: 1 }, { name: "started", most: 1 },
  { name: "runs", most: 2 }, { name: "calls", most: 2, noun: "call" }, { name: "active", most: 2 },
  { name: "total", most: 2 },
  { name: "samples", most: 2, noun: "sample" }, { name: "sampler", most: 1 },
];

/** Parts of the page; unused ones are not in the document. */
export const places = {
  selectors: make("div", { class: "selectors" }),
  lead: make("div", { class: "lead" }),
  toolbar: make("div", { class: "toolbar", role: "toolbar", "aria-label": "Graph" }),
  strip: make("div", { class: "strip" }),
  graph: make("section", { class: "graph", "aria-label": "Flame graph" }),
  side: make("aside", { class: "side", "aria-label": "Selected function" }),
  workspace: make("div", { class: "workspace" }),
  tabs: make("section", { class: "tabs" }),
};

/** Build the page from the panels that apply to it. */
export function buildLayout(page: HTMLElement, panels: Panel[]) {
  if (hasGraph()) fillWorkspace();
  const middle = hasGraph() ? places.workspace : places.strip;
  page.replaceChildren(header(), places.lead, middle, places.tabs, footer());
  const shown = panels.filter((panel) => panel.applies());
  for (const panel of shown.filter((each) => each.id in PLACES)) place(panel, places[PLACES[panel.id]]);
  buildTabs(shown.filter((panel) => !(panel.id in PLACES)));
}

function header() {
  return make("header", { class: "top" },
    make("div", { class: "title" }, make("h1", {}, head.title.replace(/ – profkit$/, "")), summaryLine()),
    places.selectors,
    make("div", { class: "page-tools" }, themeButton(), hasGraph() ? keysButton() : null));
}

/** Return the line with the main facts of the run; those of a document are in its blocks. */
function summaryLine() {
  const line = make("p", { class: "summary" });
  if (head.identity) line.append(make("span", {}, head.identity));
  const show = () => line.replaceChildren(...summaryOf(currentRun()).map((text) => make("span", {}, text)));
  if (!head.blocks) follow(["run"], show);
  return line;
}

function summaryOf(run: Run | undefined) {
  const facts = new Map(run?.facts ?? []);
  return SUMMARY.flatMap(({ name, most, noun }) => {
    const parts = facts.get(name)?.slice(0, most).map(([text]) => text);
    if (!parts) return [];
    const [first, ...others] = parts;
    return [[counted(first, noun) ?? (name === "active" ? `${first} active` : first), ...others].join(", ")];
  });
}

/** Return a number with its noun, such as `12 calls`; null if it is not a bare number. */
const counted = (text: string, noun: string | undefined) =>
  (noun && /^[\d,]+$/.test(text) ? `${text} ${noun}${text === "1" ? "" : "s"}` : null);

function fillWorkspace() {
  buildToolbar(places.toolbar);
  places.graph.append(breadcrumbs());
  buildGraph(places.graph);
  places.graph.append(legend(), ...tipElements());
  listenToPointers();
  listenToKeys(graph.canvas, [...navigationKeys, ...searchKeys, ...viewKeys]);
  const main = make("div", { class: "workspace-main" }, places.toolbar, places.strip, places.graph);
  places.workspace.append(main, places.side);
}

function place(panel: Panel, element: HTMLElement) {
  const body = make("div", { class: "panel-body" });
  const attributes = { class: `panel panel-${panel.id}`, id: `panel-${panel.id}`, "aria-label": panel.title };
  const section = make("section", attributes);
  if (["lead", "side"].includes(element.className)) section.append(make("h2", {}, panel.title));
  section.append(body);
  element.append(section);
  panel.build(body);
}

const footer = () => make("footer", { class: "foot" }, `profkit ${head.profkit}`);

/** Show one panel at a time, built on first use. */
function buildTabs(panels: Panel[]) {
  if (panels.length === 0) return;
  const tabs = panels.map(tabOf);
  const onKey = (event: KeyboardEvent) => walk(event, tabs);
  const list = make("div", { class: "tab-list", role: "tablist", "aria-label": "Tables", keydown: onKey },
    tabs.map((each) => each.button));
  places.tabs.append(list, ...tabs.map((each) => each.body));
  const open = () => openTab(tabs, tabs.find((each) => each.panel.id === state.tab) ?? tabs[0]);
  follow(["tab"], open);
  onTheme((printing) => printing && tabs.forEach(build));
}

function tabOf(panel: Panel) {
  const button = make("button", {
    type: "button", role: "tab", id: `tab-${panel.id}`, "aria-controls": `panel-${panel.id}`,
    click: () => setState({ tab: panel.id }),
  }, panel.title);
  const content = make("div", { class: "panel-body" });
  const body = make("div", {
    class: `panel panel-${panel.id}`, role: "tabpanel", id: `panel-${panel.id}`,
    "aria-labelledby": `tab-${panel.id}`,
  }, make("h2", { class: "print-only" }, panel.title), content);
  return { panel, button, body, content, built: false };
}

function openTab(tabs: Tab[], open: Tab) {
  for (const each of tabs) {
    const selected = each === open;
    each.button.setAttribute("aria-selected", String(selected));
    each.button.tabIndex = selected ? 0 : -1;
    each.body.hidden = !selected;
  }
  build(open);
}

function build(tab: Tab) {
  if (tab.built) return;
  tab.built = true;
  tab.panel.build(tab.content);
}

function walk(event: KeyboardEvent, tabs: Tab[]) {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step) return;
  event.preventDefault();
  const at = tabs.findIndex((each) => each.button === document.activeElement);
  const next = tabs[(at + step + tabs.length) % tabs.length];
  setState({ tab: next.panel.id });
  next.button.focus();
}
