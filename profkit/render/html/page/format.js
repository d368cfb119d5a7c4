/* Numbers as people read them: the same words as in the terminal's reports. */
{
  const SECONDS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
  const BYTES = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];
  const COUNTS = [["T", 1e12], ["G", 1e9], ["M", 1e6]];
  /** From so many samples on shares have a digit behind the point. */
  const LEAST_PRECISE = 1000;
  const digits = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

  function threeDigits(value) {
    const size = Math.abs(value);
    return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  }

  /** A part of 1 in percent, as precise as the run's samples are; what is above 0 never reads as nothing. */
  function share(part) {
    const places = isCoarse() ? 0 : 1;
    const smallest = 10 ** -places;
    const percent = part * 100;
    if (percent > 0 && percent < smallest / 2) return `<${smallest.toFixed(places)} %`;
    return `${evened(percent, places).toFixed(places)} %`;
  }

  const isCoarse = () => profkit.head.kind === "sampled" && profkit.currentRun().total < LEAST_PRECISE;

  /** Halves go to the even neighbour, as in Python: 12.5 is 12, 13.5 is 14. */
  function evened(number, places) {
    const steps = number * 10 ** places;
    const isTie = Number.isInteger(number * 4) && Math.abs(steps % 1) === 0.5;
    return isTie ? (2 * Math.round(steps / 2)) / 10 ** places : number;
  }

  /** 1.23 ms: three digits in the largest unit that keeps them readable; 90 s and 90 min stay. */
  function time(seconds) {
    if (seconds === 0) return "0 s";
    const size = Math.abs(seconds);
    const isLarge = ([, each]) => size >= each * (each > 1 ? 1.5 : 0.9995);
    const [unit, factor] = SECONDS.find(isLarge) ?? SECONDS.at(-1);
    return `${threeDigits(seconds / factor)} ${unit}`;
  }

  function bytes(count) {
    const [unit, factor] = BYTES.find(([, each]) => Math.abs(count) >= each) ?? ["B", 1];
    return factor === 1 ? `${digits.format(count)} B` : `${threeDigits(count / factor)} ${unit}`;
  }

  /** All digits up to a million, then 1.23 M. */
  function count(number) {
    const [unit, factor] = COUNTS.find(([, each]) => Math.abs(number) >= each) ?? ["", 1];
    return factor === 1 ? digits.format(number) : `${threeDigits(number / factor)} ${unit}`;
  }

  /** A difference of shares in points, with its sign: `+2.1`. */
  const points = (part) => `${part > 0 ? "+" : part < 0 ? "−" : ""}${Math.abs(part * 100).toFixed(1)}`;

  /** Whether weights of a run stand for time. */
  const isTimed = (run) => typeof run.weight_s === "number";

  /** A weight of a run in its unit: time where the weights stand for time, else samples, bytes, …. */
  function weight(run, amount) {
    if (isTimed(run)) return time(amount * run.weight_s);
    if (run.unit === "bytes") return bytes(amount);
    return `${count(amount)} ${amount === 1 ? run.unit.replace(/s$/, "") : run.unit}`;
  }

  /** file:line of a function, the file alone where no line is known, "" where neither is. */
  function place(fn) {
    const { file, line } = profkit.head.functions;
    if (!file[fn]) return "";
    return line[fn] > 0 ? `${file[fn]}:${line[fn]}` : file[fn];
  }

  profkit.format = { share, points, time, bytes, count, weight, isTimed, place };
}
