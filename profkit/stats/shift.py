"""How far one sample lies from another that shares no processes with it: an estimate and exact bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

from profkit.stats.order import median
from profkit.stats.ranks import EXACT_UP_TO, arrangements


def unpaired_ratio(
    a: Sequence[float], b: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """How many times as long as A B takes, and the bounds of that ratio: (ratio, low, high).

    `a` and `b` are times, one for each process of either. The ratio is the median of all ratios of one of
    B's to one of A's, in logarithms; its bounds are two of these ratios, counted off by the distribution of
    the Mann-Whitney test, so that they leave out 1 where the test rejects (J. L. Hodges, E. L. Lehmann,
    "Estimates of location based on rank tests", Ann. Math. Stat. 34, 1963). Too few values bound nothing:
    (ratio, 0, infinity). Raises ValueError for no values, and for such as are not positive.
    """
    if not a or not b or min(*a, *b) <= 0:
        raise ValueError(f"{len(a)} and {len(b)} times, all to be positive, give no ratios")
    logs = sorted(math.log(of_b / of_a) for of_a in a for of_b in b)
    outside = ratios_outside(len(a), len(b), confidence)
    if outside is None:
        return math.exp(median(logs)), 0.0, math.inf
    return math.exp(median(logs)), math.exp(logs[outside]), math.exp(logs[-1 - outside])


def ratios_outside(n: int, m: int, confidence: float) -> int | None:
    """How many of the n · m ratios the interval can leave out at either end; None: it needs more values."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence cannot be {confidence}")
    if max(n, m) > EXACT_UP_TO:
        deviations = NormalDist().inv_cdf((1 + confidence) / 2)
        return math.floor(n * m / 2 - deviations * math.sqrt(n * m * (n + m + 1) / 12))
    wrong = Fraction(1 - Fraction(confidence)) * math.comb(n + m, n) / 2
    found, below = None, 0
    for rank, ways in enumerate(arrangements(n, m)):
        below += ways
        if below > wrong:
            break
        found = rank
    return found
