"""Verdicts of comparisons of measured runs as predicates of B: takes longer, executes fewer instructions."""

from __future__ import annotations

import math

from profkit.comparing.times import CONFIDENCE, MIN_PROCESSES
from profkit.model.comparison import CountsCompared, TimesCompared, Verdict
from profkit.model.measurement import Design
from profkit.render.formatting import factor


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
