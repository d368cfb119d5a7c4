"""Sentences for the warnings about measurements, from their codes and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from profkit.model.measurement import MeasurementWarning, WarningCode
from profkit.model.notes import Note
from profkit.render.formatting import count
from profkit.render.views import sentences
from profkit.render.views.notes import note_text
from profkit.render.views.sentences import Figures, Sentence
from profkit.units import format_duration


def warning_text(warning: MeasurementWarning | Note) -> str:
    """Return the reason with its figures; names in it, which come from the measured program, are raw."""
    if isinstance(warning, Note):
        return note_text(warning)
    return sentences.text(warning, WARNINGS)


def _quick(figures: Figures) -> str:
    return (
        f"all processes ({figures['processes']}) share the memory layout of one interpreter, which can shift "
        "all of them by 10 %: compare these times with each other only"
    )


def _few_processes(figures: Figures) -> str:
    return (
        f"{count(figures.integer('processes'), 'process')}; with fewer than {figures['needed']} "
        "the median has no 95 % interval"
    )


def _few_blocks(figures: Figures) -> str:
    return (
        f"{figures['affected']} of {figures['processes']} processes measured fewer than {figures['needed']} "
        f"blocks (at least {figures['blocks']}): even their fastest block may be disturbed"
    )


def _many_workers(figures: Figures) -> str:
    return (
        f"{figures['workers']} workers measured at once: "
        "statements that wait for memory take 5 to 24 % longer"
    )


def _limited(figures: Figures) -> str:
    limit = count(figures.integer("limit"), "execution")
    return f"limited to {limit} including warm-ups, of which {figures['measured']} were measured"


def _cpu_share(figures: Figures) -> str:
    busiest, switches = figures.number("busiest"), figures.integer("switches")
    whole = "the time" if busiest == 1.0 else "the CPU time of the busiest one"
    had = (
        f"{figures['affected']} of {figures['processes']} processes had the CPU for less than "
        f"{figures.percent('needed')} of {whole} "
        f"(the lowest for {figures.percent()} of the time)"
    )
    if switches:
        return f"{had} and were preempted {switches} times: other processes compete for the CPU"
    return f"{had} but were hardly ever preempted: the statement itself waits, for sleep, files or locks"


def _switches(figures: Figures) -> str:
    return (
        f"preempted {figures.number('per_s'):.0f} times per second while measuring "
        f"({figures['switches']} times in total): other processes compete for the CPU"
    )


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


def _short(figures: Figures) -> str:
    block = f"a block of {count(figures.integer('executions'), 'execution')}"
    return (
        f"{block} takes {format_duration(figures.number('block_s'))}, of which reading the clock takes "
        "about 0.1 µs: measure more executions per block"
    )


def _counts_differ(figures: Figures) -> str:
    return f"{figures['counted']} repeats {_counted(figures)}: the code does not always do the same"


def _input_dependent(figures: Figures) -> str:
    return (
        f"{figures['counted']} processes {_counted(figures)}, while the repeats of each agree: the count "
        "depends on the statement's input, such as unseeded data, paths or addresses"
    )


def _counted(figures: Figures) -> str:
    low, high = figures.integer("low"), figures.integer("high")
    return f"counted {low:,} to {high:,} instructions without allocators"


def _changes_state(figures: Figures) -> str:
    return (
        f"each execution changes {figures['changed']}, and the next one finds it changed, because "
        f"{figures['why_not']}"
    )


WARNINGS: Mapping[WarningCode, Sentence] = {
    WarningCode.QUICK: _quick,
    WarningCode.FEW_PROCESSES: _few_processes,
    WarningCode.FEW_BLOCKS: _few_blocks,
    WarningCode.CPU_SHARE: _cpu_share,
    WarningCode.SWITCHES: _switches,
    WarningCode.SPREAD: _spread,
    WarningCode.SHORT: _short,
    WarningCode.NOT_ISOLATED: "measured in the caller's own process, with everything that runs there",
    WarningCode.COUNTS_DIFFER: _counts_differ,
    WarningCode.INPUT_DEPENDENT: _input_dependent,
    WarningCode.MANY_WORKERS: _many_workers,
    WarningCode.LIMITED: _limited,
    WarningCode.CHANGES_STATE: _changes_state,
}


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "infinitely many %"
