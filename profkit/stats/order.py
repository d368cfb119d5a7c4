"""The median and what is known about it from its place in the order: no assumption about the noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two middle ones; raises ValueError for no values."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values have no median")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_interval(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Between which two of the values the true median lies, with at least this confidence.

    Exact whatever the values' distribution: how many of them lie below the true median is binomial (the
    sign test turned round; H. A. David, "Order Statistics"). None where even the smallest and the largest
    value promise less, as with fewer than 6 values at 95 %. It takes values as independent.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence cannot be {confidence}")
    ordered = sorted(values)
    outside = values_outside(len(ordered), confidence)
    return None if outside is None else (ordered[outside], ordered[-1 - outside])


def values_outside(count: int, confidence: float) -> int | None:
    """How many of `count` values a median's interval can leave out at either end; None: it needs more."""
    wrong = Fraction(1 - Fraction(confidence)) * 2**count / 2
    found, below, ways = None, 0, 1
    for rank in range(count // 2 + 1):
        below += ways
        if below > wrong:
            break
        found, ways = rank, ways * (count - rank) // (rank + 1)
    return found


def paired_ratio(
    a: Sequence[float], b: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """How many times as long as A B takes, and the bounds of that ratio: (ratio, low, high).

    `a[k]` and `b[k]` are the least times of A's and of B's blocks, measured in turns in the same process
    k. The ratio is the median over processes, in logarithms, so that (b, a) gives the inverse. Too few
    processes bound nothing: (ratio, 0, infinity). Raises ValueError where the two cannot be paired.
    """
    if len(a) != len(b) or not a or min(*a, *b) <= 0:
        raise ValueError(f"{len(a)} and {len(b)} times, all to be positive, give no ratios")
    logs = [math.log(of_b / of_a) for of_a, of_b in zip(a, b, strict=True)]
    bounds = median_interval(logs, confidence)
    low, high = (0.0, math.inf) if bounds is None else (math.exp(bounds[0]), math.exp(bounds[1]))
    return math.exp(median(logs)), low, high
