"""Is B slower or faster than A where the two share no process: two commits, two batches, two environments.

Each process counts once, by its least block. The ratio and its interval go with the Mann-Whitney test.
What no test sees is what all processes of a side share: the memory layout of one zygote, and, where the
sides were measured at different times, whatever became of the machine in between. A least effect stands
for that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from profkit.comparing.timings import LEAST_PROCESSES, minima_of, rounded_up, said, verdict_of
from profkit.errors import UsageError
from profkit.model.comparison import TimesCompared, Verdict
from profkit.model.measurement import Manner, Timing
from profkit.stats import mann_whitney, median, minimum_detectable_effect, unpaired_ratio

IN_TURNS_EFFECT = 0.01
"""Two sides that took turns in the same zygotes share what zygotes and the machine do to them."""

IN_TURNS_CONFIDENCE = 0.99
"""The test alone would call one in twenty identical commits different at 95 %."""

APART_EFFECT = 0.05
"""Batches of the same statement, measured in several fresh zygotes each, differ by 2 to 5 % of themselves."""

ONE_ZYGOTE_EFFECT = 0.10
"""The layout of a single zygote shifts all its processes by up to so much."""

LEAST_RUNS = 4
"""So many runs a side show themselves how much runs differ."""

RUNS_EFFECT = 0.02
"""What is left for a drift of the machine that runs of a side, one soon after the other, do not show."""


def compare_in_turns(a: Timing, b: Timing, minimum_effect: float = IN_TURNS_EFFECT) -> TimesCompared:
    """What can be said of B's times against A's, whose processes took turns; raises UsageError."""
    values = minima_of(a), minima_of(b)
    return _compared(*values, Manner.IN_TURNS, minimum_effect, IN_TURNS_CONFIDENCE, "processes")


def compare_apart(a: Sequence[Timing], b: Sequence[Timing]) -> TimesCompared:
    """What can be said of B's times against A's, measured at different times, in one or more runs a side.

    From `LEAST_RUNS` runs a side each run counts once, by the median of its processes. Raises UsageError
    for no times, and for times in isolation against such in the caller's process.
    """
    _refuse_mixed(a, b)
    if min(len(a), len(b)) >= LEAST_RUNS:
        medians = [median(minima_of(timing)) for timing in a], [median(minima_of(timing)) for timing in b]
        return _compared(*medians, Manner.APART, RUNS_EFFECT, 0.95, "runs")
    pooled = _pooled(a), _pooled(b)
    effect = ONE_ZYGOTE_EFFECT if min(_zygotes(a), _zygotes(b)) == 1 else APART_EFFECT
    return _compared(*pooled, Manner.APART, effect, 0.95, "processes")


def _compared(
    a: Sequence[float], b: Sequence[float], manner: Manner, effect: float, confidence: float, noun: str
) -> TimesCompared:
    ratio, low, high = unpaired_ratio(a, b, confidence)
    fewest = min(len(a), len(b))
    if math.isinf(high) or (noun == "processes" and fewest < LEAST_PROCESSES):
        sentence = f"no verdict from {fewest} processes a side: at least {LEAST_PROCESSES} are needed"
        return TimesCompared(ratio, None, None, fewest, Verdict.TOO_FEW, effect, sentence, manner, confidence)
    verdict, p = verdict_of(ratio, low, high, effect), mann_whitney(a, b)
    detectable = max(effect, minimum_detectable_effect(a, b, 1 - confidence))
    sides = f"{len(a)} {noun} a side" if len(a) == len(b) else f"{len(a)} and {len(b)} {noun}"
    sentence = f"{said(verdict, ratio, low, high, effect, confidence)}, {sides}, p {_shown(p)})"
    if manner is Manner.APART:
        sentence += "; indicative: measured apart"
    return TimesCompared(
        ratio, low, high, fewest, verdict, effect, sentence, manner, confidence, p, detectable
    )


def unseen(compared: TimesCompared) -> str:
    """What a comparison could not have seen, as the rest of a sentence; empty where it does not say."""
    if compared.detectable is None:
        return ""
    return f"a change below {rounded_up(100 * compared.detectable)} % can go unseen"


def _shown(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


def _pooled(timings: Sequence[Timing]) -> list[float]:
    return [least for timing in timings for least in minima_of(timing)]


def _zygotes(timings: Sequence[Timing]) -> int:
    """Draws of memory layout; zygotes of different runs are different ones."""
    return sum(len({process.zygote for process in timing.processes}) for timing in timings)


def _refuse_mixed(a: Sequence[Timing], b: Sequence[Timing]) -> None:
    if not a or not b:
        raise UsageError("there are no times to compare", "measure both with mode='timer'")
    if len({timing.measured_in.isolated for timing in (*a, *b)}) > 1:
        raise UsageError(
            "times from processes of their own are not compared with times in the caller's process",
            "measure both in isolation",
        )
