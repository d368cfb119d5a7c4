/* Panels of tables that come with the data of a run: awaited lines, operators, and processes. */

import { head, type Block } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { hint, titled } from "../elements/parts.ts";
import { columnOf, filledTable, type Value } from "../elements/sortable_table.ts";
import type { Panel } from "../layout.ts";
import { currentRun, follow } from "../state/state.ts";

/** Return a panel of the contents that runs have under its id; `missing` is shown for runs without any. */
const dataPanel = (id: string, title: string, missing: string): Panel => ({
  id,
  title,
  build(body) {
    const show = () =>
      body.replaceChildren(...(currentRun().tables?.[id] ?? [{ hint: missing }]).map(elementOf));
    follow(["run"], show);
  },
  applies: () => head.kind === "sampled" && head.runs.some((run) => run.tables?.[id]),
});

export const awaitsPanel = dataPanel(
  "awaits", "Suspended, by await", "No call of this run was suspended at a known line.");
export const operatorsPanel =
  dataPanel("operators", "Operators", "torch.profiler did not record this run.");
export const processesPanel = dataPanel("processes", "Processes", "This run has one process.");

function elementOf(block: Block) {
  if ("text" in block) return make("p", {}, block.text);
  if ("hint" in block) return hint(block.hint);
  if ("title" in block) return titled("h3", block.title, block.remark);
  const { columns, rows, ...spec } = block;
  const written = columns.map(([id, title, kind], i) => columnOf(id, title, kind, (row: Value[]) => row[i]));
  return filledTable({ ...spec, columns: written, key: ([first]) => first }, rows);
}
