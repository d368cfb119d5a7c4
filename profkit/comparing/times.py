"""Comparison of times: verdict and smallest effect of interleaved, alternating and separate timings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from profkit.errors import UsageError
from profkit.model.comparison import TimesCompared, Verdict
from profkit.model.measurement import Design, MeasuredIn, Timing
from profkit.stats.ranks import mann_whitney, minimum_detectable_effect, paired_ratio, unpaired_ratio

MIN_PROCESSES = 6
"""Minimum number of processes: the median of fewer values has no 95 % interval."""

CONFIDENCE = 0.95
"""Confidence of every interval of a comparison."""

MINIMUM_EFFECT = 0.005
"""Minimum effect of interleaved timings: comparing A with itself, few ratios are further from 1."""

_AFTER_ANOTHER_S = 6e-6
"""Time that a block loses because the other statement's block used the caches before it. Blocks of 3 and 17
executions of the same 130 µs differed by 1.3 %; blocks of equal length lose the same."""


def compare_timings(a: Timing, b: Timing, minimum_effect: float = MINIMUM_EFFECT) -> TimesCompared:
    """Compare B's times with A's, measured interleaved: process k of both is the same one.

    The bias that blocks of different lengths cause is added to the minimum effect. Raises UsageError for
    timings that cannot have been measured together.
    """
    _refuse_strangers(a, b)
    minima_a, minima_b = minima_of(a), minima_of(b)
    minimum_effect += _by_uneven_blocks(a.number * min(minima_a), b.number * min(minima_b))
    ratio, low, high = paired_ratio(minima_a, minima_b)
    sizes = len(a.processes), len(b.processes)
    if min(sizes) < MIN_PROCESSES:
        return TimesCompared(ratio, None, None, sizes, Verdict.TOO_FEW, minimum_effect)
    verdict = verdict_of(ratio, low, high, minimum_effect)
    return TimesCompared(ratio, low, high, sizes, verdict, minimum_effect)


def verdict_of(ratio: float, low: float, high: float, minimum_effect: float) -> Verdict:
    """Return slower or faster if the interval excludes 1 and the effect is large enough."""
    if low > 1 and ratio >= 1 + minimum_effect:
        return Verdict.SLOWER
    if high < 1 and ratio <= 1 / (1 + minimum_effect):
        return Verdict.FASTER
    return Verdict.NO_DIFFERENCE


def minima_of(timing: Timing) -> list[float]:
    """Return the minimum time of each process; raise UsageError if a process has none above 0."""
    if not all(process.times_s and min(process.times_s) > 0 for process in timing.processes):
        raise UsageError("a process has no times above 0", "measure with more executions in a block")
    return [min(process.times_s) for process in timing.processes]


def _by_uneven_blocks(a_s: float, b_s: float) -> float:
    """Return the relative bias of blocks of these lengths: the shorter ones lose more."""
    return abs(_AFTER_ANOTHER_S / a_s - _AFTER_ANOTHER_S / b_s)


def _refuse_strangers(a: Timing, b: Timing) -> None:
    """Raise UsageError if process k of A cannot be process k of B."""
    fix = "measure both in one batch, interleaved in the same processes"
    if _place(a.measured_in) != _place(b.measured_in):
        raise UsageError(f"{_named(a.measured_in)} is not compared with {_named(b.measured_in)}", fix)
    if len(a.processes) != len(b.processes) or not a.processes:
        raise UsageError(
            f"{len(a.processes)} processes are not compared with {len(b.processes)}, one by one", fix
        )
    if [process.zygote for process in a.processes] != [process.zygote for process in b.processes]:
        raise UsageError("the two were measured in processes of different zygotes", fix)


def _place(measured_in: MeasuredIn) -> tuple[object, ...]:
    return measured_in.tool, measured_in.preload, measured_in.python, measured_in.isolated


def _named(measured_in: MeasuredIn) -> str:
    where = "in isolation" if measured_in.isolated else "in the caller's process"
    return (
        f"a timing with Python {measured_in.python}, preload {measured_in.preload.value}, "
        f"tool {measured_in.tool.value}, {where}"
    )


ALTERNATING_EFFECT = 0.01
"""Minimum effect of alternating sides: they share the effects of the zygotes and the machine."""

ALTERNATING_P = 0.01
"""Largest p of a verdict on alternating sides: with 0.05, one in twenty identical commits would be called
different, since small samples often differ by more than the minimum effect."""

SEPARATE_EFFECT = 0.05
"""Minimum effect if separate: batches of a statement, in several fresh zygotes each, differ by 2 to 5 %."""

ONE_ZYGOTE_EFFECT = 0.10
"""Minimum effect with one zygote: its memory layout shifts all its processes by up to this."""

MIN_RUNS = 4
"""Minimum number of runs per side from which their own spread is used."""

RUNS_EFFECT = 0.02
"""Minimum effect over runs: a drift of the machine that consecutive runs of a side do not show."""


def compare_alternating(a: Timing, b: Timing, minimum_effect: float = ALTERNATING_EFFECT) -> TimesCompared:
    """Compare B's times with A's, measured in alternating processes; raises UsageError."""
    return _unpaired(
        minima_of(a),
        minima_of(b),
        minimum_effect,
        design=Design.ALTERNATING,
        level=ALTERNATING_P,
    )


def compare_separate(a: Sequence[Timing], b: Sequence[Timing]) -> TimesCompared:
    """Compare B's times with A's, measured at different times, in one or more runs per side.

    With `MIN_RUNS` or more runs per side each run counts once, by the median of its processes. Raises
    UsageError if there are no times, or if only some were measured in isolation.
    """
    _refuse_mixed(a, b)
    if min(len(a), len(b)) >= MIN_RUNS:
        medians = [median(minima_of(timing)) for timing in a], [median(minima_of(timing)) for timing in b]
        return _unpaired(*medians, RUNS_EFFECT, by_run=True)
    effect = ONE_ZYGOTE_EFFECT if min(_zygotes(a), _zygotes(b)) == 1 else SEPARATE_EFFECT
    return _unpaired(_pooled(a), _pooled(b), effect)


def _unpaired(
    a: Sequence[float],
    b: Sequence[float],
    effect: float,
    *,
    design: Design = Design.SEPARATE,
    level: float = 1 - CONFIDENCE,
    by_run: bool = False,
) -> TimesCompared:
    """Compare times of which none belong together; a verdict needs a p of at most `level`."""
    ratio, low, high = unpaired_ratio(a, b, CONFIDENCE)
    compared = TimesCompared(ratio, None, None, (len(a), len(b)), Verdict.TOO_FEW, effect, by_run, design)
    if math.isinf(high) or (not by_run and min(compared.sizes) < MIN_PROCESSES):
        return compared
    p = mann_whitney(a, b)
    return replace(
        compared,
        low=low,
        high=high,
        verdict=verdict_of(ratio, low, high, effect) if p <= level else Verdict.NO_DIFFERENCE,
        p=p,
        detectable=max(effect, minimum_detectable_effect(a, b, level)),
    )


def _pooled(timings: Sequence[Timing]) -> list[float]:
    return [least for timing in timings for least in minima_of(timing)]


def _zygotes(timings: Sequence[Timing]) -> int:
    """Count zygotes, each a draw of memory layout; those of different runs are different."""
    return sum(len({process.zygote for process in timing.processes}) for timing in timings)


def _refuse_mixed(a: Sequence[Timing], b: Sequence[Timing]) -> None:
    if not a or not b:
        raise UsageError("there are no times to compare", "measure both with mode='timer'")
    if len({timing.measured_in.isolated for timing in (*a, *b)}) > 1:
        raise UsageError(
            "times from processes of their own are not compared with times in the caller's process",
            "measure both in isolation",
        )
