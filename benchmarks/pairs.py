"""Interleaved pairs of two ways of doing the same, and statistics of their ratios.

A machine's speed drifts, so only neighbours can be compared: A B, B A, A B, … A figure is the median over
pairs. Its interval consists of order statistics, which assume no distribution of the values: of n values
the k-th smallest and the k-th largest, with the largest k for which the binomial distribution (n, 1/2)
leaves at most 2.5 % below k. With fewer than six values there is no such k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.figures import Figure
from profkit.stats.means import share_interval
from profkit.units import format_duration

Pair = tuple[float, float]
_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median with its interval and spread."""

    median: float
    interval: tuple[float, float] | None
    spread: tuple[float, float]


def interleaved(first: Callable[[], float], second: Callable[[], float], pairs: int) -> list[Pair]:
    """Return results of `first` and `second`, interleaved; the order alternates from pair to pair."""
    taken = []
    for number in range(pairs):
        if number % 2:
            late = second()
            taken.append((first(), late))
        else:
            early = first()
            taken.append((early, second()))
    return taken


def summed(pairs: Sequence[Pair], size: int) -> list[Pair]:
    """Return the sums of each `size` neighbouring pairs."""
    groups = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    return [(math.fsum(a for a, _ in group), math.fsum(b for _, b in group)) for group in groups]


def estimate(values: Sequence[float]) -> Estimate:
    """Return the median of values with its 95 % interval and their spread."""
    ordered = sorted(values)
    rank = _rank(len(ordered))
    interval = (ordered[rank - 1], ordered[-rank]) if rank else None
    return Estimate(median(ordered), interval, (ordered[0], ordered[-1]))


def median_figure(
    what: str, values: Sequence[float], unit: str, bound: float | None = None, detail: str = ""
) -> Figure:
    """Return the median of values, with its interval and their spread."""
    found = estimate(values)
    return Figure(
        what, found.median, unit, bound, interval=found.interval, spread=found.spread, detail=detail
    )  # fmt: skip


def share_figure(
    what: str, hits: int, of: int, bound: float | None = None, *, detail: str = "", certain: bool = False
) -> Figure:
    """Return a share in per cent, with Wilson's interval."""
    low, high = share_interval(hits, of)
    interval = low * 100, high * 100
    return Figure(what, hits / of * 100, "%", bound, certain=certain, interval=interval, detail=detail)


def ratio_figure(what: str, pairs: Sequence[Pair], bound: float | None = None) -> Figure:
    """Return the ratio of the first to the second of each pair; both are in seconds."""
    return median_figure(what, [first / second for first, second in pairs], "×", bound, _medians(pairs, "÷"))


def difference_figure(what: str, pairs: Sequence[Pair], calls: int, bound: float) -> Figure:
    """Return the difference of first and second per call, in µs; both are in seconds for all calls."""
    per_call = [(first / calls, second / calls) for first, second in pairs]
    differences = [(first - second) / calls * 1e6 for first, second in pairs]
    return median_figure(what, differences, "µs", bound, _medians(per_call, "-"))


def _medians(pairs: Sequence[Pair], sign: str) -> str:
    first, second = (format_duration(median(side)) for side in zip(*pairs, strict=True))
    return f"{first} {sign} {second}, {len(pairs)} pairs"


def _rank(count: int) -> int:
    """Return the k of the module's docstring, 0 if there is none."""
    rank, below = 0, 0.0
    while (below := below + math.comb(count, rank) / 2**count) <= _TAIL:
        rank += 1
    return rank
