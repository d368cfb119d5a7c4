/* How panels name a function: its package, its place, its weight, and a swatch of its colour. */
{
  const LONGEST_PLACE = 44;

  /** The package of a function, "" where none is known. */
  profkit.packageOf = (fn) => profkit.head.packages[profkit.head.functions.package[fn]]?.name ?? "";

  /** Text that may break after a dot, a slash and the like, rather than within a word. */
  profkit.breakable = (text) =>
    text.split(/(?<=[._:/])(?=[^._:/])/).flatMap((part, i) => (i ? [profkit.make("wbr"), part] : [part]));

  /** Where something is: of a long path the end, which tells most. */
  profkit.placeElement = (place, attributes = {}) => {
    const shown = place.length > LONGEST_PLACE ? `…${endOf(place)}` : place;
    const title = shown === place ? null : place;
    return profkit.make("span", { class: "place", title, ...attributes }, profkit.breakable(shown));
  };

  /** As many of a path's last names as there is room for, at least one. */
  function endOf(path) {
    const slash = path.indexOf("/", path.length - LONGEST_PLACE);
    return path.slice(slash < 0 ? path.lastIndexOf("/") : slash);
  }

  /** A spot of the colour that the graph gives a function: of its package, or of its difference. */
  profkit.swatch = (fn) => {
    const swatch = profkit.make("span", { class: "swatch", "aria-hidden": "true", "data-function": fn });
    paint(swatch);
    return swatch;
  };

  /** A function's name as what a row is picked by; the row listens. */
  profkit.functionLink = (fn) => profkit.make("span", { class: "named" }, profkit.swatch(fn),
    profkit.button(profkit.breakable(profkit.head.functions.name[fn]), () => {},
      { class: "link", title: profkit.format.place(fn) }));

  function paint(swatch) {
    const fn = Number(swatch.dataset.function);
    const color = () => profkit.packageColor(profkit.head.functions.package[fn]);
    swatch.style.backgroundColor = profkit.isDifference ? profkit.differenceColor(fn) : color();
  }

  profkit.whenReady(() => profkit.onTheme(() => document.querySelectorAll(".swatch[data-function]").forEach(paint)));

  /** A weight of the run that is shown, short: its unit is left out where it is a count. */
  profkit.amountText = (weight) => {
    const run = profkit.currentRun();
    const counted = !profkit.format.isTimed(run) && run.unit !== "bytes";
    return counted ? profkit.format.count(weight) : profkit.format.weight(run, weight);
  };

  /** A weight of the run that is shown: as time and in samples where both are known. */
  profkit.weightText = (weight) => {
    const run = profkit.currentRun();
    const text = profkit.format.weight(run, weight);
    const isBoth = profkit.format.isTimed(run) && run.unit === "samples";
    return isBoth ? `${text} · ${profkit.format.count(weight)} sample${weight === 1 ? "" : "s"}` : text;
  };
}
