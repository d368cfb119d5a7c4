/* State of the page: one object that is changed in one place, and its listeners. */

import { head, type Activity, type Range, type ThreadChoice } from "../data/page_data.ts";
import { treeOf } from "../data/trees.ts";

/** State of the page. */
export interface State {
  run: number;
  thread: ThreadChoice;
  activity: Activity;
  view: "left-heavy" | "chronological";
  direction: "icicle" | "flame";
  /** Whether straight runs of library calls are drawn as one box. */
  chains: "folded" | "unfolded";
  /** The node that fills the graph's width. */
  focus: number;
  /** The window as fractions of the whole, if it is not the extent of the focus. */
  range: Range | null;
  /** Current node, for keys and details. */
  cursor: number;
  /** The selected function. */
  selected: number | null;
  search: string;
  theme: "auto" | "light" | "dark";
  /** The id of the open tab, null for the first. */
  tab: string | null;
  /** The measured order that is shown in full. */
  order: number;
}

type Name = keyof State;
type Listener = (state: Readonly<State>, changed: Name[], origin: string) => void;

/** The graph of a comparison has the width of side B. */
const wholeThread: ThreadChoice = head.kind === "comparison" ? 1 : "all";

const listeners: { names: Set<string>, listener: Listener }[] = [];

/** Initial state. */
export const initialState: Readonly<State> = Object.freeze({
  run: 0, thread: head.initial?.thread ?? wholeThread, activity: head.initial?.activity ?? "all",
  view: "left-heavy", direction: "icicle", chains: "folded",
  focus: 0, range: null, cursor: 0, selected: null, search: "", theme: "auto", tab: null, order: 0,
});

const current: State = { ...initialState };

/** Current state, read-only; `setState` changes it. */
export const state: Readonly<State> = current;

/** Change the state and call the listeners of changed names with the `origin`. */
export function setState(changes: Partial<State>, origin: string = "page") {
  const all = { ...consequences(changes), ...changes };
  const names = Object.keys(all) as Name[];
  const changed = names.filter((name) => !isSame(current[name], all[name]));
  if (changed.length === 0) return;
  Object.assign(current, all);
  for (const { names: wanted, listener } of [...listeners]) {
    if (changed.some((name) => wanted.has(name))) listener(state, changed, origin);
  }
}

/** Register a listener for changes of any of the names. */
export function onChange(names: Name[], listener: Listener) {
  listeners.push({ names: new Set(names), listener });
}

/** Call a function now and at each change of any of the names. */
export function follow(names: Name[], show: () => void) {
  onChange(names, show);
  show();
}

/** Return the current run; undefined if the page has no runs. */
export const currentRun = () => head.runs[state.run];

/** Return the call tree of the current run, thread and activity. */
export const currentTree = () => treeOf(state.run, state.thread, state.activity);

/** Return whether any run of the page has stacks to draw. */
export const hasGraph = () => head.runs.some((run) => run.total > 0);

/**
 * Return the further changes: another run has other nodes, and another thread, view or focus has another
 * width.
 */
function consequences(changes: Partial<State>): Partial<State> {
  const differs = (name: Name) => name in changes && !isSame(changes[name], state[name]);
  if (differs("run")) return { thread: wholeThread, focus: 0, cursor: 0, range: null };
  if (differs("view")) return { focus: 0, range: null };
  if (differs("thread") || differs("activity")) {
    const { thread, activity } = { ...state, ...changes };
    const stays = treeOf(state.run, thread, activity).total[state.focus] > 0;
    return { focus: stays ? state.focus : 0, range: null };
  }
  return differs("focus") ? { range: null } : {};
}

function isSame(a: State[Name] | undefined, b: State[Name] | undefined) {
  const lists = Array.isArray(a) && Array.isArray(b);
  return a === b || (lists && a[0] === b[0] && a[1] === b[1]);
}
