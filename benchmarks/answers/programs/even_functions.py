"""Compute fourteen statistics, each for as long as the others."""

import math
from collections.abc import Callable
from time import perf_counter

from benchmarks.answers import truth

SLICE_S = 0.005
values = [number * 37 % 101 / 1.0 for number in range(1_000)]


def mean() -> float:
    """Return the mean."""
    return sum([value + 0 for value in values]) / len(values)


def squares() -> float:
    """Return the sum of squares."""
    return sum([value * value for value in values])


def cubes() -> float:
    """Return the sum of cubes."""
    return sum([value * value * value for value in values])


def roots() -> float:
    """Return the sum of roots."""
    return sum([math.sqrt(value) for value in values])


def logs() -> float:
    """Return the sum of logarithms."""
    return sum([math.log(value + 1) for value in values])


def sines() -> float:
    """Return the sum of sines."""
    return sum([math.sin(value) for value in values])


def largest() -> float:
    """Return the largest negative."""
    return max([-value for value in values])


def smallest() -> float:
    """Return the smallest remainder."""
    return min([value % 17 for value in values])


def spread() -> float:
    """Return the range."""
    return max([value + 1 for value in values]) - min(values)


def rounded() -> float:
    """Return the sum of rounded values."""
    return sum([round(value, 1) for value in values])


def halves() -> float:
    """Return the sum of halves."""
    return sum([value / 2 for value in values])


def positive() -> float:
    """Return the number of large values."""
    return float(len([value for value in values if value > 50]))


def inverse() -> float:
    """Return the sum of inverses."""
    return sum([1 / (value + 1) for value in values])


def alternating() -> float:
    """Return the alternating sum."""
    return sum([-value if n % 2 else value for n, value in enumerate(values)])


STATISTICS: list[Callable[[], float]] = [
    mean, squares, cubes, roots, logs, sines, largest,
    smallest, spread, rounded, halves, positive, inverse, alternating,
]  # fmt: skip
results, end_s = dict[str, float](), perf_counter() + truth.SECONDS
while perf_counter() < end_s:
    for statistic in STATISTICS:
        slice_end_s = perf_counter() + SLICE_S
        while perf_counter() < slice_end_s:
            results[statistic.__name__] = statistic()
print(results)
