"""Is B slower or faster than A: the rule for two statements measured in turns in the same processes.

Tests on pooled blocks, or on one process's, call most identical statements different; what holds is one
value for each process (its least block), an interval that assumes nothing about the noise, and a least
effect, because within one zygote a constant bias becomes "significant" with enough data.
"""

from __future__ import annotations

import math

from profkit.errors import UsageError
from profkit.model.comparison import TimesCompared, Verdict
from profkit.model.measurement import MeasuredIn, Timing
from profkit.stats import paired_ratio

LEAST_PROCESSES = 6
"""Fewer values have no 95 % interval of their median at all."""

MINIMUM_EFFECT = 0.005
"""Where A is compared with itself, hardly any ratio lies further from 1 than this."""

_AFTER_ANOTHER_S = 6e-6
"""What a block loses because the other statement's has had the caches before it. Blocks of 3 and of 17
executions of the same 130 µs came out 1.3 % apart; blocks equally long lose the same."""


def compare_timings(a: Timing, b: Timing, minimum_effect: float = MINIMUM_EFFECT) -> TimesCompared:
    """What can be said of B's times against A's, measured interleaved: process k of both is the same one.

    What blocks of different lengths make of it by themselves is added to the least effect. Raises UsageError
    for timings that cannot have been measured together.
    """
    _refuse_strangers(a, b)
    minima_a, minima_b = minima_of(a), minima_of(b)
    minimum_effect += _by_uneven_blocks(a.number * min(minima_a), b.number * min(minima_b))
    ratio, low, high = paired_ratio(minima_a, minima_b)
    count = len(a.processes)
    if count < LEAST_PROCESSES:
        sentence = f"no verdict from {count} processes: at least {LEAST_PROCESSES} are needed"
        return TimesCompared(ratio, None, None, count, Verdict.TOO_FEW, minimum_effect, sentence)
    verdict = verdict_of(ratio, low, high, minimum_effect)
    sentence = f"{said(verdict, ratio, low, high, minimum_effect)}, {count} processes)"
    return TimesCompared(ratio, low, high, count, verdict, minimum_effect, sentence)


def verdict_of(ratio: float, low: float, high: float, minimum_effect: float) -> Verdict:
    """A difference is one where the interval leaves out 1 and the effect is large enough."""
    if low > 1 and ratio >= 1 + minimum_effect:
        return Verdict.SLOWER
    if high < 1 and ratio <= 1 / (1 + minimum_effect):
        return Verdict.FASTER
    return Verdict.NO_DIFFERENCE


def said(
    verdict: Verdict, ratio: float, low: float, high: float, minimum_effect: float, confidence: float = 0.95
) -> str:
    """The sentence of B up to where the number of processes follows in its bracket."""
    sure = f"{100 * confidence:.0f} %"
    if verdict is Verdict.NO_DIFFERENCE:
        unseen = max(minimum_effect, high - 1, 1 / low - 1)
        return f"no difference ≥ {rounded_up(100 * unseen)} % ({sure} confidence"
    if not 0.5 < ratio < 2:
        interval = f"{times_text(low)} to {times_text(high)}"
        return f"takes {times_text(ratio)} times as long ({sure} interval {interval}"
    word = "longer" if verdict is Verdict.SLOWER else "less time"
    near, far = sorted((abs(low - 1), abs(high - 1)))
    effect = 100 * abs(ratio - 1)
    return f"takes {effect:.1f} % {word} ({sure} interval {100 * near:.1f} % to {100 * far:.1f} %"


def times_text(ratio: float) -> str:
    """A factor with three digits: `2.41`, `0.0123`, `160,000`."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{float(f'{ratio:.3g}'):,.0f}"


def rounded_up(percent: float) -> str:
    """Two digits, never fewer per cent than there are: what lies above must really be excluded."""
    step = 10 ** (math.floor(math.log10(percent)) - 1)
    # The small part taken off is the error of the division, which would otherwise round 0.5 up to 0.51.
    return f"{math.ceil(percent / step - 1e-9) * step:.3g}"


def minima_of(timing: Timing) -> list[float]:
    """Each process's least time; raises UsageError where one has none above 0."""
    if not all(process.times_s and min(process.times_s) > 0 for process in timing.processes):
        raise UsageError("a process has no times above 0", "measure with more executions in a block")
    return [min(process.times_s) for process in timing.processes]


def _by_uneven_blocks(a_s: float, b_s: float) -> float:
    """By which part of themselves blocks so long seem to differ, because the shorter ones lose more."""
    return abs(_AFTER_ANOTHER_S / a_s - _AFTER_ANOTHER_S / b_s)


def _refuse_strangers(a: Timing, b: Timing) -> None:
    """Raise UsageError where process k of A cannot be process k of B."""
    remedy = "measure both in one batch, interleaved in the same processes"
    if _place(a.measured_in) != _place(b.measured_in):
        raise UsageError(f"{_named(a.measured_in)} is not compared with {_named(b.measured_in)}", remedy)
    if len(a.processes) != len(b.processes) or not a.processes:
        raise UsageError(
            f"{len(a.processes)} processes are not compared with {len(b.processes)}, one by one", remedy
        )
    if [process.zygote for process in a.processes] != [process.zygote for process in b.processes]:
        raise UsageError("the two were measured in processes of different zygotes", remedy)


def _place(measured_in: MeasuredIn) -> tuple[object, ...]:
    return measured_in.tool, measured_in.preload, measured_in.python, measured_in.isolated


def _named(measured_in: MeasuredIn) -> str:
    where = "in isolation" if measured_in.isolated else "in the caller's process"
    return (
        f"a timing with Python {measured_in.python}, preload {measured_in.preload.value}, "
        f"tool {measured_in.tool.value}, {where}"
    )
