"""Two samples that share no processes: do they differ, and how small a difference would have shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist

_POWER = 0.8
"""A difference that is to be found is to be found 4 times in 5."""

_EFFICIENCY = 3 / math.pi
"""Of the Mann-Whitney test against the t-test under normal noise, for many values (E. J. G. Pitman)."""

EXACT_UP_TO = 50
"""Values in either sample for which the exact distribution is counted; beyond, the normal one agrees."""


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float:
    """How probable so uneven a ranking of `a` among `b` is where both come from the same: p, two-sided.

    Exact, by counting arrangements, for small samples without ties; else the normal approximation with
    corrections for ties and continuity (H. B. Mann, D. R. Whitney, "On a test of whether one of two random
    variables is stochastically larger than the other", Ann. Math. Stat. 18, 1947). Raises ValueError for
    no values.
    """
    if not a or not b:
        raise ValueError(f"{len(a)} against {len(b)} values cannot be ranked")
    wins = sum((of_a > of_b) + (of_a == of_b) / 2 for of_a in a for of_b in b)
    ties = Counter((*a, *b))
    if max(ties.values()) == 1 and max(len(a), len(b)) <= EXACT_UP_TO:
        return _exact_p(len(a), len(b), round(wins))
    return _normal_p(len(a), len(b), wins, tuple(ties.values()))


def minimum_detectable_effect(a: Sequence[float], b: Sequence[float], level: float = 0.05) -> float:
    """The least relative difference that `mann_whitney` would find in such samples 4 times in 5.

    `a` and `b` are positive times, one for each process; their scatter is taken as normal in logarithms.
    `level` is the p below which a difference is called one. 0.03 says that a change below 3 % can go
    unseen. Infinite where no ranking of so few values is significant.
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
    """The sum of squared distances of the times' logarithms from their mean."""
    logs = [math.log(time) for time in times]
    mean = math.fsum(logs) / len(logs)
    return math.fsum((log - mean) ** 2 for log in logs)


def _exact_p(n: int, m: int, wins: int) -> float:
    """Two-sided p of `wins` among all arrangements of n and m different values."""
    ways = arrangements(n, m)
    tail = sum(ways[: min(wins, n * m - wins) + 1])
    return min(1.0, 2 * tail / math.comb(n + m, n))


def arrangements(n: int, m: int) -> list[int]:
    """At index u, in how many arrangements of n among m values u pairs are won.

    They are the coefficients of the Gaussian binomial, the product of (1 - q^(m+i)) / (1 - q^i) for i
    from 1 to n.
    """
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways


def _normal_p(n: int, m: int, wins: float, ties: tuple[int, ...]) -> float:
    """Two-sided p of the normal distribution with the moments of `wins`; `ties` are sizes of equal groups."""
    total = n + m
    tied = sum(size**3 - size for size in ties) / (total * (total - 1)) if total > 1 else 0.0
    variance = n * m / 12 * (total + 1 - tied)
    if variance <= 0:
        return 1.0
    distance = max(0.0, abs(wins - n * m / 2) - 0.5)
    return math.erfc(distance / math.sqrt(2 * variance))
