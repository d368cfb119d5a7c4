/* Panels of documents: the report of the page, that of the selected order, and tables of a run. */

import { head } from "../data/page_data.ts";
import { hint } from "../elements/parts.ts";
import { places, type Panel } from "../layout.ts";
import { currentRun, follow, setState, state } from "../state/state.ts";
import { documentElement } from "./blocks.ts";

const { blocks = [], orders = [] } = head;
const TITLES = {
  sampled: "Comparison", comparison: "Comparison", document: "Report",
  measured: orders.length > 1 ? `${orders.length} statements` : "Measurement",
};

export const documentPanel: Panel = {
  id: "document",
  title: TITLES[head.kind],
  build(body) {
    body.append(documentElement(blocks));
    if (orders.length) follow(["order"], showGraph);
  },
  applies: () => blocks.length > 0,
};

export const orderPanel: Panel = {
  id: "order",
  title: "The selected statement",
  build(body) {
    follow(["order"], () => body.replaceChildren(documentElement(currentOrder().blocks)));
  },
  applies: () => orders.length > 1,
};

const currentOrder = () => orders[state.order] ?? orders[0];

/** Show the graph and tables of the selected order; hide them if its calls were not counted. */
function showGraph() {
  const { run } = currentOrder();
  places.workspace.hidden = places.tabs.hidden = run === null;
  if (run !== null) setState({ run }, "address");
}

/** Return a panel of the blocks that runs have under its id; `missing` is shown for runs without any. */
const tablesPanel = (id: string, title: string, missing: string): Panel => ({
  id,
  title,
  build(body) {
    follow(["run"], () => {
      const found = currentRun().tables?.[id];
      body.replaceChildren(found ? documentElement(found) : hint(missing));
    });
  },
  applies: () => head.runs.some((run) => run.tables?.[id]),
});

export const awaitsPanel = tablesPanel(
  "awaits", "Suspended, by await", "No call of this run was suspended at a known line.");
export const operatorsPanel =
  tablesPanel("operators", "Operators", "torch.profiler did not record this run.");
export const processesPanel = tablesPanel("processes", "Processes", "This run has one process.");
