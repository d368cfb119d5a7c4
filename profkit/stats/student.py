"""Student's t: what a mean of few values is worth."""

from __future__ import annotations

import math
from functools import lru_cache

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
