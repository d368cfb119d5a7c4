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
    """Return the probability of a |t| at least this large without a difference; `df` may be fractional.

    It is the regularised incomplete beta function of df/2, 1/2 at df/(df + t²) (Abramowitz and Stegun,
    "Handbook of Mathematical Functions", 26.7.1 and 26.5.27). Raises ValueError if there are no degrees of
    freedom.
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
    """Return the |t| exceeded with two-sided probability `wrong`: 2.776 for 0.05 and 4.

    It uses Newton's method from 0: the tail is convex, so no step goes too far. Raises ValueError for a
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
    """Return the regularised incomplete beta function; `rest` is 1 - x, exact even if x is nearly 1."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log) * _fraction(a, b, x) / a
    return 1.0 - math.exp(log) * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction 26.5.8 of that handbook, by Lentz's method (Applied Optics 15, 1976)."""
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


_MAX_CORRELATION = 0.9
"""Maximum r: few batches cannot distinguish a larger one from 1."""


class Spread(NamedTuple):
    """The variance of a mean, and the degrees of freedom of its estimate."""

    variance: float
    df: float


def batch_spread(means: Sequence[float]) -> Spread:
    """Return the variance of the mean of batches and its df; batches have equal sizes and are in order.

    Batches that are long enough make neighbouring values independent (P. D. Welch, "The statistical analysis
    of simulation results", 1983). If they are too short, the remaining dependence is treated as an
    autoregression of first order. The variance of the mean grows by (1 + r) / (1 - r), and its degrees of
    freedom shrink by (1 - r²) / (1 + r²) (G. V. Bayley, J. M. Hammersley, "The effective number of
    independent observations in an autocorrelated time series", Suppl. J. R. Stat. Soc. 8, 1946). A negative r
    changes nothing. Raises ValueError for fewer than two batches.
    """
    count = len(means)
    if count < 2:
        raise ValueError(f"{count} batches have no spread")
    alike = min(_MAX_CORRELATION, max(0.0, autocorrelation(means)))
    widening = (1 + alike) / (1 - alike)
    mean = math.fsum(means) / count
    variance = math.fsum((value - mean) ** 2 for value in means) / (count - 1) / count
    return Spread(variance * widening, max(1.0, (count - 1) * (1 - alike**2) / (1 + alike**2)))


def phased_spread(means: Sequence[float]) -> Spread:
    """Return the spread of batches that are stages of one pass through a run, always in the same order.

    What they have in common with their neighbours is then no chance. The variance is estimated from the mean
    square successive difference, which slow changes hardly affect. It is as precise as two thirds as many
    batches (J. von Neumann and others, "The mean square successive difference", Ann. Math. Stat. 12, 1941).
    Raises ValueError for fewer than two batches.
    """
    count = len(means)
    if count < 2:
        raise ValueError(f"{count} batches have no spread")
    steps = math.fsum((other - one) ** 2 for one, other in pairwise(means))
    return Spread(steps / 2 / (count - 1) / count, max(1.0, (count - 1) * 2 / 3))


def autocorrelation(values: Sequence[float]) -> float:
    """Return the lag-1 autocorrelation of values around their mean: 0 for independent ones.

    The plain estimate is too small by about 1/n (M. G. Kendall, Biometrika 41, 1954), which is added.
    """
    count = len(values)
    mean = math.fsum(values) / count
    squares = math.fsum((value - mean) ** 2 for value in values)
    if not squares:
        return 0.0
    return math.fsum((one - mean) * (other - mean) for one, other in pairwise(values)) / squares + 1 / count


_Z_95 = 1.959963984540054
"""97.5 % quantile of the normal distribution: 95 % of it are within this many standard deviations."""


def share_interval(weight: int, total: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of the true share, if `weight` of `total` samples hit.

    It is Wilson's score interval (E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", J. Am. Stat. Assoc. 22, 1927). Unlike the normal one, it holds for few samples and near 0 and
    1. It treats samples as independent. Without samples it is (0, 1).
    """
    if not 0 <= weight <= total:
        raise ValueError(f"{weight} of {total} samples is no share")
    if total == 0:
        return 0.0, 1.0
    share, z2 = weight / total, _Z_95**2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = _Z_95 / (1 + z2 / total) * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    # At the ends the two terms cancel exactly, but not in floating point.
    low = 0.0 if weight == 0 else centre - half
    high = 1.0 if weight == total else centre + half
    return low, high
