"""Checks of `profkit gate`: an interval below the limit passes, one above it is a regression.

An interval that contains the limit is inconclusive. If both sides were measured at different times, a
regression must also exceed the possible drift of the machine; if it does not, it is inconclusive too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from profkit.comparing.instructions import MIN_EFFECT
from profkit.comparing.memory import LEAST as MEMORY_LEAST
from profkit.comparing.times import MIN_PROCESSES, MIN_RUNS
from profkit.model.comparison import (
    Change,
    Check,
    CountsCompared,
    Measure,
    MeasuredComparison,
    OrderCompared,
    Outcome,
    TimesCompared,
    Verdict,
)
from profkit.model.memory_comparison import Amounts, MemoryComparison
from profkit.model.notes import Finding, FindingCode
from profkit.stats.means import t_quantile

RUN_NOISE = 0.25
"""Relative difference of the time of a call between two runs of a whole program on a shared machine. It is
assumed if one side has a single run, which cannot show it."""


def check_measured(comparison: MeasuredComparison, limit: float) -> tuple[Check, ...]:
    """Check the times and instructions of all orders; an obstacle to either is inconclusive."""
    return tuple(check for order in comparison.orders for check in _checks(order, limit))


def _checks(order: OrderCompared, limit: float) -> Iterator[Check]:
    if order.counts is not None:
        yield check_counts(order.name, order.counts, limit)
    if order.times is not None:
        yield check_times(order.name, order.times, limit)
    if order.obstacle is not None:
        measure = Measure.TIME if order.counts is not None else Measure.INSTRUCTIONS
        yield Check(order.name, measure, Outcome.INCONCLUSIVE, (order.obstacle,))


def check_times(name: str, times: TimesCompared, limit: float) -> Check:
    """Check times by the interval of their ratio."""
    if times.low is None or times.high is None:
        few = Finding.of(FindingCode.TOO_FEW_PROCESSES, processes=min(times.sizes), needed=MIN_PROCESSES)
        return Check(name, Measure.TIME, Outcome.INCONCLUSIVE, (few,), times.ratio)
    drift, fix = 0.0, Finding.of(FindingCode.MEASURE_MORE_PROCESSES)
    if times.unconfirmed:
        drift, fix = times.minimum_effect, Finding.of(FindingCode.MEASURE_ALTERNATELY, runs=MIN_RUNS)
    outcome = _outcome(times.low, times.high, limit, drift)
    if outcome is Outcome.REGRESSION and times.verdict is Verdict.NO_DIFFERENCE:
        # The interval alone does not show it: identical commits differ as much too often.
        outcome = Outcome.INCONCLUSIVE
    reasons = _reasons(outcome, times.low, times.high, limit, fix, drift)
    return Check(name, Measure.TIME, outcome, tuple(reasons), times.ratio, times.low, times.high)


def check_counts(name: str, counts: CountsCompared, limit: float) -> Check:
    """Check instructions by their ratio, widened by the noise of repeats and of runs."""
    if counts.obstacle is not None:
        return Check(name, Measure.INSTRUCTIONS, Outcome.INCONCLUSIVE, (counts.obstacle,), counts.ratio)
    if counts.ratio is None:
        outcome = Outcome.OK if counts.verdict is Verdict.NO_DIFFERENCE else Outcome.REGRESSION
        return Check(name, Measure.INSTRUCTIONS, outcome, (Finding.of(FindingCode.BASELINE_EMPTY),))
    low, high = counts.ratio / (1 + counts.noise), counts.ratio * (1 + counts.noise)
    outcome = _outcome(low, high, limit)
    if counts.verdict is Verdict.NO_DIFFERENCE and counts.noise <= MIN_EFFECT and outcome is not Outcome.OK:
        # The limit is about 0 %, or the count is so small that one more instruction is a large part.
        outcome, reasons = Outcome.OK, [Finding.of(FindingCode.COUNTS_AGREE)]
    elif outcome is Outcome.REGRESSION:
        reasons = [Finding.of(FindingCode.MORE_INSTRUCTIONS, change=counts.ratio - 1, limit=limit)]
    else:
        reasons = list(_reasons(outcome, low, high, limit, _fix_of_counts(counts)))
    return Check(name, Measure.INSTRUCTIONS, outcome, tuple(reasons), counts.ratio, low, high)


def _fix_of_counts(counts: CountsCompared) -> Finding:
    if counts.spread is None:
        return Finding.of(FindingCode.STEADY_THE_STATEMENT)
    return Finding.of(FindingCode.SEED_THE_INPUT, least=counts.spread.least, most=counts.spread.most)


def check_calls(
    name: str, a_s: Sequence[float], b_s: Sequence[float], limit: float, least_s: float = 0.0
) -> Check:
    """Check mean times of one call, one per sampled run, by Student's t over runs, in logarithms.

    A single run does not show how much runs differ: `RUN_NOISE` is assumed. Slower by less than `least_s` is
    inconclusive.
    """
    fix = Finding.of(FindingCode.RECORD_MORE_RUNS)
    if not a_s or not b_s or min(*a_s, *b_s) <= 0:
        return Check(name, Measure.CALL, Outcome.INCONCLUSIVE, (Finding.of(FindingCode.CALLS_UNKNOWN), fix))
    a, b = [math.log(time_s) for time_s in a_s], [math.log(time_s) for time_s in b_s]
    middle, width = _mean(b) - _mean(a), _half_width(a, b)
    ratio, low, high = (math.exp(place) for place in (middle, middle - width, middle + width))
    outcome = _outcome(low, high, limit)
    single = [Finding.of(FindingCode.SINGLE_RUN, noise=RUN_NOISE)] if min(len(a), len(b)) == 1 else []
    slower_s = _mean(b_s) - _mean(a_s)
    if outcome is Outcome.REGRESSION and slower_s < least_s:
        short = Finding.of(FindingCode.SHORT_DIFFERENCE, slower_s=slower_s, least_s=least_s)
        measuring = Finding.of(FindingCode.MEASURE_THE_CALL)
        return Check(name, Measure.CALL, Outcome.INCONCLUSIVE, (short, measuring), ratio, low, high)
    reasons = (*single, *_reasons(outcome, low, high, limit, fix))
    return Check(name, Measure.CALL, outcome, reasons, ratio, low, high)


def check_peaks(name: str, comparison: MemoryComparison, limit: float) -> Check:
    """Check the peaks of calls by the range of their ratio, widened by an arena of Python objects."""
    peak, noise = comparison.peak, comparison.least_bytes
    if not peak.a.least:
        return Check(name, Measure.PEAK, Outcome.INCONCLUSIVE, (Finding.of(FindingCode.TRACK_OBJECTS),))
    low = max(0.0, peak.b.least - noise) / peak.a.most
    high = (peak.b.most + noise) / peak.a.least
    outcome, ratio = _outcome(low, high, limit), peak.ratio
    if outcome is Outcome.REGRESSION:
        reasons = [Finding.of(FindingCode.MORE_MEMORY, change=(ratio or low) - 1, limit=limit)]
    elif outcome is Outcome.INCONCLUSIVE and peak.change is Change.NOISE and _is_steady(peak):
        outcome, reasons = Outcome.OK, [Finding.of(FindingCode.PEAKS_AGREE, least_bytes=noise)]
    else:
        reasons = list(_reasons(outcome, low, high, limit, Finding.of(FindingCode.TRACK_OBJECTS)))
    return Check(name, Measure.PEAK, outcome, tuple(reasons), ratio, low, high)


def _is_steady(peak: Amounts) -> bool:
    """Return whether the calls of each side have about the same peak, so that the medians say it all."""
    return all(side.most - side.least <= MEMORY_LEAST * side.most for side in (peak.a, peak.b))


def fail_on_gains(checks: Sequence[Check], limit: float) -> tuple[Check, ...]:
    """Return the checks, with those that became faster by more than the limit marked FASTER."""
    return tuple(_gain(check, limit) for check in checks)


def _gain(check: Check, limit: float) -> Check:
    if check.high is None or check.high >= 1 / (1 + limit):
        return check
    codes = {
        Measure.INSTRUCTIONS: FindingCode.FEWER_INSTRUCTIONS, Measure.PEAK: FindingCode.LESS_MEMORY
    }  # fmt: skip
    code = codes.get(check.measure, FindingCode.FASTER_THAN_LIMIT)
    return replace(check, outcome=Outcome.FASTER, reasons=(Finding.of(code, limit=limit),))


def _outcome(low: float, high: float, limit: float, drift: float = 0.0) -> Outcome:
    if high <= 1 + limit:
        return Outcome.OK
    return Outcome.REGRESSION if low > (1 + limit) * (1 + drift) else Outcome.INCONCLUSIVE


def _reasons(
    outcome: Outcome, low: float, high: float, limit: float, fix: Finding, drift: float = 0.0
) -> Iterator[Finding]:
    """Yield the reason for an outcome, and the fix if it is inconclusive."""
    if outcome is Outcome.OK:
        yield Finding.of(FindingCode.WITHIN_LIMIT, limit=limit)
    elif outcome is Outcome.REGRESSION:
        yield Finding.of(FindingCode.SLOWER_THAN_LIMIT, at_least=low - 1, limit=limit)
    elif low > 1 + limit:
        within = (
            Finding.of(FindingCode.WITHIN_DRIFT, drift=drift) if drift else Finding(FindingCode.BY_CHANCE)
        )
        yield from (within, fix)
    else:
        yield from (Finding.of(FindingCode.LIMIT_IN_INTERVAL, limit=limit, low=low, high=high), fix)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _half_width(a: Sequence[float], b: Sequence[float]) -> float:
    """Return half the 95 % interval of the difference of means, assuming equal variances."""
    if min(len(a), len(b)) == 1:
        return math.log1p(RUN_NOISE)
    squares = math.fsum((value - _mean(side)) ** 2 for side in (a, b) for value in side)
    df = len(a) + len(b) - 2
    return t_quantile(0.05, df) * math.sqrt(squares / df * (1 / len(a) + 1 / len(b)))
