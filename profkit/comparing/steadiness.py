"""Whether runs that should count the same instructions do: runs of one commit, in one environment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from profkit.model.comparison import CountSpread
from profkit.model.measurement import InstructionCounts, MeasuredRun

LEAST_EFFECT = 0.001
"""Without memory allocators, counts of the same statement agree to some hundredths of a per cent."""

FEW_TIMES, MANY_TIMES = 10, 3
"""By how many times their range the least of a few values, or of `_MANY`, differ from each other's by chance.

Simulated: once in a thousand pairs of sides, or once in 200 pairs of a few.
"""
_MANY = 4

LEAST_DELTA = 0.5
"""Instructions per execution: less is what a loop's first or last round leaves over."""


def spread_of_runs(runs: Iterable[MeasuredRun]) -> CountSpread | None:
    """Return by how much runs of one commit differ at most, beyond what counts always do; None if they don't.

    Runs without a commit are compared with none: their code may have changed.
    """
    groups: dict[object, list[float]] = {}
    for run in runs:
        counts = None if run.measurement is None else run.measurement.instructions
        if counts is not None and run.info.process.git_commit:
            groups.setdefault(_sameness(run, counts), []).append(counts.stripped)
    found = [CountSpread(min(group), max(group), len(group)) for group in groups.values()]
    return max(filter(_differs, found), key=lambda spread: spread.part, default=None)


def spread_of_repeats(counts: InstructionCounts) -> float:
    """Return by which part repeats in one process differ that should have done the same."""
    repeats = counts.raw_stripped or counts.raw
    least, most = min(repeats, default=0), max(repeats, default=0)
    return (most - least) / least if least > 0 else 0.0


def noise_of_repeats(counts: InstructionCounts) -> float:
    """Return the part by which another measurement may differ, as far as repeats show it."""
    part = spread_of_repeats(counts)
    return part * _times(counts.processes) if counts.processes > 1 and part > LEAST_EFFECT else part


def noise_of_runs(spread: CountSpread | None) -> float:
    """Return the part by which another run may differ, as far as runs of one commit show it."""
    return spread.part * _times(spread.runs) if spread is not None else 0.0


def widest(*spreads: CountSpread | None) -> CountSpread | None:
    """Return the spread that is the largest part of its counts; None if there is none."""
    known: Sequence[CountSpread] = [spread for spread in spreads if spread is not None]
    return max(known, key=lambda spread: spread.part, default=None)


def _times(values: int) -> int:
    return MANY_TIMES if values >= _MANY else FEW_TIMES


def _sameness(run: MeasuredRun, counts: InstructionCounts) -> object:
    order = run.info.order
    definition = order.label, order.labels, order.what, order.setup, order.global_setup, order.language
    place = order.source_cmd, order.python, order.env, counts.measured_in, run.info.process.host
    return run.info.process.git_commit, definition, order.level, place, counts.number


def _differs(spread: CountSpread) -> bool:
    return spread.part > LEAST_EFFECT and spread.most - spread.least >= LEAST_DELTA
