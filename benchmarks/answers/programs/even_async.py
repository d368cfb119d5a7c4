"""Coroutines that compute twelve figures in alternation."""

import asyncio
from time import perf_counter

from benchmarks.answers import truth

STEP_S = 0.004


def price(items: range) -> int:
    """Return the price of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item * 3 % 97 for item in items])
    return total


def discount(items: range) -> int:
    """Return the discount of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item // 7 for item in items])
    return total


def tax(items: range) -> int:
    """Return the tax of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item * 19 // 100 for item in items])
    return total


def freight(items: range) -> int:
    """Return the freight of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item % 11 + 4 for item in items])
    return total


def weight(items: range) -> int:
    """Return the weight of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item * item % 53 for item in items])
    return total


def volume(items: range) -> int:
    """Return the volume of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item ^ 85 for item in items])
    return total


def points(items: range) -> int:
    """Return the points of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item >> 2 for item in items])
    return total


def margin(items: range) -> int:
    """Return the margin of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item * 5 // 8 for item in items])
    return total


def stock(items: range) -> int:
    """Return the stock of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item % 400 for item in items])
    return total


def rating(items: range) -> int:
    """Return the rating of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([(item * 31 + 7) % 6 for item in items])
    return total


def priority(items: range) -> int:
    """Return the priority of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item & 15 for item in items])
    return total


def checksum(items: range) -> int:
    """Return the checksum of all items."""
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        total = sum([item * 65_599 % 251 for item in items])
    return total


STEPS = (price, discount, tax, freight, weight, volume, points, margin, stock, rating, priority, checksum)


async def compute(first: int) -> int:
    """Compute all figures of some items, and let the others run in between."""
    items, end_s, total = range(first, first + 500), perf_counter() + truth.SECONDS, 0
    while perf_counter() < end_s:
        for step in STEPS:
            total += step(items)
            await asyncio.sleep(0)
    return total


async def main() -> None:
    """Print the sums of four coroutines."""
    print(await asyncio.gather(*(compute(number * 500) for number in range(4))))


asyncio.run(main())
