"""Batch means: what an average over time is worth where neighbouring values resemble each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

_MOST_ALIKE = 0.9
"""Slices more alike than that are one: of 20 of them, one is left."""


class Spread(NamedTuple):
    """The variance of a mean, and how many degrees of freedom tell it."""

    variance: float
    df: float


def batch_spread(means: Sequence[float]) -> Spread:
    """What the mean of these batch means is worth: batches of equal size, in the order they were taken.

    Batches make neighbours of single values independent, where they are long enough (P. D. Welch, "The
    statistical analysis of simulation results", 1983). Where they are not, what is left is taken for an
    autoregression of first order: the variance grows by (1 + r) / (1 - r), and as many fewer batches count.
    A negative r changes nothing. Raises ValueError for fewer than two batches.
    """
    count = len(means)
    if count < 2:
        raise ValueError(f"{count} batches have no spread")
    alike = min(_MOST_ALIKE, max(0.0, autocorrelation(means)))
    widening = (1 + alike) / (1 - alike)
    mean = math.fsum(means) / count
    variance = math.fsum((value - mean) ** 2 for value in means) / (count - 1) / count
    return Spread(variance * widening, max(1.0, count / widening - 1))


def autocorrelation(values: Sequence[float]) -> float:
    """How neighbouring values resemble each other: 0 for independent ones, whose mean is taken off.

    The plain estimate is too small by about 1/n (M. G. Kendall, Biometrika 41, 1954), which is added.
    """
    count = len(values)
    mean = math.fsum(values) / count
    squares = math.fsum((value - mean) ** 2 for value in values)
    if not squares:
        return 0.0
    pairs = zip(values, values[1:], strict=False)
    return math.fsum((one - mean) * (other - mean) for one, other in pairs) / squares + 1 / count
