"""A program that a debugger steps through, or that coverage or a frozen clock surrounds."""

from __future__ import annotations

import sys

from colours import red

from profkit import profile, profiled


@profile(label="outer")
def outer(number: int) -> int:
    total = 0
    for value in range(number):
        total += inner(value)
    return total


@profile(label="inner")
def inner(value: int) -> int:
    red(0.002)
    return value * 2


@profile(label="numbers")
def numbers(count: int):
    yield from range(count)


def main() -> None:
    print(outer(4))
    with profiled("block"):
        total = sum(numbers(3))
    print(total)
    if "fail" in sys.argv:
        inner("x" - 1)


if __name__ == "__main__":
    main()
