"""Means and shares: Student's t, batch means of dependent values, Wilson's interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_TINY = 1e-300
_CLOSE = 1e-12
_STEPS = 10_000


def t_two_sided(t: float, df: float) -> float:
    """How probable a |t| at least so large is where nothing differs; `df` need not be whole.

    The regularised incomplete beta function of df/2, 1/2 at df/(df + t²) (Abramowitz and Stegun, "Handbook
    of Mathematical Functions", 26.7.1 and 26.5.27). Raises ValueError for no degrees of freedom.
    """
    if not df > 0:
        raise ValueError(f"{df} degrees of freedom say nothing")
    if math.isinf(df):
        return math.erfc(abs(t) / math.sqrt(2))
    if math.isinf(t):
        return 0.0
    square = t * t
    return _beta_share(df / 2, 0.5, df / (df + square), square / (df + square))


@lru_cache(maxsize=4096)
def t_quantile(wrong: float, df: float) -> float:
    """The |t| that is exceeded with probability `wrong`, both sides together: 2.776 for 0.05 and 4.

    By Newton's method from 0: the tail is convex, so no step goes too far. Raises ValueError for a
    probability outside (0, 1].
    """
    if not 0 < wrong <= 1:
        raise ValueError(f"{wrong} is no probability of being wrong")
    t = 0.0
    for _ in range(_STEPS):
        further = t + (t_two_sided(t, df) - wrong) / (2 * _density(t, df))
        if further <= t * (1 + _CLOSE):
            break
        t = further
    return t


def _density(t: float, df: float) -> float:
    if math.isinf(df):
        return math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    return math.exp(scale - (df + 1) / 2 * math.log1p(t * t / df))


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function; `rest` is 1 - x, exact also where x is nearly 1."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log) * _fraction(a, b, x) / a
    return 1.0 - math.exp(log) * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 26.5.8 of the same handbook, by Lentz's method (Applied Optics 15, 1976)."""
    c, d = 1.0, 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1))
    value = d
    for step in range(1, _STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            d = 1.0 / _nonzero(1.0 + term * d)
            c = _nonzero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < _CLOSE:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


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


_Z_95 = 1.959963984540054
"""The normal distribution's 97.5 % quantile: 95 % of it lie within so many standard deviations."""


def share_interval(weight: int, total: int) -> tuple[float, float]:
    """Between which shares the true one lies with 95 % confidence, where `weight` of `total` samples hit.

    Wilson's score interval (E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", J. Am. Stat. Assoc. 22, 1927): unlike the normal one it holds for few samples and near
    0 and 1. It takes samples as independent. Nothing is known from no samples: (0, 1).
    """
    if not 0 <= weight <= total:
        raise ValueError(f"{weight} of {total} samples is no share")
    if total == 0:
        return 0.0, 1.0
    share, z2 = weight / total, _Z_95**2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = _Z_95 / (1 + z2 / total) * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    # At the ends the two cancel exactly, but not in floating point.
    low = 0.0 if weight == 0 else centre - half
    high = 1.0 if weight == total else centre + half
    return low, high
