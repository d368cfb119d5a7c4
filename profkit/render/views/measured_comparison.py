"""Content of comparisons of measured runs that all formats share, with verdicts as predicates of B."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from profkit.comparing.times import CONFIDENCE, MIN_PROCESSES, MIN_RUNS
from profkit.model.comparison import (
    CountsCompared,
    CountSpread,
    MeasuredComparison,
    OrderCompared,
    PythonFunctionDelta,
    TimesCompared,
    Verdict,
)
from profkit.model.measurement import Design, MeasuredRun, MeasurementWarning, WarningCode
from profkit.render.document import Fact
from profkit.render.escape import short, visible
from profkit.render.formatting import (
    Part,
    Tone,
    change,
    count,
    count_text,
    factor,
    range_of,
    signed,
    time_text,
)
from profkit.render.options import ReportOptions
from profkit.render.views.findings import finding_text
from profkit.render.views.measured import UNKNOWN_FILE, TimeRow, headed_warning, time_row, uncertainty
from profkit.render.views.measured_figures import pooled
from profkit.transforms.origin import standard_file
from profkit.units import short_id


def times_sentence(times: TimesCompared) -> str:
    """Return the verdict about B's times, with its interval, as a predicate of B."""
    if times.low is None or times.high is None:
        return f"has no verdict from {_sizes(times)}: at least {MIN_PROCESSES} are needed"
    parts = [_interval(times, times.low, times.high), _sizes(times)]
    parts += [] if times.p is None else [f"p {_p_text(times.p)}"]
    sentence = f"{_effect(times, times.low, times.high)} ({', '.join(parts)})"
    is_open = times.unconfirmed and times.verdict is not Verdict.NO_DIFFERENCE
    return f"{sentence}; unconfirmed, because measured separately" if is_open else sentence


def _effect(times: TimesCompared, low: float, high: float) -> str:
    if times.verdict is Verdict.NO_DIFFERENCE:
        largest = max(times.minimum_effect, high - 1, 1 / low - 1)
        return f"takes as long, to within {_rounded_up(100 * largest)} %"
    if times.ratio <= 0.5:
        return f"is {factor(1 / times.ratio)} × faster"
    if times.ratio >= 2:
        return f"takes {factor(times.ratio)} times as long"
    size = f"{100 * abs(times.ratio - 1):.1f} %"
    return f"takes {size} longer" if times.verdict is Verdict.SLOWER else f"takes {size} less time"


def _interval(times: TimesCompared, low: float, high: float) -> str:
    confidence = f"{100 * CONFIDENCE:.0f} %"
    if times.verdict is Verdict.NO_DIFFERENCE:
        return f"{confidence} confidence"
    if times.ratio <= 0.5:
        return f"{confidence} interval {factor(1 / high)} to {factor(1 / low)}"
    if times.ratio >= 2:
        return f"{confidence} interval {factor(low)} to {factor(high)}"
    near, far = sorted((abs(low - 1), abs(high - 1)))
    return f"{confidence} interval {100 * near:.1f} % to {100 * far:.1f} %"


def _sizes(times: TimesCompared) -> str:
    """Return the number of processes or runs: `10 processes`, `4 runs per side`, `4 and 5 runs`."""
    (a, b), noun = times.sizes, "runs" if times.by_run else "processes"
    if a != b:
        return f"{a} and {b} {noun}"
    return f"{a} {noun}" if times.design is Design.INTERLEAVED else f"{a} {noun} per side"


def undetected(times: TimesCompared) -> str:
    """Return which changes the comparison can miss; empty if that is not known."""
    if times.detectable is None:
        return ""
    return f"changes below {_rounded_up(100 * times.detectable)} % can go undetected"


def counts_sentence(counts: CountsCompared) -> str:
    """Return the verdict about B's instructions, as a predicate of B."""
    if counts.verdict is Verdict.NOT_COMPARED:
        return "has no comparable instruction count"
    if counts.verdict is Verdict.NO_DIFFERENCE:
        return f"executes as many instructions, to within {100 * counts.minimum_effect:.2g} %"
    ratio = counts.ratio
    if ratio is None:
        return "executes instructions, unlike A"
    if ratio <= 0.5:
        return f"executes {factor(100 * ratio)} % of A's instructions"
    if ratio >= 2:
        return f"executes {factor(ratio)} times as many instructions"
    return f"executes {100 * abs(ratio - 1):.2f} % {'more' if ratio > 1 else 'fewer'} instructions"


