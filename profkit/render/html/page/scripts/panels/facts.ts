/* Panels of the summary of the run, of its facts, and of its notes: facts that are warnings or errors. */

import { head, type Fact, type Run } from "../data/page_data.ts";
import { factList, withLink } from "../document/facts.ts";
import { make } from "../elements/markup.ts";
import { numbersTable } from "../elements/plots.ts";
import type { Panel } from "../layout.ts";
import { currentRun, follow, initialState, onChange, state } from "../state/state.ts";
import { formatBytes, formatCount, formatTime } from "../text/numbers.ts";

const ALARMS = new Set(["warn", "bad"]);
const NOTES = new Set(["note", "error"]);
/** The state of a run is not a note, because the notes explain it. */
const STATE = "started";

/** Return warning sentences as a list; null if there are none. */
function warnings(sentences: string[]) {
  const items = sentences.map((text) => make("li", {}, withLink(text)));
  return items.length ? make("ul", { class: "warnings" }, items) : null;
}

/** Return the summary of the selected samples. */
function ofSelection() {
  const { summary = [], summaries } = currentRun();
  return summaries ? summaries[state.thread]?.[state.activity] ?? [] : summary;
}

/** It opens on the summary of the whole run. */
export const summaryPanel: Panel = {
  id: "sentences",
  title: "Summary",
  build(body) {
    const show = (sentences: string[]) => {
      body.replaceChildren(...sentences.map((sentence) => make("p", {}, sentence)));
      (body.parentElement as HTMLElement).hidden = sentences.length === 0;
    };
    const names = ["run", "thread", "activity"] as const;
    onChange([...names], () => show(ofSelection()));
    const isUntouched = names.every((name) => state[name] === initialState[name]);
    show(isUntouched ? currentRun().summary ?? [] : ofSelection());
  },
  applies: () => head.runs.some((run) => run.summaries || (run.summary ?? []).length > 0),
};

export const factsPanel: Panel = {
  id: "facts",
  title: head.kind === "comparison" ? "About the runs" : "About the run",
  build(body) {
    const show = () => body.replaceChildren(factList(currentRun().facts), resourceTable() ?? "");
    follow(["run"], show);
  },
  applies: () => head.runs.some((run) => run.facts.length > 0),
};

export const notesPanel: Panel = {
  id: "notes",
  title: "Notes",
  build(body) {
    const show = () => body.replaceChildren(warnings(notesOf(currentRun())) ?? "");
    follow(["run"], show);
  },
  applies: () => head.kind === "sampled" && head.runs.some((run) => notesOf(run).length > 0),
};

/** Return notes, errors, and other facts that are warnings, each once. */
function notesOf(run: Run) {
  const alarms = (parts: Fact[1]) =>
    parts.filter(([, tone]) => ALARMS.has(tone)).map(([text]) => text);
  const said = (run.facts ?? []).filter(([name, parts]) => name !== STATE && alarms(parts).length)
    .map(([name, parts]) => `${NOTES.has(name) ? "" : `${name}: `}${alarms(parts).join(" · ")}`);
  const notes = (run.notes ?? []).map(String);
  return [...new Set([...notes, ...said])].filter(Boolean);
}

function resourceTable() {
  const resources = currentRun().resources;
  if (!resources) return null;
  const step = Math.ceil(resources.at_s.length / 200);
  const rows = resources.at_s.map((at, i) => [
    formatTime(at), i ? `${Math.round(resources.cpu_share[i - 1] * 100)} %` : "–",
    formatBytes(resources.rss_bytes[i]), formatCount(resources.threads[i])]);
  const heads = ["time", "CPU since the previous row", "memory", "threads"];
  return numbersTable("Resources over time as a table", heads, rows.filter((_, i) => i % step === 0));
}
