"""Find the ranks of a synchronous job that made the others wait, and the function that explains it.

Ranks that wait for one another have equal times, also in the functions that wait. What differs is how long
each of them waits: a late rank waits less than the others, by the time that it makes them wait. A rank of
which less was recorded than of the others waits less, too, but is not late: it has no more time of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from profkit.stats.means import batch_spread, t_two_sided
from profkit.stats.ranks import holm
from profkit.transforms.rank_times import Alone, Function, Included, Stretch

MIN_LATE, MIN_UNEXPLAINED = 0.05, 0.1
"""Part of the ranks' time that a rank must make the others wait to be named: with a function that takes much
longer in it than in the others, and without one."""
LEVEL = 0.01
"""Probability of any false alarm among the ranks."""
MIN_SAMPLES = 40
"""Minimum number of samples of each rank."""
SLICES = 20
"""Number of equal parts of each rank's time in which it is compared with the others."""
_HALF = 0.5
_MUCH_LONGER = 2.0
"""How many times as long as in any other rank a function takes that makes a rank late at once."""
_OF_MEDIAN = math.pi / 2
"""Variance of the median of many values in that of their mean."""
_Z_95 = 1.96


@dataclass(frozen=True, slots=True)
class RankTime:
    """Time of a rank, and of that its waiting for others."""

    samples: int
    total_s: float
    waited_s: float
    slices_s: tuple[float, ...]
    """Waiting in each of `SLICES` equal parts of its time; empty if its order is not known."""

    @classmethod
    def of(cls, stretches: Sequence[Stretch], least: Alone = Alone.WAITS) -> RankTime:
        """Sum up a rank's time, in its order; what is `least` or more counts as waiting."""
        ends_s = [0.0, *accumulate(stretch.seconds for stretch in stretches)]
        waited_s = sum(stretch.seconds for stretch in stretches if stretch.alone >= least)
        slices_s, width_s = [0.0] * SLICES, ends_s[-1] / SLICES
        for begin_s, stretch in zip(ends_s, stretches, strict=False):
            end_s = begin_s + stretch.seconds
            first, last = int(begin_s / width_s), math.ceil(end_s / width_s)
            for number in range(first, min(SLICES, last)) if stretch.alone >= least else ():
                part_s = min(end_s, (number + 1) * width_s) - max(begin_s, number * width_s)
                slices_s[number] += max(0.0, part_s)
        return cls(sum(stretch.samples for stretch in stretches), ends_s[-1], waited_s, tuple(slices_s))

    @property
    def own_s(self) -> float:
        """Time in which it did not wait for others."""
        return self.total_s - self.waited_s

    @property
    def variance(self) -> float:
        """Variance of the waiting time, as if its samples were independent."""
        share = (self.waited_s / self.total_s * self.samples + 2) / (self.samples + 4)
        return share * (1 - share) / self.samples * self.total_s**2


@dataclass(frozen=True, slots=True)
class Lateness:
    """Ranks that waited less than all others, and by how much."""

    ranks: tuple[int, ...]
    others: tuple[int, ...]
    waited_s: float
    error_s: float
    of_s: float
    is_steady: bool
    """Whether they are late throughout, not now and then by chance, as without a processor for each rank."""


def find_lateness(times: Sequence[RankTime]) -> Lateness | None:
    """Return the ranks that surely waited less than the others; None if there are none.

    They are at most half of the ranks: if most wait less than the rest, it is these that have less to do.
    The probability that one is returned though all have the same chances is at most `LEVEL` if it is steady.
    """
    if len(times) < 2 or any(time.samples < MIN_SAMPLES or time.total_s <= 0 for time in times):
        return None
    late, others = _split(times)
    if len(late) > len(others):
        return None
    of_s = median(time.total_s for time in times)
    usual_s = median(times[n].waited_s for n in others)
    least_s = MIN_LATE * of_s
    sure = _adjusted([_p_of_samples(times, n, others) if n in late else 1.0 for n in range(len(times))])
    usual_own_s = median(times[n].own_s for n in others)
    late = [
        n
        for n in late
        if sure[n] < LEVEL and min(usual_s - times[n].waited_s, times[n].own_s - usual_own_s) >= least_s
    ]
    if not late:
        return None
    steady = _adjusted([_p_of_slices(times, n, others) if n in late else 1.0 for n in range(len(times))])
    waited_s = usual_s - median(times[n].waited_s for n in late)
    error_s = _Z_95 * math.sqrt(_variance(times, late) + _variance(times, others))
    return Lateness(
        tuple(sorted(late)), tuple(others), waited_s, error_s, of_s, all(steady[n] < LEVEL for n in late)
    )


