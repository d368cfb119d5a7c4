/* Synchronization of the page's address with the state; back and forward work. */

import { head } from "../data/page_data.js";
import { shapeOf } from "../data/trees.js";
import { readFragment, writeFragment } from "./address_fragment.js";
import { initialState, onChange, setState } from "./state.js";

/** @import { State } from "../types.js" */
/** @typedef {keyof State} Name */

/** @type {Set<Name>} */
const SILENT = new Set(["search", "range", "cursor", "theme", "tab"]);
const REST_MS = 250;

/** @type {string | null} */
let waiting = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Return the fragment for a state.
 * @param {Readonly<State>} state
 */
export const fragmentOf = (state) => writeFragment(state, initialState);

/**
 * Return the state for a fragment on this page.
 * @param {string} fragment
 */
export const stateOf = (fragment) => readFragment(fragment, initialState, {
  runs: head.runs,
  nodes: (run) => shapeOf(run).fn.length,
  functions: head.functions.name.length,
  orders: head.measured?.orders.length ?? 1,
});

/** Read the state from the address, and write later changes to it. */
export function followAddress() {
  read();
  onChange(/** @type {Name[]} */ (Object.keys(initialState)), (state, changed, origin) => {
    if (origin !== "address") write(state, changed, origin);
  });
  addEventListener("popstate", read);
}

/**
 * Write the state to the address, as a new entry of the history, or in place for small steps.
 * @param {Readonly<State>} state
 * @param {Name[]} changed
 * @param {string} origin
 */
function write(state, changed, origin) {
  // An iframe in a notebook has no address of its own.
  if (location.protocol === "about:") return;
  const isStep = (/** @type {Name} */ name) =>
    SILENT.has(name) || (name === "selected" && origin === "graph");
  const address = `#${fragmentOf(state)}`;
  if (changed.every(isStep)) replaceSoon(address);
  else {
    replaceNow();
    if (address !== (location.hash || "#")) history.pushState(null, "", address);
  }
}

/**
 * Replace the address after a pause: browsers reject a change at every movement of the pointer.
 * @param {string} address
 */
function replaceSoon(address) {
  waiting = address;
  clearTimeout(timer);
  timer = setTimeout(replaceNow, REST_MS);
}

function replaceNow() {
  clearTimeout(timer);
  if (waiting !== null) history.replaceState(null, "", waiting);
  waiting = null;
}

function read() {
  waiting = null;
  setState(stateOf(location.hash.slice(1)), "address");
}
