/* What is known about the run; what warns of something stands above all else. */
{
  const { make } = profkit;
  const ALARMS = new Set(["warn", "bad"]);
  const NOTES = new Set(["note", "error"]);
  /** What else is known of a run's state is among its notes. */
  const STATE = "started";

  /** Facts, `[[name, [[text, tone], …]], …]`, as a list of terms; names that repeat are written once. */
  profkit.factList = (facts) =>
    make("dl", { class: "facts" }, facts.map(([name, parts], i) => [
      make("dt", {}, i && facts[i - 1][0] === name ? "" : name),
      make("dd", {}, parts.flatMap(([text, tone], k) =>
        [k ? " · " : "", make("span", { class: `tone-${tone}` }, withLink(text))])),
    ]).flat());

  /** Sentences that warn, as a list; null where there are none. */
  profkit.warnings = (sentences) => {
    const items = sentences.map((text) => make("li", {}, withLink(text)));
    return items.length ? make("ul", { class: "warnings" }, items) : null;
  };

  /** A text as children of an element; an address at its end can be followed if the run has it among its links. */
  function withLink(text) {
    const links = (profkit.currentRun()?.facts ?? []).filter(([name]) => name === "link");
    const address = links.map(([, parts]) => parts.at(-1)[0])
      .find((link) => /^https?:\/\//.test(link) && text.endsWith(link));
    if (!address) return [text];
    const attributes = { href: address, target: "_blank", rel: "noopener noreferrer" };
    return [text.slice(0, -address.length), make("a", attributes, address)];
  }

  profkit.panel("facts", profkit.head.kind === "comparison" ? "About the runs" : "About the run", (body) => {
    const show = () => body.replaceChildren(profkit.factList(profkit.currentRun().facts), resourceTable() ?? "");
    profkit.on("run", show);
    show();
  }, () => profkit.head.runs.some((run) => run.facts?.length));

  profkit.panel("notes", "Notes", (body) => {
    const show = () => body.replaceChildren(profkit.warnings(notesOf(profkit.currentRun())) ?? "");
    profkit.on("run", show);
    show();
  }, () => profkit.head.kind === "sampled" && profkit.head.runs.some((run) => notesOf(run).length));

  /** Notes, errors, and other facts that speak against the run, each once. */
  function notesOf(run) {
    const alarms = (parts) => parts.filter(([, tone]) => ALARMS.has(tone)).map(([text]) => text);
    const said = (run.facts ?? []).filter(([name, parts]) => name !== STATE && alarms(parts).length)
      .map(([name, parts]) => `${NOTES.has(name) ? "" : `${name}: `}${alarms(parts).join(" · ")}`);
    const notes = (run.notes ?? []).map(String);
    return [...new Set([...notes, ...said])].filter(Boolean);
  }

  function resourceTable() {
    const resources = profkit.currentRun().resources;
    if (!resources) return null;
    const step = Math.ceil(resources.at_s.length / 200);
    const rows = resources.at_s.map((at, i) => [
      profkit.format.time(at), i ? `${Math.round(resources.cpu_share[i - 1] * 100)} %` : "–",
      profkit.format.bytes(resources.rss_bytes[i]), profkit.format.count(resources.threads[i])]);
    const heads = ["time", "CPU since the row above", "memory", "threads"];
    return profkit.numbersOf("Resources over time as a table", heads, rows.filter((_, i) => i % step === 0));
  }
}
