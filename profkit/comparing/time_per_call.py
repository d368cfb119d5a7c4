"""Time per call, of the region and of each function in it, if calls are known; which changes count."""

from __future__ import annotations

import math
from collections.abc import Sequence

from profkit.comparing.comparability import MIN_RUNS
from profkit.comparing.significance import Mean, Seen, Sides, compare_quantities, means_of
from profkit.model.comparison import Change, Compared, Difference, Estimate
from profkit.model.histogram import Histogram, bucket_bounds_ns
from profkit.model.run import Run
from profkit.units import Unit

_RUN_TO_RUN = 0.10
"""Assumed relative standard deviation of the time of a call from run to run."""
_LEVEL = 0.002
"""Probability of a false alarm for a call's time. The load of a machine makes the time vary in ways that
no distribution describes, so this is stricter than for shares."""
_MIN_CHANGE = 0.05
"""Smallest relative change of a call's time that is reported."""


def times_of(
    a: Sequence[Run], b: Sequence[Run], shares: Sequence[Sides], tested: Sequence[bool]
) -> list[tuple[Estimate, Estimate] | None]:
    """Return each function's time per call on both sides, from its shares; None if calls are not known."""
    calls = _calls(a), _calls(b)
    if not all(calls):
        return [None] * len(shares)
    timed: list[Sides] = []
    for sides in shares:
        of_a, of_b = (list(map(_time, side, of_side)) for side, of_side in zip(sides, calls, strict=True))
        timed.append((of_a, of_b))
    return [(_estimate(found.a), _estimate(found.b)) for found in means_of(timed, tested)]


def call_compared(a: Sequence[Run], b: Sequence[Run]) -> Compared | None:
    """Compare the time of one call on both sides; return None if calls are not known.

    With few runs it never counts as changed: a busy machine makes all calls of a run longer.
    """
    calls = _calls(a), _calls(b)
    if not all(calls):
        return None
    found = compare_quantities([calls], [True], _LEVEL)[0]
    value = found.b.value - found.a.value
    is_large = abs(value) >= _MIN_CHANGE * min(found.a.value, found.b.value)
    enough = min(len(a), len(b)) >= MIN_RUNS
    change = Change.of(value, is_real=enough and found.p < _LEVEL and is_large)
    difference = Difference(value, value - found.half, value + found.half, found.p, change)
    return Compared(_estimate(found.a), _estimate(found.b), difference)


def _calls(runs: Sequence[Run]) -> list[Seen]:
    """Return the time of a call in each run; empty if any run has no calls or no time."""
    times_s = [_call_s(run) for run in runs]
    total = sum(run.info.outermost_calls for run in runs)
    seen = []
    for run, time_s in zip(runs, times_s, strict=True):
        if not time_s:
            return []
        calls = run.info.outermost_calls
        within = _variance_s2(run.info.durations) / calls
        seen.append(Seen(time_s, calls / total, within, math.inf, (_RUN_TO_RUN * time_s) ** 2))
    return seen


def _call_s(run: Run) -> float | None:
    """Return clock time per call if only the calls were sampled, else sampled time per call."""
    info, profile = run.info, run.profile
    if not info.outermost_calls or profile is None or profile.unit not in (Unit.SAMPLES, Unit.NANOSECONDS):
        return None
    if info.plan.idle and info.plan.scope == "call" and not info.region.all_threads:
        return info.active_s / info.outermost_calls
    weight_s = profile.period_ns / 1e9 if profile.unit is Unit.SAMPLES else 1e-9
    return profile.total_weight * weight_s / info.outermost_calls


def _variance_s2(durations: Histogram) -> float:
    """Return the variance of single calls, to within the width of a bucket."""
    mean_ns = durations.sum_ns / durations.count
    squares = math.fsum(
        count * (sum(bucket_bounds_ns(bucket)) / 2 - mean_ns) ** 2 for bucket, count in durations.buckets
    )
    return squares / max(1, durations.count - 1) / 1e18


def _time(share: Seen, call: Seen) -> Seen:
    """Multiply a share by a call's time, and propagate the errors of both to first order."""
    value, of_share, of_call = share.value * call.value, call.value**2, share.value**2
    return Seen(
        value,
        share.weight,
        of_share * share.within + of_call * call.within,
        share.df,
        of_share * share.between + of_call * call.between,
        of_share * share.least,
    )


def _estimate(mean: Mean) -> Estimate:
    return Estimate(mean.value, max(0.0, mean.value - mean.half), mean.value + mean.half)
