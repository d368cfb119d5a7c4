"""Checks of comparisons against a limit: an interval below it passes, one above it is a regression.

An interval that contains the limit is inconclusive. If both sides were measured at different times, a
regression must also exceed the possible drift of the machine; if it does not, it is inconclusive too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from profkit.comparing.instructions import LEAST_EFFECT
from profkit.model.comparison import (
    Check,
    CountsCompared,
    Measure,
    MeasuredComparison,
    OrderCompared,
    Outcome,
    TimesCompared,
    Verdict,
)
from profkit.stats.means import t_quantile

RUN_NOISE = 0.25
"""Relative difference of the time of a call between two runs of a whole program on a shared machine. It is
assumed if one side has a single run, which cannot show it."""

_MORE_PROCESSES = "measure with more --processes"
_ALTERNATE = "measure both alternately, with `profkit compare --git`, or in 4 runs a side"
_MORE_RUNS = "record more runs of both sides, and name them all: LABEL@REVISION"


def check_measured(comparison: MeasuredComparison, limit: float) -> tuple[Check, ...]:
    """Check the times and instructions of all orders; an obstacle to either is inconclusive."""
    return tuple(check for order in comparison.orders for check in _checks(order, limit))


def _checks(order: OrderCompared, limit: float) -> Iterator[Check]:
    if order.times is not None:
        yield check_times(order.name, order.times, limit)
    if order.counts is not None:
        yield check_counts(order.name, order.counts, limit)
    if order.obstacle:
        measure = Measure.TIME if order.counts is not None else Measure.INSTRUCTIONS
        yield Check(order.name, measure, Outcome.INCONCLUSIVE, order.obstacle)


def check_times(name: str, times: TimesCompared, limit: float) -> Check:
    """Check times by the interval of their ratio."""
    if times.low is None or times.high is None:
        return Check(name, Measure.TIME, Outcome.INCONCLUSIVE, times.sentence, times.ratio)
    drift = times.minimum_effect if times.unconfirmed else 0.0
    outcome = _outcome(times.low, times.high, limit, drift)
    fix = _ALTERNATE if times.unconfirmed else _MORE_PROCESSES
    why = _why(outcome, times.low, times.high, limit, drift, fix)
    return Check(name, Measure.TIME, outcome, why, times.ratio, times.low, times.high)


def check_counts(name: str, counts: CountsCompared, limit: float) -> Check:
    """Check instructions by their ratio, widened by the noise of repeats and of runs."""
    if counts.unstable:
        return Check(name, Measure.INSTRUCTIONS, Outcome.INCONCLUSIVE, counts.unstable, counts.ratio)
    if counts.ratio is None:
        outcome = Outcome.OK if counts.verdict is Verdict.NO_DIFFERENCE else Outcome.REGRESSION
        return Check(name, Measure.INSTRUCTIONS, outcome, "the baseline executes no instructions")
    low, high = counts.ratio / (1 + counts.unsure), counts.ratio * (1 + counts.unsure)
    outcome = _outcome(low, high, limit)
    if (
        counts.verdict is Verdict.NO_DIFFERENCE
        and counts.unsure <= LEAST_EFFECT
        and outcome is not Outcome.OK
    ):
        # The limit is about 0 %, or the count is so small that one more instruction is a large part.
        outcome, why = Outcome.OK, "no more than counts of unchanged code differ"
    elif outcome is Outcome.REGRESSION:
        why = f"{_percent(counts.ratio - 1)} more instructions, and {_percent(limit)} is the limit"
    else:
        why = _why(outcome, low, high, limit, 0.0, _fix_of_counts(counts))
    return Check(name, Measure.INSTRUCTIONS, outcome, why, counts.ratio, low, high)


def _fix_of_counts(counts: CountsCompared) -> str:
    if counts.spread is None:
        return "make the statement do the same each time"
    least, most = (f"{count:,.0f}" for count in (counts.spread.least, counts.spread.most))
    return f"its count depends on its input ({least} to {most} in runs of one commit): seed what it reads"


def check_calls(name: str, a_s: Sequence[float], b_s: Sequence[float], limit: float) -> Check:
    """Check mean times of one call, one per sampled run, by Student's t over runs, in logarithms.

    A single run does not show how much runs differ: `RUN_NOISE` is assumed.
    """
    if not a_s or not b_s or min(*a_s, *b_s) <= 0:
        why = f"the durations of calls are not known on both sides; {_MORE_RUNS}"
        return Check(name, Measure.CALL, Outcome.INCONCLUSIVE, why)
    a, b = [math.log(time_s) for time_s in a_s], [math.log(time_s) for time_s in b_s]
    middle, width = _mean(b) - _mean(a), _half_width(a, b)
    ratio, low, high = (math.exp(place) for place in (middle, middle - width, middle + width))
    outcome = _outcome(low, high, limit)
    alone = min(len(a), len(b)) == 1
    known = f"single runs may differ by {100 * RUN_NOISE:.0f} %; " if alone else ""
    why = known + _why(outcome, low, high, limit, 0.0, _MORE_RUNS)
    return Check(name, Measure.CALL, outcome, why, ratio, low, high)


def fail_on_gains(checks: Sequence[Check], limit: float) -> tuple[Check, ...]:
    """Return the checks, with those that became faster by more than the limit marked FASTER."""
    return tuple(_gain(check, limit) for check in checks)


def _gain(check: Check, limit: float) -> Check:
    if check.high is None or check.high >= 1 / (1 + limit):
        return check
    gained = "fewer instructions" if check.measure is Measure.INSTRUCTIONS else "faster"
    why = f"{gained} by more than {_percent(limit)}: renew the baseline"
    return Check(check.name, check.measure, Outcome.FASTER, why, check.ratio, check.low, check.high)


def _outcome(low: float, high: float, limit: float, drift: float = 0.0) -> Outcome:
    if high <= 1 + limit:
        return Outcome.OK
    return Outcome.REGRESSION if low > (1 + limit) * (1 + drift) else Outcome.INCONCLUSIVE


def _why(outcome: Outcome, low: float, high: float, limit: float, drift: float, fix: str) -> str:
    if outcome is Outcome.OK:
        return f"within the limit of {_percent(limit)}"
    if outcome is Outcome.REGRESSION:
        return f"at least {_percent(low - 1)} slower, and {_percent(limit)} is the limit"
    if low > 1 + limit:
        return f"slower, but by less than {_percent(drift)} beyond the limit, as the machine may be; {fix}"
    return f"the limit of {_percent(limit)} lies in the interval {_signed(low)} to {_signed(high)}; {fix}"


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"


def _signed(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %".replace("-", "−")


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _half_width(a: Sequence[float], b: Sequence[float]) -> float:
    """Return half the 95 % interval of the difference of means, assuming equal variances."""
    if min(len(a), len(b)) == 1:
        return math.log1p(RUN_NOISE)
    squares = math.fsum((value - _mean(side)) ** 2 for side in (a, b) for value in side)
    df = len(a) + len(b) - 2
    return t_quantile(0.05, df) * math.sqrt(squares / df * (1 / len(a) + 1 / len(b)))
