"""Functions that change or consume what they work on, and their counterparts that work on copies."""

from __future__ import annotations

import functools
import heapq
from collections.abc import Iterator

STOCK = list(range(200))


def sort(values: list[int]) -> None:
    values.sort()


def drain(values: list[int]) -> None:
    while values:
        values.pop()


def drain_copy(values: list[int]) -> None:
    copy = values[:]
    while copy:
        copy.pop()


def heapify(values: list[int]) -> None:
    heapq.heapify(values)


def heapify_copy(values: list[int]) -> None:
    heapq.heapify(values[:])


def total(values: Iterator[int]) -> int:
    return sum(values)


def drain_stock() -> None:
    while STOCK:
        STOCK.pop()


@functools.lru_cache
def square(number: int) -> int:
    return number * number


def look_up(number: int) -> int:
    return square(number)
