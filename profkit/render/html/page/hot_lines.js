/* The hottest lines of a run: where to look first, while nothing is selected. */
{
  const { make } = profkit;
  const MOST = 6;

  /** A list of the lines with most weight of their own, each with its source where that is at hand; null for none. */
  profkit.hotLines = () => {
    const lines = profkit.isDifference ? [] : hottest(profkit.state.run);
    if (!lines.length) return null;
    const whole = profkit.tree(profkit.state.run, "all").total[0] || 1;
    return make("section", { class: "hot-lines" },
      profkit.titled("h3", "Hottest lines", "by their own share"),
      make("ol", {}, lines.map((line) => item(line, whole))));
  };

  function hottest(run) {
    const column = (name) => profkit.column(`r${run}.lines.${name}`);
    const [functions, numbers, self] = [column("function"), column("line"), column("self")];
    const order = [...self.keys()].filter((at) => self[at] > 0).sort((a, b) => self[b] - self[a]);
    return order.slice(0, MOST).map((at) => ({ fn: functions[at], number: numbers[at], weight: self[at] }));
  }

  function item({ fn, number, weight }, whole) {
    const text = textOf(fn, number);
    const place = profkit.placeElement(`${profkit.head.functions.file[fn]}:${number}`);
    return make("li", {},
      make("div", { class: "hot-line" },
        profkit.shareBar(weight / whole),
        make("span", { class: "named" }, profkit.swatch(fn),
          profkit.button(profkit.head.functions.name[fn], () => profkit.set({ selected: fn }), { class: "link" }))),
      text ? make("code", { class: "hot-code", title: text }, text) : null, place);
  }

  /** A line of a function's source, without its indentation; "" where the page does not have it. */
  function textOf(fn, number) {
    const source = (profkit.currentRun().source ?? {})[fn];
    return source?.lines[number - source.first]?.trim() ?? "";
  }
}
