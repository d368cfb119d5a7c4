"""Sentences for the warnings about measurements, from their codes and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from profkit.model.measurement import MeasurementWarning, WarningCode
from profkit.model.notes import Note
from profkit.render.views import sentences
from profkit.render.views.notes import note_text
from profkit.render.views.sentences import Figures, Sentence
from profkit.units import format_duration


def warning_text(warning: MeasurementWarning | Note) -> str:
    """Return the reason with its figures; names in it, which come from the measured program, are raw."""
    if isinstance(warning, Note):
        return note_text(warning)
    return sentences.text(warning, WARNINGS)


def _cpu_share(figures: Figures) -> str:
    busiest, switches = figures.number("busiest"), figures.integer("switches")
    whole = "the time" if busiest == 1.0 else "the CPU time of the busiest one"
    had = figures.fill(
        f"{{affected}} of {{processes}} processes had the CPU for less than {{needed:percent}} of {whole} "
        "(the lowest for {share:percent} of the time)"
    )
    if switches:
        return f"{had} and were preempted {switches} times: other processes compete for the CPU"
    return f"{had} but were hardly ever preempted: the statement itself waits, for sleep, files or locks"


def _spread(figures: Figures) -> str:
    return "; ".join(_spreads(figures))


def _spreads(figures: Figures) -> Iterator[str]:
    if "median_s" in figures:
        low_s, high_s = figures.number("low_s"), figures.number("high_s")
        yield (
            f"the median's 95 % interval, {format_duration(low_s)} to {format_duration(high_s)}, is "
            f"{_percent(high_s - low_s, figures.number('median_s'))} of the median wide"
        )
    if "fastest_s" in figures:
        fastest_s = figures.number("fastest_s")
        longer = _percent(figures.number("slowest_s") - fastest_s, fastest_s)
        yield f"the slowest process took {longer} longer than the fastest"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "infinitely many %"


_COUNTED = "counted {low:,} to {high:,} instructions without allocators"

WARNINGS: Mapping[WarningCode, Sentence] = {
    WarningCode.QUICK: (
        "all processes ({processes}) share the memory layout of one interpreter, which can shift all of them "
        "by 10 %: compare these times with each other only"
    ),
    WarningCode.FEW_PROCESSES: (
        "{processes:count process}; with fewer than {needed} the median has no 95 % interval"
    ),
    WarningCode.FEW_BLOCKS: (
        "{affected} of {processes} processes measured fewer than {needed} blocks (at least {blocks}): even "
        "their fastest block may be disturbed"
    ),
    WarningCode.CPU_SHARE: _cpu_share,
    WarningCode.SWITCHES: (
        "preempted {per_s:.0f} times per second while measuring ({switches} times in total): other processes "
        "compete for the CPU"
    ),
    WarningCode.SPREAD: _spread,
    WarningCode.SHORT: (
        "a block of {executions:count execution} takes {block_s:duration}, of which reading the clock takes "
        "about 0.1 µs: measure more executions per block"
    ),
    WarningCode.NOT_ISOLATED: "measured in the caller's own process, with everything that runs there",
    WarningCode.COUNTS_DIFFER: f"{{counted}} repeats {_COUNTED}: the code does not always do the same",
    WarningCode.INPUT_DEPENDENT: (
        f"{{counted}} processes {_COUNTED}, while the repeats of each agree: the count depends on the "
        "statement's input, such as unseeded data, paths or addresses"
    ),
    WarningCode.MANY_WORKERS: (
        "{workers} workers measured at once: statements that wait for memory take 5 to 24 % longer"
    ),
    WarningCode.LIMITED: (
        "limited to {limit:count execution} including warm-ups, of which {measured} were measured"
    ),
    WarningCode.CHANGES_STATE: (
        "each execution changes {changed}, and the next one finds it changed, because {why_not}"
    ),
}
