/* Synchronization of the page's address with the state; back and forward work. */

import { head } from "../data/page_data.ts";
import { shapeOf } from "../data/trees.ts";
import { readFragment, writeFragment } from "./address_fragment.ts";
import { initialState, onChange, setState, type State } from "./state.ts";

type Name = keyof State;

const SILENT: Set<Name> = new Set(["search", "range", "cursor", "theme", "tab"]);
const REST_MS = 250;

let waiting: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Return the fragment for a state. */
export const fragmentOf = (state: Readonly<State>) => writeFragment(state, initialState);

/** Return the state for a fragment on this page. */
export const stateOf = (fragment: string) => readFragment(fragment, initialState, {
  runs: head.runs,
  nodes: (run) => shapeOf(run).fn.length,
  functions: head.functions.name.length,
  orders: head.orders?.length ?? 1,
});

/** Read the state from the address, and write later changes to it. */
export function followAddress() {
  read();
  onChange(Object.keys(initialState) as Name[], (state, changed, origin) => {
    if (origin !== "address") write(state, changed, origin);
  });
  addEventListener("popstate", read);
}

/** Write the state to the address, as a new entry of the history, or in place for small steps. */
function write(state: Readonly<State>, changed: Name[], origin: string) {
  // An iframe in a notebook has no address of its own.
  if (location.protocol === "about:") return;
  const isStep = (name: Name) =>
    SILENT.has(name) || (name === "selected" && origin === "graph");
  const address = `#${fragmentOf(state)}`;
  if (changed.every(isStep)) replaceSoon(address);
  else {
    replaceNow();
    if (address !== (location.hash || "#")) history.pushState(null, "", address);
  }
}

/** Replace the address after a pause: browsers reject a change at every movement of the pointer. */
function replaceSoon(address: string) {
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
