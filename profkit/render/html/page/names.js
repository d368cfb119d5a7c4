/* How panels name a function: its package, its place, its weight, and a swatch of its colour. */
{
  /** The package of a function, "" where none is known. */
  profkit.packageOf = (fn) => profkit.head.packages[profkit.head.functions.package[fn]]?.name ?? "";

  /** A spot of the colour that the graph gives a function: of its package, or of its difference. */
  profkit.swatch = (fn) => {
    const swatch = profkit.make("span", { class: "swatch", "aria-hidden": "true", "data-function": fn });
    paint(swatch);
    return swatch;
  };

  /** A function's name as what a row is picked by; the row listens. */
  profkit.functionLink = (fn) => profkit.make("span", { class: "named" }, profkit.swatch(fn),
    profkit.button(profkit.head.functions.name[fn], () => {}, { class: "link", title: profkit.format.place(fn) }));

  function paint(swatch) {
    const fn = Number(swatch.dataset.function);
    const color = () => profkit.packageColor(profkit.head.functions.package[fn]);
    swatch.style.backgroundColor = profkit.isDifference ? profkit.differenceColor(fn) : color();
  }

  profkit.whenReady(() => profkit.onTheme(() => document.querySelectorAll(".swatch[data-function]").forEach(paint)));

  /** A weight of the run that is shown, short: its unit is left out where it is a count. */
  profkit.amountText = (weight) => {
    const run = profkit.currentRun();
    const counted = typeof run.weight_s !== "number" && run.unit !== "bytes";
    return counted ? profkit.format.count(weight) : profkit.format.weight(run, weight);
  };

  /** A weight of the run that is shown: as time and in samples where both are known. */
  profkit.weightText = (weight) => {
    const run = profkit.currentRun();
    const text = profkit.format.weight(run, weight);
    const timed = run.weight_s !== null && run.weight_s !== undefined && run.unit === "samples";
    return timed ? `${text} · ${profkit.format.count(weight)} sample${weight === 1 ? "" : "s"}` : text;
  };
}
