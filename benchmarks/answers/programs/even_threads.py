"""Four threads that compute the same twelve figures, each for its own items."""

import threading
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


def compute(first: int) -> None:
    """Compute all figures of some items."""
    items, end_s = range(first, first + 500), perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        for step in STEPS:
            step(items)
    truth.threads()


threads = [threading.Thread(target=compute, args=(n * 500,), name=f"figures-{n}") for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
