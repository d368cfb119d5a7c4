"""Number of runs per side that would decide a difference which a comparison leaves open.

The standard sample size of a t test: a difference is found with probability `POWER` if it is as large as the
quantiles of the test's level and of its power together, times its standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from profkit.comparing.comparability import MIN_RUNS
from profkit.comparing.shares import MINIMUM_EFFECT
from profkit.comparing.significance import LEVEL, PRIOR_DF
from profkit.model.comparison import Difference, FunctionComparison, Undecided
from profkit.stats import t_quantile

POWER = 0.8
"""Probability that so many runs find the difference, if it is as large as it seems."""
MOST_RUNS = 30
"""Maximum number of runs per side that is suggested."""


def largest_undecided(
    functions: Iterable[FunctionComparison], sizes: tuple[int, int], tested: int
) -> Undecided | None:
    """Return the largest difference that noise may explain although it is large enough to matter."""
    open_ones = (
        (abs(share.difference.value), function, share.difference)
        for function in functions
        for share in ((function.own, function.total) if not function.changed else ())
        if abs(share.difference.value) >= MINIMUM_EFFECT
    )
    largest = max(open_ones, key=lambda one: one[0], default=None)
    if largest is None:
        return None
    _, function, difference = largest
    return Undecided(
        function.name, function.file, difference.value, runs_to_decide(difference, sizes, tested)
    )


def runs_to_decide(difference: Difference, sizes: tuple[int, int], tested: int) -> int | None:
    """Return the smallest number of runs per side, at least `MIN_RUNS`, that finds such a difference.

    `sizes` are the numbers of runs of both sides, `tested` is that of all tested shares. None if more than
    `MOST_RUNS` would be needed.
    """
    level, half = (
        LEVEL / max(1, tested),
        max(difference.high - difference.value, difference.value - difference.low),
    )
    now = 2 / (1 / sizes[0] + 1 / sizes[1])
    deviation = half / t_quantile(level, _df(now))
    for runs in range(max(MIN_RUNS, math.ceil(now)), MOST_RUNS + 1):
        df = _df(runs)
        needed = t_quantile(level, df) + t_quantile(2 * (1 - POWER), df)
        if abs(difference.value) >= needed * deviation * math.sqrt(now / runs):
            return runs
    return None


def _df(runs: float) -> float:
    return PRIOR_DF + 2 * (runs - 1)
