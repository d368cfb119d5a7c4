/* Selectors of the region, and of the thread or side. */

import {
  column, head, type Activity, type Sides, type Thread, type ThreadChoice,
} from "../data/page_data.ts";
import { treeOf } from "../data/trees.ts";
import { make } from "../elements/markup.ts";
import type { Panel } from "../layout.ts";
import { currentRun, follow, setState, state, type State } from "../state/state.ts";
import { formatShare } from "../text/run_text.ts";

type Options = [value: ThreadChoice | Activity, text: string][];

export const selectorsPanel: Panel = {
  id: "selectors",
  title: "Selection",
  build(body) {
    const place = make("span", { class: "chooser-place" });
    body.append(...regionChooser(), place);
    const show = () => place.replaceChildren(...threadChooser(), ...activityChooser());
    follow(["run"], show);
  },
  applies: () => head.runs.length > 1 || head.runs.some((run) => run.threads.length > 1 || run.waiting > 0),
};

function regionChooser() {
  const { runs, kind } = head;
  if (runs.length < 2 || kind !== "sampled") return [];
  const options: Options = runs.map((run, i) => [i, run.label]);
  return [chooser("Region", options, (value) => ({ run: Number(value) }), () => state.run)];
}

function sideChooser({ a, b }: Sides<string>) {
  const options: Options = [[0, `A: ${a}`], [1, `B: ${b}`]];
  return chooser("Side", options, (value) => ({ thread: Number(value) }), () => state.thread);
}

function threadChooser() {
  const run = currentRun();
  if (run.threads.length < 2) return [];
  if (head.kind === "comparison") return [sideChooser(head.comparison?.names ?? { a: "", b: "" })];
  const total = treeOf(state.run, "all").total[0] || 1;
  const weights = weightsOf(state.run, run.threads.length);
  const placeOf = (i: number) => run.threads[i].place;
  const order = [...weights.keys()].sort((a, b) => placeOf(a) - placeOf(b) || weights[b] - weights[a]);
  const shareOf = (i: number) => formatShare(weights[i] / total);
  const named: Options = order.map((i) => [i, `${nameOf(run.threads[i])} – ${shareOf(i)}`]);
  return [chooser("Thread", [["all", `all ${run.threads.length} threads`], ...named],
    (value) => ({ thread: value === "all" ? value : Number(value) }), () => state.thread)];
}

/** Return the choice between working and waiting, if there is any waiting. */
function activityChooser() {
  const { total, waiting } = currentRun();
  if (!waiting) return [];
  const options: Options = [
    ["all", "working and waiting"],
    ["working", `working – ${formatShare((total - waiting) / total)}`],
    ["waiting", `waiting – ${formatShare(waiting / total)}`],
  ];
  return [chooser("Time", options, (value) => ({ activity: value as Activity }),
    () => state.activity)];
}

/** Return the weight of each thread, without building its tree. */
function weightsOf(run: number, count: number) {
  const weights = new Float64Array(count);
  const [threads, amounts] = [column(`r${run}.pair.thread`), column(`r${run}.pair.weight`)];
  threads.forEach((thread, pair) => { weights[thread] += amounts[pair]; });
  return weights;
}

const nameOf = ({ name, tid }: Thread) => [name, tid ?? ""].filter((part) => part !== "").join(" · ");

function chooser(
  name: string,
  options: Options,
  changes: (value: string) => Partial<State>,
  current: () => ThreadChoice | Activity,
) {
  const id = `choose-${name.toLowerCase()}`;
  const select = make("select", { id, change: () => setState(changes(select.value)) },
    options.map(([value, text]) => make("option", { value: String(value) }, text)));
  const show = () => { select.value = String(current()); };
  follow(["run", "thread", "activity"], show);
  return make("div", { class: "chooser" }, make("label", { class: "chooser-name", for: id }, name), select);
}
