"""Compute fourteen statistics, each for as long as the others."""

import math
from collections.abc import Callable
from time import perf_counter

from benchmarks.answers import truth

SLICE_S = 0.005
values = [number * 37 % 101 / 1.0 for number in range(1_000)]


def mean() -> float:
    return sum([value + 0 for value in values]) / len(values)


def squares() -> float:
    return sum([value * value for value in values])


def cubes() -> float:
    return sum([value * value * value for value in values])


def roots() -> float:
    return sum([math.sqrt(value) for value in values])


def logs() -> float:
    return sum([math.log(value + 1) for value in values])


def sines() -> float:
    return sum([math.sin(value) for value in values])


def largest() -> float:
    return max([-value for value in values])


def smallest() -> float:
    return min([value % 17 for value in values])


def spread() -> float:
    return max([value + 1 for value in values]) - min(values)


def rounded() -> float:
    return sum([round(value, 1) for value in values])


def halves() -> float:
    return sum([value / 2 for value in values])


def positive() -> float:
    return float(len([value for value in values if value > 50]))


def inverse() -> float:
    return sum([1 / (value + 1) for value in values])


def alternating() -> float:
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
