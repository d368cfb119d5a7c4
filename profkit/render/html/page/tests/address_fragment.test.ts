import assert from "node:assert/strict";
import { test } from "node:test";

import { readFragment, writeFragment } from "../scripts/state/address_fragment.ts";
import type { State } from "../scripts/state/state.ts";
import { forSeeds } from "./made.ts";

const INITIAL: State = Object.freeze({
  run: 0, thread: "all", activity: "all", view: "left-heavy", direction: "icicle",
  chains: "folded", focus: 0, range: null, cursor: 0,
  selected: null, search: "", theme: "auto", tab: null, order: 0,
});
const CONTENTS = {
  runs: [{ ordered: true, threads: { length: 3 } }, { ordered: false, threads: { length: 1 } }],
  nodes: (run: number) => [500, 20][run],
  functions: 40,
  orders: 6,
};
const read = (fragment: string) => readFragment(fragment, INITIAL, CONTENTS);
const write = (state: State) => writeFragment(state, INITIAL);

test("the initial state has an empty fragment", () => {
  assert.equal(write(INITIAL), "");
  assert.deepEqual(read(""), INITIAL);
});

test("a written state is read back unchanged", () => {
  forSeeds((random) => {
    const run = random.upTo(1);
    const from = random.next() / 2;
    const [ordered, nodes] = [run === 0, CONTENTS.nodes(run) - 1];
    const state: State = {
      run,
      thread: random.upTo(1) ? "all" : random.upTo(CONTENTS.runs[run].threads.length - 1),
      activity: (["all", "working", "waiting"] as const)[random.upTo(2)],
      view: ordered && random.upTo(1) ? "chronological" : "left-heavy",
      direction: random.upTo(1) ? "icicle" : "flame",
      chains: random.upTo(1) ? "folded" : "unfolded",
      focus: random.upTo(nodes),
      range: random.upTo(1) ? null : [from, from + random.next() / 2],
      cursor: random.upTo(nodes),
      selected: random.upTo(1) ? null : random.upTo(39),
      search: random.upTo(1) ? "" : ["a&b=c#d", "ü 日本 +%", "</script>", "__proto__"][random.upTo(3)],
      theme: (["auto", "light", "dark"] as const)[random.upTo(2)],
      tab: random.upTo(1) ? null : "lines",
      order: random.upTo(5),
    };
    const { range, ...rest } = read(write(state));
    const { range: wanted, ...others } = state;
    assert.deepEqual(rest, others);
    assert.equal(range === null, wanted === null);
    range?.forEach((part, i) => assert.ok(wanted && Math.abs(part - wanted[i]) < 1e-8));
  }, 300);
});

test("missing parts of a page have their initial values", () => {
  for (const fragment of [
    "run=2", "run=-1", "run=1e3", "run=0x1", "run=", "thread=3", "thread=-1", "thread=x", "focus=500",
    "focus=9999999999", "cursor=500", "selected=40", "order=6", "view=other", "direction=up", "theme=red",
    "range=1,0", "range=0,2", "range=-1,1", "range=x,1", "range=0.5", "range=", "__proto__=1",
    "constructor=1", "toString=1", "=", "%E0%A4", "&&",
  ]) assert.deepEqual(read(fragment), INITIAL, fragment);
});

test("numbers are bounded by the run of the fragment", () => {
  assert.equal(read("run=1&focus=19").focus, 19);
  assert.equal(read("run=1&focus=20").focus, 0);
  assert.equal(read("run=1&view=chronological").view, "left-heavy");
  assert.equal(read("view=chronological").view, "chronological");
});

test("a page without runs has the initial state", () => {
  const empty = { runs: [], nodes: () => 0, functions: 0, orders: 1 };
  assert.deepEqual(readFragment("run=0&focus=3&selected=0&thread=0", INITIAL, empty), INITIAL);
});
