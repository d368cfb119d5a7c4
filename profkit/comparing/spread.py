"""What differences between sides of several runs are worth: run-to-run spread, and what to assume without.

The value of a run is the true one, plus what this run has of its own, plus what its samples or slices
missed: random effects (N. M. Laird, J. H. Ware, "Random-effects models for longitudinal data", Biometrics
38, 1982). The slices of a run tell the last part; only several runs tell the middle one, and few runs tell
it badly. So the spread of each quantity is drawn towards what all quantities have in common, as if that
were known from `PRIOR_DF` more runs (G. K. Smyth, "Linear models and empirical Bayes methods", Stat. Appl.
Genet. Mol. Biol. 3, 2004). From one run a side, the middle part is what was assumed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from profkit.stats import holm, t_quantile, t_two_sided

LEVEL = 0.05
"""How probable a false alarm is among all quantities of a comparison."""
PRIOR_DF = 4.0
"""Degrees of freedom that what all quantities have in common counts for. More find more from three runs, and
call more different that are not, where one run of three was disturbed."""
_INTERVAL = 0.05
"""How probable it is that a single side's value lies outside its interval."""


class Seen(NamedTuple):
    """What one run tells of a quantity."""

    value: float
    weight: float
    """The part of its side that it is; the weights of a side add up to 1."""
    within: float
    """Variance from its samples or slices."""
    df: float
    """Degrees of freedom that tell `within`."""
    between: float
    """Variance that its kind of quantity has from run to run, as far as one can assume."""
    least: float = 0.0
    """Variance that is there in any case."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One side's value, its variance and the degrees of freedom that tell the variance."""

    value: float
    variance: float
    df: float

    @property
    def half(self) -> float:
        """Half the 95 % interval."""
        return t_quantile(_INTERVAL, self.df) * math.sqrt(self.variance)


class Settled(NamedTuple):
    """Both sides of a quantity, and their difference with all others allowed for."""

    a: Mean
    b: Mean
    half: float
    """Half the interval of the difference."""
    p: float


Sides = tuple[Sequence[Seen], Sequence[Seen]]


def settle(quantities: Sequence[Sides], tested: Sequence[bool], level: float = LEVEL) -> tuple[Settled, ...]:
    """What the runs of both sides tell of each quantity; only those that are tested count against chance.

    The tests and intervals of differences together are wrong with probability `level` at most.
    """
    spreads = [_observed(sides) for sides in quantities]
    common = _common([spread for spread, counts in zip(spreads, tested, strict=True) if counts])
    means = [_means(sides, spread, common) for sides, spread in zip(quantities, spreads, strict=True)]
    return _tested(means, tested, level)


class _Observed(NamedTuple):
    """How a quantity spread from run to run on both sides, as a multiple of what was assumed."""

    ratio: float
    df: float


def _observed(sides: Sides) -> _Observed:
    df = sum(len(side) - 1 for side in sides)
    ratios = [(len(side) - 1) * _spread(side) / (_assumed(side) or 1.0) for side in sides if len(side) > 1]
    return _Observed(math.fsum(ratios) / df if df else 1.0, df)


def _common(spreads: Sequence[_Observed]) -> float:
    """The mean multiple; 1 where nothing is known."""
    known = [spread.ratio for spread in spreads if spread.df]
    return math.fsum(known) / len(known) if known else 1.0


class _Means(NamedTuple):
    a: Mean
    b: Mean
    df: float
    """Of the variance of their difference."""


def _means(sides: Sides, spread: _Observed, common: float) -> _Means:
    """Both sides' means; where runs tell the spread, both sides' runs tell the same one."""
    ratio = (PRIOR_DF * common + spread.df * spread.ratio) / (PRIOR_DF + spread.df)
    df = PRIOR_DF + spread.df if spread.df else None
    a, b = (_mean(side, ratio, df) for side in sides)
    return _Means(a, b, df or _assumed_df([*sides[0], *sides[1]]))


def _mean(side: Sequence[Seen], ratio: float, df: float | None) -> Mean:
    least = math.fsum(seen.weight**2 * seen.least for seen in side)
    return Mean(_value(side), max(ratio * _assumed(side), least), df or _assumed_df(side))


def _value(side: Sequence[Seen]) -> float:
    return math.fsum(seen.weight * seen.value for seen in side)


def _assumed(side: Sequence[Seen]) -> float:
    """The variance of a side's mean, by its runs' slices and by assumption."""
    return math.fsum(seen.weight**2 * (seen.within + seen.between) for seen in side)


def _assumed_df(side: Sequence[Seen]) -> float:
    """Of that variance (F. E. Satterthwaite, Biometrics Bull. 2, 1946); what is assumed counts as known."""
    squares = math.fsum((seen.weight**2 * seen.within) ** 2 / seen.df for seen in side)
    return _rounded(_assumed(side) ** 2 / squares) if squares else math.inf


def _rounded(df: float) -> float:
    """Down to two digits, which makes no difference: so quantiles are computed a few times only."""
    step = next((step for step, below in ((0.1, 10), (1.0, 100), (10.0, 1000)) if df < below), 1000.0)
    return math.floor(min(df, 1000.0) / step) * step


def _spread(side: Sequence[Seen]) -> float:
    """The variance of a side's mean, by how its runs differ."""
    mean, squares = _value(side), math.fsum(seen.weight**2 for seen in side)
    if squares >= 1:
        return 0.0
    return math.fsum(seen.weight * (seen.value - mean) ** 2 for seen in side) * squares / (1 - squares)


def _tested(means: Sequence[_Means], tested: Sequence[bool], level: float) -> tuple[Settled, ...]:
    deviations = [math.sqrt(a.variance + b.variance) for a, b, _ in means]
    ps = [
        _p(b.value - a.value, deviation, df)
        for (a, b, df), deviation, counts in zip(means, deviations, tested, strict=True)
        if counts
    ]
    adjusted = iter(holm(ps, level))
    settled = []
    for (a, b, df), deviation, counts in zip(means, deviations, tested, strict=True):
        p, own_level = next(adjusted) if counts else (1.0, level)
        settled.append(Settled(a, b, t_quantile(own_level, df) * deviation, p))
    return tuple(settled)


def _p(difference: float, deviation: float, df: float) -> float:
    if not deviation:
        return 0.0 if difference else 1.0
    return t_two_sided(difference / deviation, df)
