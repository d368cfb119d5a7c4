"""Batch means: what an average over time is worth where neighbouring values resemble each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_MOST_ALIKE = 0.9
"""An r beyond this cannot be told from 1 by so few batches."""


class Spread(NamedTuple):
    """The variance of a mean, and how many degrees of freedom tell it."""

    variance: float
    df: float


def batch_spread(means: Sequence[float]) -> Spread:
    """What the mean of these batch means is worth: batches of equal size, in the order they were taken.

    Batches make neighbours of single values independent, where they are long enough (P. D. Welch, "The
    statistical analysis of simulation results", 1983). Where they are not, what is left is taken for an
    autoregression of first order: the variance of the mean grows by (1 + r) / (1 - r), and its degrees of
    freedom shrink by (1 - r²) / (1 + r²) (G. V. Bayley, J. M. Hammersley, "The effective number of
    independent observations in an autocorrelated time series", Suppl. J. R. Stat. Soc. 8, 1946). A negative
    r changes nothing. Raises ValueError for fewer than two batches.
    """
    count = len(means)
    if count < 2:
        raise ValueError(f"{count} batches have no spread")
    alike = min(_MOST_ALIKE, max(0.0, autocorrelation(means)))
    widening = (1 + alike) / (1 - alike)
    mean = math.fsum(means) / count
    variance = math.fsum((value - mean) ** 2 for value in means) / (count - 1) / count
    return Spread(variance * widening, max(1.0, (count - 1) * (1 - alike**2) / (1 + alike**2)))


def phased_spread(means: Sequence[float]) -> Spread:
    """The same where batches are stages of one run through, whose order is always the same.

    Then what they have in common with their neighbours is no chance. From the mean square successive
    difference, which slow changes leave alone; it tells as much as two thirds as many batches (J. von
    Neumann and others, "The mean square successive difference", Ann. Math. Stat. 12, 1941). Raises ValueError
    for fewer than two batches.
    """
    count = len(means)
    if count < 2:
        raise ValueError(f"{count} batches have no spread")
    steps = math.fsum((other - one) ** 2 for one, other in pairwise(means))
    return Spread(steps / 2 / (count - 1) / count, max(1.0, (count - 1) * 2 / 3))


def autocorrelation(values: Sequence[float]) -> float:
    """How neighbouring values resemble each other: 0 for independent ones, whose mean is taken off.

    The plain estimate is too small by about 1/n (M. G. Kendall, Biometrika 41, 1954), which is added.
    """
    count = len(values)
    mean = math.fsum(values) / count
    squares = math.fsum((value - mean) ** 2 for value in values)
    if not squares:
        return 0.0
    return math.fsum((one - mean) * (other - mean) for one, other in pairwise(values)) / squares + 1 / count