def _rounded_up(percent: float) -> str:
    """Round a percentage up to two digits, so that everything above the result is excluded."""
    step = 10 ** (math.floor(math.log10(percent)) - 1)
    # 1e-9 allows for the error of the division, which would otherwise round 0.5 up to 0.51.
    return f"{math.ceil(percent / step - 1e-9) * step:.3g}"


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


def function_text(name: str) -> tuple[str, str]:
    """Return a function's name, and its file without build folders, else its shared object."""
    bare, bracket, within = name.rpartition(" [") if name.endswith("]") else (name, "", "")
    file, colon, function = (bare if bracket else name).partition(":")
    if not colon:
        return short(file), ""
    place = standard_file(file) if file != UNKNOWN_FILE else posixpath.basename(within.removesuffix("]"))
    return short(function), short(place)


def delta_cell(counts: CountsCompared) -> str:
    """Format a change of instructions as difference, B and ratio: `+615 → 5,614 (+12.3 %)`."""
    if counts.obstacle is not None:
        return f"{count_text(counts.a)}, {count_text(counts.b)}: not comparable"
    share = "" if counts.ratio is None else f" ({change(counts.ratio)})"
    return f"{signed(counts.delta)} → {count_text(counts.b)}{share}"


TONES_OF = {
    Verdict.SLOWER: Tone.BAD,
    Verdict.FASTER: Tone.STRONG,
    Verdict.NO_DIFFERENCE: Tone.PLAIN,
    Verdict.TOO_FEW: Tone.WARN,
    Verdict.NOT_COMPARED: Tone.WARN,
}
_LONGEST = 100
_COMMIT = 10


def side_names(comparison: MeasuredComparison) -> tuple[str, str]:
    """Return both sides' names, escaped and different from each other."""
    a, b = (short(name, _LONGEST) for name in comparison.names)
    return (a, b) if a != b else (a, f"{b} (again)")


def times_of(runs: Sequence[MeasuredRun]) -> TimeRow | None:
    """Summarize the times of a side; several runs are pooled."""
    timing = pooled(runs)
    return None if timing is None else time_row(timing)


def sentences(order: OrderCompared, subject: str = "B") -> Iterator[tuple[str, str, Tone]]:
    """Yield (measure, sentence, tone) for each result of an order, and the obstacle if there is one."""
    if order.times is not None:
        times = order.times
        missed = undetected(times) if times.verdict is Verdict.NO_DIFFERENCE else ""
        yield "time", f"{subject} {'; '.join(filter(None, (times_sentence(times), missed)))}", _tone(times)
    if order.counts is not None:
        counts = order.counts
        figures = f"{count_text(counts.a)} → {count_text(counts.b)} ({signed(counts.delta)})"
        where = f"; {most_changed(counts)}" if counts.python else ""
        said = f"{subject} {counts_sentence(counts)}: {figures}{where}"
        yield "instructions", said, TONES_OF[counts.verdict]
    if order.obstacle is not None:
        yield "not compared", visible(finding_text(order.obstacle)), Tone.WARN


def most_changed(counts: CountsCompared) -> str:
    """Return the Python function that differs most, and by how much."""
    first = counts.python[0]
    return f"most in {short(first.name, _LONGEST)} ({python_place(first)}): {signed(first.delta)}"


def python_place(row: PythonFunctionDelta) -> str:
    """Return a Python function's file and line; empty for the statement itself."""
    return short(f"{row.file}:{row.line}" if row.line else row.file)


def headline(comparison: MeasuredComparison) -> str:
    """Return the sentence about B; for several orders, how many became slower and faster."""
    a, b = side_names(comparison)
    if len(comparison.orders) == 1:
        said = "; ".join(text for _, text, _ in sentences(comparison.orders[0], "it"))
        return f"{b} {said.removeprefix('it ')}" if said.startswith("it ") else f"{b}: {said}"
    verdicts = [_verdict(order) for order in comparison.orders]
    of = count(len(verdicts), "statement")
    slower, faster = verdicts.count(Verdict.SLOWER), verdicts.count(Verdict.FASTER)
    return f"{b} against {a}: {slower} of {of} slower, {faster} faster"


def _verdict(order: OrderCompared) -> Verdict | None:
    compared = order.times or order.counts
    return compared.verdict if compared is not None else None


