/* State of the page: one object that is changed in one place, and its listeners. */

import { head } from "../data/page_data.js";
import { treeOf } from "../data/trees.js";

/** @import { State, ThreadChoice } from "../types.js" */
/** @typedef {keyof State} Name */
/** @typedef {(state: Readonly<State>, changed: Name[], origin: string) => void} Listener */

/**
 * The graph of a comparison has the width of side B.
 * @type {ThreadChoice}
 */
const wholeThread = head.kind === "comparison" ? 1 : "all";

/** @type {{ names: Set<string>, listener: Listener }[]} */
const listeners = [];

/**
 * Initial state.
 * @type {Readonly<State>}
 */
export const initialState = Object.freeze({
  run: 0, thread: head.initial?.thread ?? wholeThread, activity: head.initial?.activity ?? "all",
  view: "left-heavy", direction: "icicle", chains: "folded",
  focus: 0, range: null, cursor: 0, selected: null, search: "", theme: "auto", tab: null, order: 0,
});

/** @type {State} */
const current = { ...initialState };

/**
 * Current state, read-only; `setState` changes it.
 * @type {Readonly<State>}
 */
export const state = current;

/**
 * Change the state and call the listeners of changed names with the `origin`.
 * @param {Partial<State>} changes
 * @param {string} origin
 */
export function setState(changes, origin = "page") {
  const all = { ...consequences(changes), ...changes };
  const names = /** @type {Name[]} */ (Object.keys(all));
  const changed = names.filter((name) => !isSame(current[name], all[name]));
  if (changed.length === 0) return;
  Object.assign(current, all);
  for (const { names: wanted, listener } of [...listeners]) {
    if (changed.some((name) => wanted.has(name))) listener(state, changed, origin);
  }
}

/**
 * Register a listener for changes of any of the names.
 * @param {Name[]} names
 * @param {Listener} listener
 */
export function onChange(names, listener) {
  listeners.push({ names: new Set(names), listener });
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
 * @param {Partial<State>} changes
 * @returns {Partial<State>}
 */
function consequences(changes) {
  const differs = (/** @type {Name} */ name) => name in changes && !isSame(changes[name], state[name]);
  if (differs("run")) return { thread: wholeThread, focus: 0, cursor: 0, range: null };
  if (differs("view")) return { focus: 0, range: null };
  if (differs("thread") || differs("activity")) {
    const { thread, activity } = { ...state, ...changes };
    const stays = treeOf(state.run, thread, activity).total[state.focus] > 0;
    return { focus: stays ? state.focus : 0, range: null };
  }
  return differs("focus") ? { range: null } : {};
}

/**
 * @param {State[Name] | undefined} a
 * @param {State[Name] | undefined} b
 */
function isSame(a, b) {
  const lists = Array.isArray(a) && Array.isArray(b);
  return a === b || (lists && a[0] === b[0] && a[1] === b[1]);
}
