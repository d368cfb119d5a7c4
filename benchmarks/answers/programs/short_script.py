"""A script of 50 ms: sums up a table in ten ways, each for as long as the others."""

import json
from collections.abc import Callable
from time import perf_counter

from benchmarks.answers import truth

SLICE_S = 0.004
values = [number * 37 % 101 for number in range(500)]


def total() -> int:
    return sum([value + 0 for value in values])


def squares() -> int:
    return sum([value * value for value in values])


def halves() -> int:
    return sum([value // 2 for value in values])


def odd() -> int:
    return len([value for value in values if value % 2])


def large() -> int:
    return len([value for value in values if value > 50])


def bits() -> int:
    return sum([value.bit_length() for value in values])


def digits() -> int:
    return sum([len(str(value)) for value in values])


def differences() -> int:
    return sum([abs(value - 50) for value in values])


def negated() -> int:
    return sum([-value for value in values])


def shifted() -> int:
    return sum([value << 1 for value in values])


WAYS: list[Callable[[], int]] = [
    total, squares, halves, odd, large, bits, digits, differences, negated, shifted,
]  # fmt: skip
sums = dict[str, int]()
for way in WAYS:
    end_s = perf_counter() + SLICE_S
    while perf_counter() < end_s:
        sums[way.__name__] = way()
print(json.dumps(sums), truth.SECONDS > 0)
