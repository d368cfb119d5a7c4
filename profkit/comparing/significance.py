"""Significance of differences between two sides, by the spread of their runs (of single runs: `shares`).

The value of a run is the true value, plus an effect of the run, plus the error of its samples or slices:
random effects (N. M. Laird, J. H. Ware, "Random-effects models for longitudinal data", Biometrics 38, 1982).
The slices of a run show its error. Only several runs show the effect of runs, and few runs show it poorly.
So the spread of each quantity is shrunk towards the mean of all quantities, as if that were known from
`PRIOR_DF` more runs (G. K. Smyth, "Linear models and empirical Bayes methods", Stat. Appl. Genet. Mol.
Biol. 3, 2004). With one run per side, the effect of runs is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from profkit.stats.means import t_quantile, t_two_sided
from profkit.stats.ranks import holm

LEVEL = 0.05
"""Probability of any false alarm among all quantities of a comparison."""
PRIOR_DF = 4.0
"""Degrees of freedom of the common spread. More of them detect more from three runs, but raise more false
alarms if one run of three was disturbed."""
_INTERVAL = 0.05
"""Probability that a single side's value is outside its interval."""


class Seen(NamedTuple):
    """A quantity in one run, with its variances."""

    value: float
    weight: float
    """The run's part of its side; the weights of a side add up to 1."""
    within: float
    """Variance from its samples or slices."""
    df: float
    """Degrees of freedom of `within`."""
    between: float
    """Assumed variance from run to run of this kind of quantity."""
    least: float = 0.0
    """Lower bound of the variance."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One side's value, with its variance and the degrees of freedom of the variance."""

    value: float
    variance: float
    df: float

    @property
    def half(self) -> float:
        """Half the width of the 95 % interval."""
        return t_quantile(_INTERVAL, self.df) * math.sqrt(self.variance)


class QuantityCompared(NamedTuple):
    """Both sides of a quantity, and their difference, adjusted for all other quantities."""

    a: Mean
    b: Mean
    half: float
    """Half the width of the difference's interval."""
    p: float


Sides = tuple[Sequence[Seen], Sequence[Seen]]


def compare_quantities(
    quantities: Sequence[Sides], tested: Sequence[bool], level: float = LEVEL
) -> tuple[QuantityCompared, ...]:
    """Estimate each quantity from the runs of both sides, and test the differences of those in `tested`.

    The probability that any test or interval of a difference is wrong is at most `level`.
    """
    return _tested(means_of(quantities, tested), tested, level)


class Means(NamedTuple):
    """Both sides' values."""

    a: Mean
    b: Mean
    df: float
    """Degrees of freedom of the variance of their difference."""


def means_of(quantities: Sequence[Sides], tested: Sequence[bool]) -> list[Means]:
    """Estimate each quantity from the runs of both sides; those in `tested` show how much runs differ."""
    spreads = [_observed(sides) for sides in quantities]
    common = _common([spread for spread, counts in zip(spreads, tested, strict=True) if counts])
    return [_means(sides, spread, common) for sides, spread in zip(quantities, spreads, strict=True)]


class _Observed(NamedTuple):
    """Variance of a quantity from run to run on both sides, as a multiple of the assumed one."""

    ratio: float
    df: float


def _observed(sides: Sides) -> _Observed:
    df = sum(len(side) - 1 for side in sides)
    ratios = [(len(side) - 1) * _spread(side) / (_assumed(side) or 1.0) for side in sides if len(side) > 1]
    return _Observed(math.fsum(ratios) / df if df else 1.0, df)


def _common(spreads: Sequence[_Observed]) -> float:
    known = [spread.ratio for spread in spreads if spread.df]
    return math.fsum(known) / len(known) if known else 1.0


def _means(sides: Sides, spread: _Observed, common: float) -> Means:
    """Return both sides' means; the spread shown by runs is pooled over both sides."""
    ratio = (PRIOR_DF * common + spread.df * spread.ratio) / (PRIOR_DF + spread.df)
    df = PRIOR_DF + spread.df if spread.df else None
    a, b = (_mean(side, ratio, df) for side in sides)
    return Means(a, b, df or _assumed_df([*sides[0], *sides[1]]))


def _mean(side: Sequence[Seen], ratio: float, df: float | None) -> Mean:
    least = math.fsum(seen.weight**2 * seen.least for seen in side)
    return Mean(_value(side), max(ratio * _assumed(side), least), df or _assumed_df(side))


def _value(side: Sequence[Seen]) -> float:
    return math.fsum(seen.weight * seen.value for seen in side)


def _assumed(side: Sequence[Seen]) -> float:
    """Return the variance of a side's mean, from its runs' slices and the assumed variance."""
    return math.fsum(seen.weight**2 * (seen.within + seen.between) for seen in side)


def _assumed_df(side: Sequence[Seen]) -> float:
    """Return degrees of freedom (F. E. Satterthwaite, Biometrics Bull. 2, 1946); `between` is known."""
    squares = math.fsum((seen.weight**2 * seen.within) ** 2 / seen.df for seen in side)
    return _rounded(_assumed(side) ** 2 / squares) if squares else math.inf


def _rounded(df: float) -> float:
    """Round down to two digits, so that few different quantiles are computed; the loss is negligible."""
    step = next((step for step, below in ((0.1, 10), (1.0, 100), (10.0, 1000)) if df < below), 1000.0)
    return math.floor(min(df, 1000.0) / step) * step


def _spread(side: Sequence[Seen]) -> float:
    """Return the variance of a side's mean, from the differences between its runs."""
    mean, squares = _value(side), math.fsum(seen.weight**2 for seen in side)
    if squares >= 1:
        return 0.0
    return math.fsum(seen.weight * (seen.value - mean) ** 2 for seen in side) * squares / (1 - squares)


def _tested(means: Sequence[Means], tested: Sequence[bool], level: float) -> tuple[QuantityCompared, ...]:
    deviations = [math.sqrt(a.variance + b.variance) for a, b, _ in means]
    ps = [
        _p(b.value - a.value, deviation, df)
        for (a, b, df), deviation, counts in zip(means, deviations, tested, strict=True)
        if counts
    ]
    adjusted = iter(holm(ps, level))
    found = []
    for (a, b, df), deviation, counts in zip(means, deviations, tested, strict=True):
        p, own_level = next(adjusted) if counts else (1.0, level)
        found.append(QuantityCompared(a, b, t_quantile(own_level, df) * deviation, p))
    return tuple(found)


def _p(difference: float, deviation: float, df: float) -> float:
    if not deviation:
        return 0.0 if difference else 1.0
    return t_two_sided(difference / deviation, df)