def _tone(times: TimesCompared) -> Tone:
    return Tone.WARN if times.unconfirmed and times.verdict is Verdict.SLOWER else TONES_OF[times.verdict]


def order_words(order: OrderCompared) -> str:
    """Return an order's verdict as words that name the side."""
    if order.times is not None or order.counts is None:
        return verdict_words(order.times) or "not compared"
    words = {Verdict.SLOWER: "B more instructions", Verdict.FASTER: "B fewer instructions"}
    return words.get(order.counts.verdict) or order.counts.verdict.value.replace("-", " ")


def verdict_words(times: TimesCompared | None) -> str:
    """Return the verdict as words that name the side: `B slower, unconfirmed`; empty without times."""
    if times is None:
        return ""
    word = times.verdict.value.replace("-", " ")
    named = f"B {word}" if times.verdict in (Verdict.SLOWER, Verdict.FASTER) else word
    return f"{named}, unconfirmed" if times.unconfirmed and named != word else named


def side_fact(name: str, runs: Sequence[MeasuredRun], text: str) -> Fact:
    """Return a side's figures, runs and commits."""
    parts = [Part(text, Tone.STRONG)]
    times = times_of(runs)
    if times is not None:
        parts.append(Part(" ".join(filter(None, (time_text(times.median_s), uncertainty(times))))))
    counted = [run.info.instructions for run in runs if run.info.instructions is not None]
    if counted:
        parts.append(Part(f"{count_text(min(counted))} instructions"))
    ids = short_id(runs[0].info.id) if len(runs) == 1 else count(len(runs), "run")
    parts.append(Part(f"run {ids}" if len(runs) == 1 else ids, Tone.FAINT))
    commits = dict.fromkeys(run.info.process.git_commit for run in runs if run.info.process.git_commit)
    parts += (
        [Part(f"commit {', '.join(visible(c[:_COMMIT]) for c in commits)}", Tone.FAINT)] if commits else []
    )
    return Fact(name, tuple(parts))


def design_text(comparison: MeasuredComparison) -> str:
    """Return the designs of the timings of all orders; empty if there are no times."""
    times = [order.times for order in comparison.orders if order.times is not None]
    words = {
        Design.INTERLEAVED: "interleaved, block by block in the same processes",
        Design.ALTERNATING: "alternating, in separate processes (A B B A)",
        Design.SEPARATE: "separately: a difference may come from the machine",
    }
    designs = [words[design] for design in dict.fromkeys(one.design for one in times)]
    return f"{'; '.join(designs)}; {_sizes_text(times)}" if times else ""


def _sizes_text(times: Sequence[TimesCompared]) -> str:
    """Return the numbers of processes, and of runs if some count by run."""
    sizes = {noun: [min(one.sizes) for one in times if one.by_run is by_run] for noun, by_run in _NOUNS}
    return ", ".join(range_of(numbers, noun) for noun, numbers in sizes.items() if numbers)


_NOUNS = (("process", False), ("run", True))


class SideWarning(NamedTuple):
    """A warning about runs of a comparison."""

    warning: MeasurementWarning
    about: str
    """Sides and orders that have it."""
    is_allowed_for: bool
    """Whether the ratio's interval includes its effect, or both sides share it."""


def warnings_of(comparison: MeasuredComparison) -> Iterator[SideWarning]:
    """Yield the warnings of both sides, each once; those that a comparison allows for are last."""
    found: dict[tuple[bool, MeasurementWarning], list[str]] = {}
    for order in comparison.orders:
        for side, runs in zip("AB", (order.a, order.b), strict=True):
            whose = side if len(comparison.orders) == 1 else f"{side} of {short(order.name, _LONGEST)}"
            # Of several runs, the last one with a code gives the reason.
            for warning in {warning.code: warning for run in runs for warning in run.info.warnings}.values():
                owners = found.setdefault((_is_allowed_for(warning, order.times), warning), [])
                owners += [whose] if whose not in owners else []
    for (is_allowed_for, warning), owners in sorted(found.items(), key=lambda item: item[0][0]):
        yield SideWarning(warning, ", ".join(owners), is_allowed_for)


def warning_parts(found: SideWarning) -> tuple[str, str]:
    """Return a warning's heading and its escaped reason."""
    heading, reason = headed_warning(found.warning)
    if not found.is_allowed_for:
        return heading, visible(reason)
    return "allowed for", visible(f"{reason}; the interval of the ratio includes this")


