"""Shares of functions in each run: variances, the smallest share and difference that are tested."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple

from profkit.comparing.significance import Seen
from profkit.model.profile import Profile, Sample
from profkit.stats.means import batch_spread, phased_spread
from profkit.transforms.tables import Selection, function_table
from profkit.transforms.trees import Vectors, number_functions, picked, sum_parts
from profkit.units import Unit

SLICES = 20
"""Number of slices: enough to estimate the spread to a sixth, few enough to hold correlated samples."""

Function = tuple[str, str]
"""Name and file."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Own and total shares of functions, as parts of 1; absent functions have none."""

    own: Mapping[Function, float]
    total: Mapping[Function, float]


def whole(profile: Profile) -> Shares:
    """Return the shares of all functions in all samples; recursion counts once.

    Totals that a file states can exceed the whole: their shares are 1.
    """
    weight, rows = profile.total_weight, function_table(profile, Selection(lines=False)).rows
    return Shares(
        {(row.name, row.file): row.self_weight / weight for row in rows},
        {(row.name, row.file): min(1.0, row.total_weight / weight) for row in rows},
    )


@dataclass(frozen=True, slots=True)
class Sliced:
    """Weights of all functions in parts of equal weight, in the order in which samples were taken.

    Each part has the same part of each thread: the beginning of all threads, and so on. A sample across a
    boundary is divided. Samples of negative weight are left out.
    """

    functions: Sequence[Function]
    own: Sequence[int]
    """By function: weights by slice, as vectors, multiplied by the number of slices."""
    total: Sequence[int]
    vectors: Vectors
    weight: int
    """Weight of all samples."""

    @classmethod
    def of(cls, profile: Profile, slices: int = SLICES) -> Sliced:
        """Return the weights in this number of slices."""
        positive = [sample for sample in profile.samples if sample.weight > 0]
        weights = list(map(itemgetter(2), positive))
        vectors = Vectors.that_hold(weights, slices)
        cut = _cut(positive, vectors.units(), len(profile.stacks))
        stacks = [
            (stack, vector) for stack, vector in zip(profile.stacks, cut, strict=True) if stack and vector
        ]
        named, functions = number_functions(profile.frames)
        own = sum_parts(stacks, lambda stack: (named[stack[-1]],), len(functions))
        total = sum_parts(stacks, lambda stack: set(picked(stack, named)), len(functions))
        return cls(functions, own, total, vectors, sum(weights))

    def whole(self) -> Shares:
        """Return the shares of all functions in all samples."""
        size = self.vectors.size
        own, total = (
            [sum(self.vectors.elements(vector)) // size / self.weight for vector in vectors]
            for vectors in (self.own, self.total)
        )
        return Shares(
            dict(zip(self.functions, own, strict=True)), dict(zip(self.functions, total, strict=True))
        )

    def shares(self, functions: Collection[Function]) -> tuple[Shares, ...]:
        """Return these functions' shares in each slice."""
        wanted = {function: n for n, function in enumerate(self.functions) if function in functions}
        own, total = (
            [self.vectors.elements(vectors[n]) for n in wanted.values()] for vectors in (self.own, self.total)
        )
        return tuple(
            Shares(
                {function: parts[n] / self.weight for function, parts in zip(wanted, own, strict=True)},
                {function: parts[n] / self.weight for function, parts in zip(wanted, total, strict=True)},
            )
            for n in range(self.vectors.size)
        )


def effective_samples(profile: Profile) -> float:
    """Return the effective sample size by L. Kish, "Survey Sampling", 1965, 11.7.

    For samples of weight 1 it is their number.
    """
    total = profile.total_weight
    squares = sum(sample.weight**2 for sample in profile.samples)
    return total * total / squares if squares else 0.0


def _cut(samples: Iterable[Sample], slices: Sequence[int], count: int) -> list[int]:
    """Return each stack's weight by slice, as vectors; `slices` are the vectors of one slice each.

    Weights are multiplied by the number of slices, so that they can be divided without a rest.
    """
    of_thread: defaultdict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        of_thread[sample.thread].append(sample)
    cut, times = [0] * count, len(slices)
    for own in of_thread.values():
        room = whole_weight = sum(map(itemgetter(2), own))
        following = iter(slices)
        current = next(following)
        for stack, _, weight in own:
            left = times * weight
            while left > room:
                cut[stack] += room * current
                left -= room
                room, current = whole_weight, next(following)
            cut[stack] += left * current
            room -= left
    return cut


MINIMUM_EFFECT = 0.02
"""Smallest difference of shares that is reported: two points."""
WORTH_A_TEST = MINIMUM_EFFECT / 2
"""Smallest mean of both sides that is tested: below it, their difference cannot reach the minimum effect.
The mean is independent of the difference, so excluded functions need no adjustment (R. Bourgon, R. Gentleman,
W. Huber, "Independent filtering increases detection power", PNAS 107, 2010)."""
RUN_IS_WORTH = 400.0
"""Maximum number of independent samples that a run is worth.

Memory layout, hash seeds, the state of the machine and other programs make runs of the same program differ
by more than their samples do. Runs under py-spy of a program that computes were worth 700 to 2,600 samples,
by function; those of one that sleeps in a loop, beside other programs, 80 to 400."""
UNORDERED = 4.0
"""Factor on the sampling variance of a run's shares, if its slices are not known or a function is too small
for them. With slices the variance was 1.3 to 5 times as large."""
_MIN_SLICED = 2 * SLICES
"""Minimum number of samples for slices: two a slice."""

OfShares = Callable[[Shares, Function], float]


class Taken(NamedTuple):
    """Samples of a run."""

    profile: Profile
    phased: bool
    """True if slices are stages of few calls or of a whole program; otherwise each averages many calls."""


@dataclass(frozen=True, slots=True)
class RunShares:
    """One run's shares, in all and by slices."""

    weight: float
    """The run's part of its side's weight."""
    samples: float
    """Effective number of independent samples."""
    all: Shares
    uneven: float
    """Relative difference of the CPU shares of the two sides."""
    sliced: frozenset[Function] = frozenset()
    """The functions whose shares are in the slices."""
    slices: tuple[Shares, ...] = ()
    """Empty if the order of samples is not known, or if there are too few."""
    phased: bool = False
    """See `Taken`."""


RunsOfSides = tuple[Sequence[RunShares], Sequence[RunShares]]


def shares_of_sides(a: Sequence[Taken], b: Sequence[Taken], uneven: float = 0.0) -> RunsOfSides:
    """Return the shares in each run; slices have only functions that are large enough to test.

    `uneven` is the part by which one side had less of the CPU than the other. A busy machine does not slow
    down all functions alike, least of all those that wait. So that part of a function's time counts as noise.
    """
    slices = [
        [Sliced.of(run.profile) if _has_slices(run.profile) else None for run in side] for side in (a, b)
    ]
    sides = _wholes(a, slices[0], uneven), _wholes(b, slices[1], uneven)
    functions = {function for side in sides for run in side for function in run.all.total}
    large = frozenset(one for one in functions if mean_share(sides, one, total_share) >= WORTH_A_TEST)
    return _with_slices(sides[0], slices[0], large), _with_slices(sides[1], slices[1], large)


def _wholes(runs: Sequence[Taken], slices: Sequence[Sliced | None], uneven: float) -> list[RunShares]:
    """Return the shares of whole runs; each run counts by the weight of its samples."""
    weights = [run.profile.total_weight for run in runs]
    return [
        RunShares(
            weight / sum(weights),
            _independent(run.profile),
            # Slices have neither stated totals nor negative weights.
            whole(run.profile)
            if parts is None or run.profile.totals or parts.weight != weight
            else parts.whole(),
            uneven,
            phased=run.phased,
        )
        for run, parts, weight in zip(runs, slices, weights, strict=True)
    ]


def _with_slices(
    shares: Sequence[RunShares], slices: Sequence[Sliced | None], functions: frozenset[Function]
) -> list[RunShares]:
    return [
        one if parts is None else replace(one, sliced=functions, slices=parts.shares(functions))
        for one, parts in zip(shares, slices, strict=True)
    ]


def own_share(shares: Shares, function: Function) -> float:
    """Return the share of the function itself."""
    return shares.own.get(function, 0.0)


def total_share(shares: Shares, function: Function) -> float:
    """Return the share of the function with its callees."""
    return shares.total.get(function, 0.0)


def share_seen(run: RunShares, function: Function, of: OfShares, expected: float) -> Seen:
    """Return a run's share and its variances; `expected` is the mean of both sides."""
    share = of(run.all, function)
    by_chance = _by_chance(share, run.samples)
    scatter = expected * (1 - expected)
    between = scatter / RUN_IS_WORTH + (run.uneven * scatter) ** 2
    if function not in run.sliced:
        within, df = UNORDERED * by_chance, math.inf
    else:
        estimate = phased_spread if run.phased else batch_spread
        spread = estimate([of(part, function) for part in run.slices])
        within, df = max(spread.variance, by_chance), spread.df
    return Seen(share, run.weight, within, df, between, by_chance)


def mean_share(sides: RunsOfSides, function: Function, of: OfShares) -> float:
    """Return the mean of both sides' shares."""
    means = [math.fsum(run.weight * of(run.all, function) for run in side) for side in sides]
    return math.fsum(means) / len(means)


def _by_chance(share: float, samples: float) -> float:
    """Return the variance of a share of independent samples, not 0 for a share of 0.

    Two hits and two misses are added (A. Agresti, B. A. Coull, Am. Stat. 52, 1998).
    """
    drawn = (share * samples + 2) / (samples + 4)
    return drawn * (1 - drawn) / (samples + 4)


def _independent(profile: Profile) -> float:
    return float(profile.total_weight) if profile.unit is Unit.SAMPLES else effective_samples(profile)


def _has_slices(profile: Profile) -> bool:
    return profile.ordered and _independent(profile) >= _MIN_SLICED
