/*
 * Conversion between the state and the fragment of an address, such as `#run=1&focus=20`, for links to a
 * state.
 */

import type { Range } from "../data/page_data.ts";
import type { State } from "./state.ts";

type Name = keyof State;

/** Contents of a page that fragments can name; `nodes` is the number of nodes in a run's call tree. */
interface Contents {
  runs: { ordered: boolean, threads: { length: number } }[];
  nodes: (run: number) => number;
  functions: number;
  orders: number;
}

const NUMBERS = new Set(["run", "focus", "cursor", "selected", "order"]);
const WORDS: Record<string, string[]> = {
  view: ["left-heavy", "chronological"], direction: ["icicle", "flame"],
  chains: ["folded", "unfolded"], theme: ["auto", "light", "dark"],
  activity: ["all", "working", "waiting"],
};

/** Return the fragment for a state: its differences from the initial state; "" if there are none. */
export function writeFragment(state: Readonly<State>, initial: Readonly<State>) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value === initial[(name as Name)] || value === null) continue;
    const text = Array.isArray(value) ? value.map((part) => part.toPrecision(9)).join(",") : String(value);
    parts.set(name, text);
  }
  return parts.toString();
}

/**
 * Return the whole state for a fragment. Missing and invalid values are those of the initial state, as are
 * numbers that the page does not have: the link may be from another page.
 */
export function readFragment(fragment: string, initial: Readonly<State>, contents: Contents) {
  const state: State = { ...initial };
  for (const [name, text] of new URLSearchParams(fragment)) {
    if (!Object.hasOwn(initial, name)) continue;
    const value = valueOf(name, text);
    if (value !== undefined) Object.assign(state, { [name]: value });
  }
  return bounded(state, initial, contents);
}

function valueOf(name: string, text: string) {
  if (NUMBERS.has(name)) return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  if (name === "thread") return text === "all" ? text : /^\d{1,5}$/.test(text) ? Number(text) : undefined;
  if (name === "range") return rangeOf(text);
  return Object.hasOwn(WORDS, name) && !WORDS[name].includes(text) ? undefined : text;
}

function rangeOf(text: string): Range | undefined {
  const [from, to] = text.split(",").map(Number);
  return from >= 0 && from < to && to <= 1 ? [from, to] : undefined;
}

function bounded(state: State, initial: Readonly<State>, contents: Contents) {
  if (state.run >= contents.runs.length) state.run = 0;
  const run = contents.runs[state.run];
  const nodes = run ? contents.nodes(state.run) : 1;
  if (state.thread !== "all" && !(state.thread < (run?.threads.length ?? 0))) state.thread = initial.thread;
  if (state.focus >= nodes) state.focus = 0;
  if (state.cursor >= nodes) state.cursor = 0;
  if (state.selected !== null && state.selected >= contents.functions) state.selected = null;
  if (state.order >= contents.orders) state.order = 0;
  if (!run?.ordered) state.view = "left-heavy";
  return state;
}