def _split(times: Sequence[RankTime]) -> tuple[list[int], list[int]]:
    """Divide the ranks by their waiting, so that both parts vary least; those that wait less are first."""
    order = sorted(range(len(times)), key=lambda n: times[n].waited_s)
    sums = [0.0, *accumulate(times[n].waited_s for n in order)]

    def between(size: int) -> float:
        return sums[size] ** 2 / size + (sums[-1] - sums[size]) ** 2 / (len(order) - size)

    size = max(range(1, len(order)), key=between)
    return order[:size], sorted(order[size:])


def _adjusted(ps: Sequence[float]) -> list[float]:
    return [test.p for test in holm(ps, LEVEL)]


def _variance(times: Sequence[RankTime], ranks: Sequence[int]) -> float:
    """Return the variance of the median of the ranks' waiting times."""
    mean = math.fsum(times[n].variance for n in ranks) / len(ranks)
    return mean / len(ranks) * (_OF_MEDIAN if len(ranks) > 2 else 1.0)


def _p_of_samples(times: Sequence[RankTime], rank: int, others: Sequence[int]) -> float:
    difference_s = median(times[n].waited_s for n in others) - times[rank].waited_s
    return t_two_sided(difference_s / math.sqrt(times[rank].variance + _variance(times, others)), math.inf)


def _p_of_slices(times: Sequence[RankTime], rank: int, others: Sequence[int]) -> float:
    """Return the probability that the rank waits so much less in its slices by chance."""
    if not all(times[n].slices_s for n in (rank, *others)):
        return 1.0
    differences_s = [
        median(times[n].slices_s[number] for n in others) - times[rank].slices_s[number]
        for number in range(SLICES)
    ]
    variance, df = batch_spread(differences_s)
    mean_s = math.fsum(differences_s) / SLICES
    if mean_s <= 0:
        return 1.0
    return t_two_sided(mean_s / math.sqrt(variance), df) if variance else 0.0


@dataclass(frozen=True, slots=True)
class Explanation:
    """A function in which late ranks spend the time for which the others wait."""

    function: Function
    is_much_longer: bool
    """Whether it takes much longer in the late ranks than in any other one."""


_Functions = Mapping[Function, Included]


def explain(waited_s: float, late: Sequence[_Functions], others: Sequence[_Functions]) -> Explanation | None:
    """Return the innermost function that has more than half of the time for which the others wait.

    Both sequences have the functions of each rank.
    """
    depths: dict[Function, float] = {}
    for function in set().union(*late):
        usual_s = median(_seconds(rank, function) for rank in others)
        if median(_seconds(rank, function) for rank in late) - usual_s > _HALF * waited_s:
            depths[function] = max(rank[function].depth for rank in late if function in rank)
    if not depths:
        return None
    innermost = max(depths, key=lambda function: (depths[function], function))
    least_s = median(_seconds(rank, innermost) for rank in late)
    most_s = max(_seconds(rank, innermost) for rank in others)
    return Explanation(innermost, least_s >= _MUCH_LONGER * most_s)


def is_no_chance(lateness: Lateness, explanation: Explanation | None) -> bool:
    """Return whether ranks are late for a reason: because of a function, or steadily.

    By chance, ranks without a processor each are late in all functions, now one and now another.
    """
    if explanation is not None and explanation.is_much_longer:
        return True
    return lateness.is_steady and lateness.waited_s >= MIN_UNEXPLAINED * lateness.of_s


def _seconds(rank: Mapping[Function, Included], function: Function) -> float:
    return rank[function].seconds if function in rank else 0.0
