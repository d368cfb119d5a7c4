"""Statistics by order of values: medians and intervals, ratios, Mann-Whitney test, Holm's correction."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, islice
from statistics import NormalDist, median
from typing import NamedTuple


def median_interval(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the two values between which the true median is, with at least this confidence.

    It is exact for any distribution: the number of values below the true median is binomial (the sign test
    inverted; H. A. David, "Order Statistics"). None if even the minimum and maximum have less confidence, as
    for fewer than 6 values at 95 %. It treats values as independent.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence cannot be {confidence}")
    ordered = sorted(values)
    outside = values_outside(len(ordered), confidence)
    return None if outside is None else (ordered[outside], ordered[-1 - outside])


def values_outside(count: int, confidence: float) -> int | None:
    """Return how many of `count` values a median's interval omits at each end; None: too few values."""
    ranks = range(count // 2 + 1)
    ways = accumulate(ranks, lambda before, rank: before * (count - rank) // (rank + 1), initial=1)
    return _outside(islice(ways, len(ranks)), 2**count, confidence)


def _outside(ways: Iterable[int], total: int, confidence: float) -> int | None:
    """Return the last rank up to which no more than half of the rest of `confidence` of all ways are."""
    wrong = Fraction(1 - Fraction(confidence)) * total / 2
    found, below = None, 0
    for rank, number in enumerate(ways):
        below += number
        if below > wrong:
            break
        found = rank
    return found


def paired_ratio(
    a: Sequence[float], b: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return B's time divided by A's, with the bounds of that ratio: (ratio, low, high).

    `a[k]` and `b[k]` are the minimum times of A's and B's blocks, interleaved in the same process k. The
    ratio is the median over processes, in logarithms, so that (b, a) gives the inverse. Too few processes
    give no bounds: (ratio, 0, infinity). Raises ValueError if the two cannot be paired.
    """
    if len(a) != len(b) or not a or min(*a, *b) <= 0:
        raise ValueError(f"{len(a)} and {len(b)} times, all to be positive, give no ratios")
    logs = [math.log(of_b / of_a) for of_a, of_b in zip(a, b, strict=True)]
    bounds = median_interval(logs, confidence)
    low, high = (0.0, math.inf) if bounds is None else (math.exp(bounds[0]), math.exp(bounds[1]))
    return math.exp(median(logs)), low, high


_POWER = 0.8
"""Statistical power: a difference is to be found 4 times in 5."""

_EFFICIENCY = 3 / math.pi
"""Efficiency of the Mann-Whitney test relative to the t-test: normal noise, many values (E. J. G. Pitman)."""

EXACT_UP_TO = 50
"""Maximum size of a sample for the exact distribution; above it, the normal one agrees."""


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the two-sided p of so uneven a ranking of `a` among `b` if both have the same distribution.

    It is exact, by counting arrangements, for small samples without ties. Otherwise it is the normal
    approximation with corrections for ties and continuity (H. B. Mann, D. R. Whitney, "On a test of whether
    one of two random variables is stochastically larger than the other", Ann. Math. Stat. 18, 1947). Raises
    ValueError for no values.
    """
    if not a or not b:
        raise ValueError(f"{len(a)} against {len(b)} values cannot be ranked")
    wins = sum((of_a > of_b) + (of_a == of_b) / 2 for of_a in a for of_b in b)
    ties = Counter((*a, *b))
    if max(ties.values()) == 1 and max(len(a), len(b)) <= EXACT_UP_TO:
        return _exact_p(len(a), len(b), round(wins))
    return _normal_p(len(a), len(b), wins, tuple(ties.values()))


def minimum_detectable_effect(a: Sequence[float], b: Sequence[float], level: float = 0.05) -> float:
    """Return the minimum relative difference that `mann_whitney` finds in such samples 4 times in 5.

    `a` and `b` are positive times, one per process; their scatter is assumed to be normal in logarithms.
    `level` is the p below which a difference is significant. 0.03 means that a change below 3 % can go
    unseen. It is infinite if no ranking of so few values is significant.
    """
    if min(*a, *b, math.inf) <= 0:
        raise ValueError("times are positive")
    if len(a) < 2 or len(b) < 2 or _exact_p(len(a), len(b), 0) > level:
        return math.inf
    squares = _squares(a) + _squares(b)
    variance = squares / (len(a) + len(b) - 2) * (1 / len(a) + 1 / len(b))
    deviations = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(_POWER)
    return math.expm1(deviations * math.sqrt(variance / _EFFICIENCY))


def _squares(times: Sequence[float]) -> float:
    logs = [math.log(time) for time in times]
    mean = math.fsum(logs) / len(logs)
    return math.fsum((log - mean) ** 2 for log in logs)


def _exact_p(n: int, m: int, wins: int) -> float:
    """Return the two-sided p of `wins` among all arrangements of n and m distinct values."""
    ways = arrangements(n, m)
    tail = sum(ways[: min(wins, n * m - wins) + 1])
    return min(1.0, 2 * tail / math.comb(n + m, n))


def arrangements(n: int, m: int) -> list[int]:
    """Return, at index u, the number of arrangements of n among m values in which u pairs are won.

    They are the coefficients of the Gaussian binomial, the product of (1 - q^(m+i)) / (1 - q^i) for i from 1
    to n.
    """
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways


def _normal_p(n: int, m: int, wins: float, ties: tuple[int, ...]) -> float:
    """Return the two-sided p by the normal distribution; `ties` are the sizes of groups of equal values."""
    total = n + m
    tied = sum(size**3 - size for size in ties) / (total * (total - 1)) if total > 1 else 0.0
    variance = n * m / 12 * (total + 1 - tied)
    if variance <= 0:
        return 1.0
    distance = max(0.0, abs(wins - n * m / 2) - 0.5)
    return math.erfc(distance / math.sqrt(2 * variance))


def unpaired_ratio(
    a: Sequence[float], b: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return B's time divided by A's, with the bounds of that ratio: (ratio, low, high).

    `a` and `b` are times, one per process. The ratio is the median of all ratios of one of B's to one of A's,
    in logarithms. Its bounds are two of these ratios, at ranks from the distribution of the Mann-Whitney
    test, so that they exclude 1 if the test rejects (J. L. Hodges, E. L. Lehmann, "Estimates of location
    based on rank tests", Ann. Math. Stat. 34, 1963). Too few values give no bounds: (ratio, 0, infinity).
    Raises ValueError for no values, or for values that are not positive.
    """
    if not a or not b or min(*a, *b) <= 0:
        raise ValueError(f"{len(a)} and {len(b)} times, all to be positive, give no ratios")
    logs = sorted(math.log(of_b / of_a) for of_a in a for of_b in b)
    outside = ratios_outside(len(a), len(b), confidence)
    if outside is None:
        return math.exp(median(logs)), 0.0, math.inf
    return math.exp(median(logs)), math.exp(logs[outside]), math.exp(logs[-1 - outside])


def ratios_outside(n: int, m: int, confidence: float) -> int | None:
    """Return how many of the n · m ratios the interval omits at each end; None: too few values."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence cannot be {confidence}")
    if max(n, m) > EXACT_UP_TO:
        deviations = NormalDist().inv_cdf((1 + confidence) / 2)
        return math.floor(n * m / 2 - deviations * math.sqrt(n * m * (n + m + 1) / 12))
    return _outside(arrangements(n, m), math.comb(n + m, n), confidence)


class Adjusted(NamedTuple):
    """One of several tests, adjusted for the others."""

    p: float
    """Adjusted p; compare it with the level of all tests together."""
    level: float
    """Level for the test's own p; an interval at this level excludes 0 exactly if the test is significant."""


def holm(ps: Sequence[float], level: float, others: int = 0) -> tuple[Adjusted, ...]:
    """Adjust several tests so that at most one in 1/`level` families of them has any false alarm.

    The smallest p is compared with level/m, the next with level/(m-1), and so on up to the first that is
    larger. The rest are compared with the level of that one (S. Holm, "A simple sequentially rejective
    multiple test procedure", Scand. J. Stat. 6, 1979). It holds for any dependence between the tests.
    `others` is the number of further tests, whose p are all larger than these and not asked for.
    """
    order = sorted(range(len(ps)), key=ps.__getitem__)
    found: dict[int, Adjusted] = {}
    worst, stopped_at = 0.0, 0
    for rank, number in enumerate(order):
        left = len(ps) + others - rank
        worst = max(worst, min(1.0, ps[number] * left))
        if not stopped_at and ps[number] > level / left:
            stopped_at = left
        found[number] = Adjusted(worst, level / (stopped_at or left))
    return tuple(found[number] for number in range(len(ps)))