def input_text(spread: CountSpread) -> str:
    """Return a sentence on how much counts of one commit differ, and why counts can."""
    return (
        f"its count depends on its input: {count_text(spread.least)} to {count_text(spread.most)} "
        f"(+{100 * spread.part:.2g} %) over {spread.runs} runs of one commit; possible causes are unseeded "
        "data, environment variables, paths, addresses, and code that was edited in between"
    )


def _is_allowed_for(warning: MeasurementWarning, times: TimesCompared | None) -> bool:
    """Return whether the ratio's interval includes the effect of the warning, or both sides share it."""
    if warning.code is WarningCode.SPREAD:
        return times is not None
    return warning.code is WarningCode.QUICK and times is not None and not times.unconfirmed


def remarks_of(comparison: MeasuredComparison) -> Iterator[str]:
    """Yield notes: differences between the sides other than the code, and unmatched orders."""
    counts = (order.counts for order in comparison.orders if order.counts is not None)
    obstacles = dict.fromkeys(one.obstacle for one in counts if one.obstacle is not None)
    yield from (visible(finding_text(obstacle)) for obstacle in obstacles)
    for order in comparison.orders:
        if order.counts is not None and order.counts.spread is not None:
            whose = "" if len(comparison.orders) == 1 else f"{short(order.name, _LONGEST)}: "
            yield f"{whose}{input_text(order.counts.spread)}"
    yield from (visible(finding_text(note)) for note in comparison.notes)
    for side, names in zip("AB", comparison.unmatched, strict=True):
        if names:
            yield f"only {side} has {', '.join(short(name, _LONGEST) for name in names)}"
    times = [order.times for order in comparison.orders if order.times is not None]
    separate = [one for one in times if one.unconfirmed]
    if separate:
        least = max(one.minimum_effect for one in separate)
        programs = any(run.info.order.program is not None for order in comparison.orders for run in order.a)
        better = f"{MIN_RUNS} or more runs per side" if programs else "`profkit compare --ab` and `--git`"
        yield (
            f"measured separately: differences of times below {100 * least:.0f} % count as none, because the "
            f"memory layout and the machine alone can cause them; {better} detect smaller ones"
        )


PYTHON_WHAT = "self instructions per execution, including native code, with CPython's perf trampoline"
WHAT = "instructions per execution, including callees, without memory allocators"


_LIMIT, _LIMIT_OF_FEW, _FEW, _LIMIT_OF_PAGES = 15, 5, 4, 200
"""Number of functions of a single order, of each of several, the maximum number of orders, and of a page."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Orders as cells: a row per label and threads, a column per language and runtime."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], OrderCompared]


def grid_of(comparison: MeasuredComparison) -> Grid:
    """Return the orders whose instructions were compared; two orders of one cell get separate rows."""
    cells: dict[tuple[str, str], OrderCompared] = {}
    for order in comparison.orders:
        if order.counts is None:
            continue
        row, column = _place(order)
        cells[(row if (row, column) not in cells else order.name, column)] = order
    rows = tuple(dict.fromkeys(row for row, _ in cells))
    return Grid(rows, tuple(dict.fromkeys(column for _, column in cells)), cells)


def _place(order: OrderCompared) -> tuple[str, str]:
    info = order.a[0].info.order
    labels = dict(info.labels)
    language = labels.pop("language", info.language.value)
    runtime = labels.pop("runtime", "")
    threads = [count(info.num_threads, "thread")] if info.num_threads > 1 else []
    suffix = ", ".join([*labels.values(), *threads])
    name = f"{info.label} ({suffix})" if suffix else info.label
    return short(name, _LONGEST), short(" ".join(filter(None, (language, runtime))), _LONGEST)


def shown_deltas(
    comparison: MeasuredComparison, options: ReportOptions
) -> list[tuple[OrderCompared, CountsCompared, int]]:
    """Return orders whose functions differ, with the number to show; many orders require a limit."""
    counted = [
        (order, order.counts)
        for order in comparison.orders
        if order.counts and (order.counts.functions or order.counts.python)
    ]
    if options.limit is None and len(counted) > _FEW and not options.whole:
        return []
    limit = options.limit or (_LIMIT if len(counted) == 1 else _LIMIT_OF_FEW)
    limit = options.limit or _LIMIT_OF_PAGES if options.whole else limit
    return [(order, counts, limit) for order, counts in counted]
