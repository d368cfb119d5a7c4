/* Search field: matching functions, their part of the total, and steps from match to match. */

import { head } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import type { Shortcut } from "../state/keyboard.ts";
import { currentTree, follow, setState, state } from "../state/state.ts";
import { formatCount } from "../text/numbers.ts";
import { formatShare, packageOf, placeOf } from "../text/run_text.ts";
import { graph } from "./graph.ts";
import { matchTexts, outermostMatches, patternIn, testOf } from "./matches.ts";
import { goTo, zoomTo } from "./navigation.ts";

/** Part of the width below which a match is zoomed to. */
const MIN_SEEN = 0.02;
/** Outermost matches, heaviest first. */
let found: number[] = [];
/** Index of the current match. */
let at = -1;

/**
 * Return 1 for each function whose name, place or package a search matches; null for an empty or invalid
 * search.
 */
export function matchingFunctions(search: string) {
  const { name } = head.functions;
  return matchTexts(search, name.length, (fn) => `${name[fn]}\n${placeOf(fn)}\n${packageOf(fn)}`);
}

const input = make("input", {
  type: "search", class: "search-input", placeholder: "Search functions, files, packages",
  title: "Words, or a regular expression between slashes: /pattern/",
  "aria-label": "Search", spellcheck: "false", autocomplete: "off",
  input: () => setState({ search: input.value }), keydown: onKey,
});
const patternButton = make("button", {
  type: "button", class: "icon-button pattern-button", title: "Search by regular expression: /pattern/",
  "aria-label": "Regular expression", click: togglePattern,
}, ".*");
const share = make("output", { class: "search-share", "aria-live": "polite" });
const previous = stepButton("‹", "Previous match", "p", -1);
const next = stepButton("›", "Next match", "n", 1);

/** Return the search field with the matched share and its buttons. */
export function searchElement() {
  follow(["search", "run", "thread", "activity"], update);
  return make("div", { class: "search", role: "search" }, input, patternButton, share, previous, next);
}

function stepButton(text: string, name: string, key: string, by: number) {
  return make("button", {
    type: "button", class: "icon-button", title: `${name} (${key})`, "aria-label": name,
    click: () => step(by),
  }, text);
}

/** Put slashes around the search, or remove them. */
function togglePattern() {
  const pattern = patternIn(state.search);
  const search = pattern ?? `/${state.search.trim()}/`;
  setState({ search });
  input.value = search;
  input.focus();
  const end = pattern === null ? search.length - 1 : search.length;
  input.setSelectionRange(end, end);
}

function update() {
  const { search } = state;
  const { error } = testOf(search);
  if (input.value !== search) input.value = search;
  input.setAttribute("aria-invalid", String(error !== undefined));
  patternButton.setAttribute("aria-pressed", String(patternIn(search) !== null));
  graph.matches = matchingFunctions(search);
  at = -1;
  found = [];
  if (graph.matches) {
    const tree = currentTree();
    found = outermostMatches(tree, graph.matches).sort((a, b) => tree.total[b] - tree.total[a]);
    const part = found.reduce((sum, node) => sum + tree.total[node], 0) / (tree.total[0] || 1);
    const places = `${formatCount(found.length)} ${found.length === 1 ? "place" : "places"}`;
    share.textContent = found.length > 0 ? `${formatShare(part)} in ${places}` : "no match";
  } else share.textContent = error === undefined ? "" : `Invalid pattern: ${error}`;
  previous.disabled = next.disabled = found.length === 0;
  graph.redraw();
}

/** Go to another match, heaviest first, and zoom to it if it is hard to see. */
function step(by: number) {
  if (found.length === 0) return;
  at = at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
  const view = graph.view();
  const spot = view.spotOf(found[at]);
  const [from, to] = view.extent(spot);
  const [left, right] = graph.window();
  const seen = (Math.min(to, right) - Math.max(from, left)) / (right - left);
  const { tree } = view;
  // A box may show further functions.
  const match = { cursor: found[at], selected: tree.fn[found[at]] };
  if (seen < MIN_SEEN) zoomTo(spot, match);
  else goTo(spot, match);
  const part = tree.total[found[at]] / tree.total[0];
  share.textContent = `${at + 1} of ${formatCount(found.length)}: ${formatShare(part)}`;
}

function onKey(event: KeyboardEvent) {
  if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  else if (event.key === "Escape") {
    setState({ search: "" });
    graph.canvas.focus();
  } else return;
  event.preventDefault();
}

export const searchKeys: Shortcut[] = [
  { names: ["/"], shown: ["/"], what: "Search", action: () => input.focus() },
  { names: ["n"], shown: ["n"], what: "Next match", action: () => step(1) },
  { names: ["p", "N"], shown: ["p"], what: "Previous match", action: () => step(-1) },
];
