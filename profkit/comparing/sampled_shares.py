"""What each run tells of its functions' shares, and what one has to assume of the next run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from profkit.comparing.sampled_slices import (
    SLICES,
    Function,
    Shares,
    effective_samples,
    sliced,
    whole,
)
from profkit.comparing.sampled_spread import Seen
from profkit.model.profile import Profile
from profkit.stats import batch_spread
from profkit.units import Unit

RUN_IS_WORTH = 400.0
"""Independent samples that no run tells more than, however many it has.

Layout of memory, hash seeds, the state of the machine and other programs make runs of the same program
differ by more than their samples do. See docs/benchmarks.md for how real runs differed."""
_UNORDERED = 4.0
"""How much more the shares of a run vary than its samples say where its slices are not known. Slices said
1.3 to 5 times as much."""
_LEAST_SLICED = 2 * SLICES
"""Fewer samples than two a slice make no slices."""

OfShares = Callable[[Shares, Function], float]


@dataclass(frozen=True, slots=True)
class RunShares:
    """One run's shares, in all and by slices."""

    weight: float
    """The run's part of its side."""
    samples: float
    """Independent samples that its weights are worth."""
    all: Shares
    slices: tuple[Shares, ...]
    """Empty where the order of samples is not known, or where there are too few."""


def run_shares(profiles: Sequence[Profile]) -> tuple[RunShares, ...]:
    """The runs of one side; each counts as its samples do."""
    total = sum(profile.total_weight for profile in profiles)
    return tuple(
        RunShares(
            profile.total_weight / total,
            _independent(profile),
            whole(profile),
            sliced(profile) if _has_slices(profile) else (),
        )
        for profile in profiles
    )


def own_share(shares: Shares, function: Function) -> float:
    """The share of the function itself."""
    return shares.own.get(function, 0.0)


def total_share(shares: Shares, function: Function) -> float:
    """The share with all that it calls."""
    return shares.total.get(function, 0.0)


def share_seen(run: RunShares, function: Function, of: OfShares, expected: float) -> Seen:
    """What a run tells of a share that is `expected` in both sides' mean."""
    share = of(run.all, function)
    by_chance = _by_chance(share, run.samples)
    between = expected * (1 - expected) / RUN_IS_WORTH
    if not run.slices:
        within, df = _UNORDERED * by_chance, math.inf
    else:
        spread = batch_spread([of(part, function) for part in run.slices])
        within, df = max(spread.variance, by_chance), spread.df
    return Seen(share, run.weight, within, df, between, by_chance)


def mean_share(sides: Sequence[Sequence[RunShares]], function: Function, of: OfShares) -> float:
    """The mean of both sides' shares."""
    means = [math.fsum(run.weight * of(run.all, function) for run in side) for side in sides]
    return math.fsum(means) / len(means)


def _by_chance(share: float, samples: float) -> float:
    """The variance of a share of independent samples, not 0 for a share of 0.

    Two hits and two misses are added (A. Agresti, B. A. Coull, Am. Stat. 52, 1998).
    """
    drawn = (share * samples + 2) / (samples + 4)
    return drawn * (1 - drawn) / (samples + 4)


def _independent(profile: Profile) -> float:
    return float(profile.total_weight) if profile.unit is Unit.SAMPLES else effective_samples(profile)


def _has_slices(profile: Profile) -> bool:
    return profile.ordered and _independent(profile) >= _LEAST_SLICED
