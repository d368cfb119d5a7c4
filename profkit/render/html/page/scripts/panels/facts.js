/* Panels of the summary of the run, of its facts, and of its notes: facts that are warnings or errors. */

import { head } from "../data/page_data.js";
import { make } from "../elements/markup.js";
import { folded } from "../elements/parts.js";
import { numbersTable } from "../elements/plots.js";
import { currentRun, initialState, onChange, state } from "../state/state.js";
import { formatBytes, formatCount, formatTime, plural } from "../text/numbers.js";

/** @import { Child, Fact, Panel, Run } from "../types.js" */

const ALARMS = new Set(["warn", "bad"]);
const NOTES = new Set(["note", "error"]);
/** The state of a run is not a note, because the notes explain it. */
const STATE = "started";

/**
 * Return facts as a list of terms; repeated names are written once.
 * @param {Fact[]} facts
 */
export const factList = (facts) =>
  make("dl", { class: "facts" }, facts.map(([name, parts], i) => [
    make("dt", {}, i && facts[i - 1][0] === name ? "" : name),
    make("dd", {}, parts.flatMap(([text, tone], k) =>
      [k ? " · " : "", make("span", { class: `tone-${tone}` }, withLink(text))])),
  ]).flat());

/**
 * Return warning sentences as a list; null if there are none.
 * @param {string[]} sentences
 */
export function warnings(sentences) {
  const items = sentences.map((text) => make("li", {}, withLink(text)));
  return items.length ? make("ul", { class: "warnings" }, items) : null;
}

/**
 * Return warnings and notes below a line with their numbers; null if there are none.
 * @param {{ warnings?: string[], notes?: string[] }} remarks
 */
export function foldedRemarks({ warnings: alarms = [], notes = [] }) {
  const counted = [plural(alarms.length, "warning"), plural(notes.length, "note")];
  const list = warnings([...alarms, ...notes]);
  const element = list && folded(counted.filter((text) => !text.startsWith("0 ")).join(", "), list);
  if (alarms.length) element?.classList.add("alarms");
  return element;
}

/**
 * Return a text as child nodes. An address at its end becomes a link if it is among the links of the run.
 * @param {string} text
 * @returns {Child[]}
 */
function withLink(text) {
  const links = (currentRun()?.facts ?? []).filter(([name]) => name === "link");
  const address = links.map(([, parts]) => parts.at(-1)?.[0] ?? "")
    .find((link) => /^https?:\/\//.test(link) && text.endsWith(link));
  if (!address) return [text];
  const attributes = { href: address, target: "_blank", rel: "noopener noreferrer" };
  return [text.slice(0, -address.length), make("a", attributes, address)];
}

/** Return the summary of the selected samples. */
function ofSelection() {
  const { summary = [], summaries } = currentRun();
  return summaries ? summaries[state.thread]?.[state.activity] ?? [] : summary;
}

/**
 * It opens on the summary of the whole run.
 * @type {Panel}
 */
export const summaryPanel = {
  id: "sentences",
  title: "Summary",
  build(body) {
    const show = (/** @type {string[]} */ sentences) => {
      body.replaceChildren(...sentences.map((sentence) => make("p", {}, sentence)));
      /** @type {HTMLElement} */ (body.parentElement).hidden = sentences.length === 0;
    };
    const names = /** @type {const} */ (["run", "thread", "activity"]);
    onChange([...names], () => show(ofSelection()));
    const isUntouched = names.every((name) => state[name] === initialState[name]);
    show(isUntouched ? currentRun().summary ?? [] : ofSelection());
  },
  applies: () => head.runs.some((run) => run.summaries || (run.summary ?? []).length > 0),
};

/** @type {Panel} */
export const factsPanel = {
  id: "facts",
  title: head.kind === "comparison" ? "About the runs" : "About the run",
  build(body) {
    const show = () => body.replaceChildren(factList(currentRun().facts), resourceTable() ?? "");
    onChange(["run"], show);
    show();
  },
  applies: () => head.runs.some((run) => run.facts.length > 0),
};

/** @type {Panel} */
export const notesPanel = {
  id: "notes",
  title: "Notes",
  build(body) {
    const show = () => body.replaceChildren(warnings(notesOf(currentRun())) ?? "");
    onChange(["run"], show);
    show();
  },
  applies: () => head.kind === "sampled" && head.runs.some((run) => notesOf(run).length > 0),
};

/**
 * Return notes, errors, and other facts that are warnings, each once.
 * @param {Run} run
 */
function notesOf(run) {
  const alarms = (/** @type {Fact[1]} */ parts) =>
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
