/*
 * Entry point of the page: its panels in order, and its start. The exports are members of the global
 * `profkit`, for tests, benchmarks and the browser's console.
 */

import { unpackColumns } from "./data/page_data.js";
import { followThemeInSwatches } from "./elements/function_names.js";
import { buildLayout } from "./layout.js";
import { awaitsPanel } from "./panels/awaits.js";
import { callersAndCalleesPanel } from "./panels/callers_callees.js";
import { factsPanel, notesPanel, summaryPanel } from "./panels/facts.js";
import { hotFunctionsPanel } from "./panels/functions.js";
import { historyPanel } from "./panels/history.js";
import { measuredComparisonPanel } from "./panels/measured_comparison.js";
import { selectedOrderPanel } from "./panels/measured_order.js";
import { measuredOrdersPanel } from "./panels/measured_orders.js";
import { operatorsPanel } from "./panels/operators.js";
import { processesPanel } from "./panels/processes.js";
import { resourcesPanel } from "./panels/resources.js";
import { sampledComparisonPanel } from "./panels/sampled_comparison.js";
import { selectedFunctionPanel } from "./panels/selected_function.js";
import { selectorsPanel } from "./panels/selectors.js";
import { sourceLinesPanel } from "./panels/source_lines.js";
import { followAddress } from "./state/address.js";
import { followTheme } from "./state/theme.js";

export { calleesOf, callersOf, pathTo } from "./data/call_tree.js";
export { head } from "./data/page_data.js";
export { costsOf, groupOf, treeOf } from "./data/trees.js";
export { boxName } from "./graph/boxes.js";
export { paletteOf } from "./graph/function_colors.js";
export { graph } from "./graph/graph.js";
export { zoomBy, zoomOut, zoomTo } from "./graph/navigation.js";
export { scaleOf } from "./graph/scale.js";
export { fragmentOf, stateOf } from "./state/address.js";
export { currentRun, currentTree, setState, state } from "./state/state.js";
export { formatBytes, formatTime } from "./text/numbers.js";
export { formatShare, nodeName, plusMinus } from "./text/run_text.js";

const PANELS = [
  selectorsPanel, summaryPanel, measuredOrdersPanel, selectedOrderPanel, sampledComparisonPanel,
  measuredComparisonPanel, historyPanel, resourcesPanel, selectedFunctionPanel, hotFunctionsPanel,
  awaitsPanel, sourceLinesPanel, callersAndCalleesPanel, operatorsPanel, processesPanel, factsPanel,
  notesPanel,
];

/** Unpack the data and build the page; show the error if that fails. */
async function start() {
  const place = /** @type {HTMLElement} */ (document.getElementById("profkit"));
  try {
    await unpackColumns();
    followAddress();
    followTheme();
    followThemeInSwatches();
    buildLayout(place, PANELS);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    place.textContent = `This report cannot be shown: ${reason}. Use a browser from 2024 or later.`;
    throw error;
  } finally {
    place.removeAttribute("aria-busy");
  }
}

start();
