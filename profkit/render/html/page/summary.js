/* The line below the title: the facts of the run that a reader wants first. */
{
  const { make } = profkit;
  /** Where the region is: this fact has the name of its kind. */
  const KINDS = ["function", "coroutine", "generator", "async generator", "block"];
  /** Facts by name: how many of their parts are told, and the noun of those that are a bare number. */
  const TOLD = new Map([
    ...KINDS.map((kind) => [kind, [1]]), ["imported", [2]], ["tool", [1]], ["started", [1]],
    ["runs", [2]], ["calls", [2, "call"]], ["active", [2]], ["total", [2]], ["samples", [2, "sample"]], ["sampler", [1]],
  ]);

  /** The title without the name of this program, which stands at the page's foot. */
  profkit.titleText = () => profkit.head.title.replace(/ – profkit$/, "");

  /** The line, which follows the run; empty where a page is about several. */
  profkit.summaryLine = () => {
    const line = make("p", { class: "summary" });
    const show = () => line.replaceChildren(...factsOf(profkit.currentRun()).map((text) => make("span", {}, text)));
    profkit.on("run", show);
    if (profkit.head.kind === "sampled") show();
    return line;
  };

  function factsOf(run) {
    const facts = new Map(run?.facts ?? []);
    return [...TOLD].filter(([name]) => facts.has(name)).map(([name, [most, noun]]) => {
      const [first, ...others] = facts.get(name).slice(0, most).map(([text]) => text);
      return [counted(first, noun) ?? (name === "active" ? `${first} active` : first), ...others].join(", ");
    });
  }

  /** `12 calls`; null for what is no bare number. */
  const counted = (text, noun) =>
    (noun && /^[\d,]+$/.test(text) ? `${text} ${noun}${text === "1" ? "" : "s"}` : null);
}
