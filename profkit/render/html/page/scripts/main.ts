/*
 * Entry point of the page: its panels in order, and its start. The exports are members of the global
 * `profkit`, for tests, benchmarks and the browser's console.
 */

import { unpackColumns } from "./data/page_data.ts";
import {
  awaitsPanel, documentPanel, operatorsPanel, orderPanel, processesPanel,
} from "./document/panels.ts";
import { followThemeInSwatches } from "./elements/parts.ts";
import { buildLayout } from "./layout.ts";
import { callersAndCalleesPanel } from "./panels/callers_callees.ts";
import { factsPanel, notesPanel, summaryPanel } from "./panels/facts.ts";
import { hotFunctionsPanel } from "./panels/functions.ts";
import { resourcesPanel } from "./panels/resources.ts";
import { sampledComparisonPanel } from "./panels/sampled_comparison.ts";
import { selectedFunctionPanel } from "./panels/selected_function.ts";
import { selectorsPanel } from "./panels/selectors.ts";
import { sourceLinesPanel } from "./panels/source_lines.ts";
import { followAddress } from "./state/address.ts";
import { followTheme } from "./state/theme.ts";

export { pathTo } from "./data/call_tree.ts";
export { head } from "./data/page_data.ts";
export { costsOf, treeOf } from "./data/trees.ts";
export { boxName } from "./graph/views.ts";
export { paletteOf } from "./graph/function_colors.ts";
export { graph } from "./graph/graph.ts";
export { zoomBy, zoomOut, zoomTo } from "./graph/navigation.ts";
export { scaleOf } from "./graph/scale.ts";
export { fragmentOf, stateOf } from "./state/address.ts";
export { currentRun, currentTree, setState, state } from "./state/state.ts";
export { formatBytes, formatTime } from "./text/numbers.ts";
export { formatShare, plusMinus } from "./text/run_text.ts";

const PANELS = [
  selectorsPanel, summaryPanel, documentPanel, orderPanel, sampledComparisonPanel, resourcesPanel,
  selectedFunctionPanel, hotFunctionsPanel, awaitsPanel, sourceLinesPanel, callersAndCalleesPanel,
  operatorsPanel, processesPanel, factsPanel, notesPanel,
];

/** Unpack the data and build the page; show the error if that fails. */
async function start() {
  const place = document.getElementById("profkit") as HTMLElement;
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
