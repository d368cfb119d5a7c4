/* Numbers of measurements as text: figures that stand together have one unit and the same decimals. */
{
  const TIMES = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const APART = 1000;
  const unitOf = (size_s) => TIMES.find(([factor]) => size_s >= factor) ?? TIMES[3];
  const digitsOf = (size) => (size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0);
  const known = (value) => value !== null && value !== undefined;

  /** Whether a value of the head is there: what is not known is null. */
  profkit.isNumber = (value) => typeof value === "number";

  /** A number with thousands apart and that many decimals. */
  profkit.decimals = (value, digits) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

  /** Times of which the shortest has four digits; where they are very far apart, each in its own unit. */
  profkit.timesAlike = (times_s) => {
    const sizes = times_s.filter((time) => known(time) && time > 0);
    const least = Math.min(...sizes);
    const apart = Math.max(...sizes) > least * APART;
    return times_s.map((time) => (known(time) ? inUnitOf(apart ? time : least, time) : ""));
  };

  function inUnitOf(reference_s, time_s) {
    if (!(reference_s > 0) || !Number.isFinite(reference_s)) return "0 s";
    const [factor, unit] = unitOf(reference_s);
    return `${profkit.decimals(time_s / factor, digitsOf(reference_s / factor))} ${unit}`;
  }

  /** One time with four digits. */
  profkit.exactTime = (time_s) => profkit.timesAlike([time_s])[0];

  /** A count: whole, or with one decimal where it is small and has parts. */
  profkit.exactCount = (value) => {
    if (!known(value)) return "";
    const text = profkit.decimals(Math.abs(value), Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 1);
    return value < 0 ? `−${text}` : text;
  };

  /** A ratio of sides as a change: `+2.1 %`. */
  profkit.change = (ratio) => {
    const percent = (ratio - 1) * 100;
    const digits = Math.abs(percent) < 9.95 ? 1 : 0;
    const text = profkit.decimals(Math.abs(percent), digits);
    return `${Number(text.replaceAll(",", "")) === 0 ? "" : percent > 0 ? "+" : "−"}${text} %`;
  };

  /** How a plot writes the values of an axis: `of` measures "time", "instructions" or another count. */
  profkit.axisText = (kind, values) => {
    if (kind !== "time") return values.map(compact);
    const [factor, unit] = unitOf(Math.max(...values.map(Math.abs)));
    const digits = decimalsOf(values.map((value) => value / factor));
    return values.map((value) => `${profkit.decimals(value / factor, digits)} ${unit}`);
  };

  /** As few decimals as tell the values of an axis apart. */
  function decimalsOf(values) {
    // A single value stands for itself: three digits of it.
    const step = values.length > 1 ? Math.abs(values[1] - values[0]) : Math.abs(values[0]) / 100;
    return step > 0 ? Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))) : 0;
  }
  profkit.decimalsOf = decimalsOf;

  const COUNTS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

  function compact(value, place, values) {
    const most = Math.max(...values.map(Math.abs));
    const [factor, unit] = COUNTS.find(([size]) => most >= 10 * size) ?? [1, ""];
    const text = profkit.decimals(value / factor, decimalsOf(values.map((other) => other / factor)));
    return unit ? `${text} ${unit}` : text;
  }
}
