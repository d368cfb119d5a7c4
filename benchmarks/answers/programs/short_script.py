"""A script of 50 ms: sums up a table in ten ways, each for as long as the others."""

import json
from collections.abc import Callable
from time import perf_counter

from benchmarks.answers import truth

SLICE_S = 0.004
values = [number * 37 % 101 for number in range(500)]


def total() -> int:
    """Return the sum."""
    return sum([value + 0 for value in values])


def squares() -> int:
    """Return the sum of squares."""
    return sum([value * value for value in values])


def halves() -> int:
    """Return the sum of halves."""
    return sum([value // 2 for value in values])


def odd() -> int:
    """Return the number of odd values."""
    return len([value for value in values if value % 2])


def large() -> int:
    """Return the number of large values."""
    return len([value for value in values if value > 50])


def bits() -> int:
    """Return the number of bits."""
    return sum([value.bit_length() for value in values])


def digits() -> int:
    """Return the number of digits."""
    return sum([len(str(value)) for value in values])


def differences() -> int:
    """Return the sum of differences."""
    return sum([abs(value - 50) for value in values])


def negated() -> int:
    """Return the negated sum."""
    return sum([-value for value in values])


def shifted() -> int:
    """Return the sum of shifted values."""
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
