"""Code under test, with branches that tests reach and branches that they do not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from profkit import profile, profiled


@profile(label="classify")
def classify(number: int) -> str:
    if number < 0:
        return "negative"
    if number == 0:
        return "zero"
    with profiled("block"):
        for divisor in range(2, number):
            if number % divisor == 0:
                return "composite"
    return "prime"


@profile(label="numbers")
def numbers(count: int) -> Iterator[int]:
    for number in range(count):
        if number == 100:
            return
        yield number


@profile(label="wait")
async def wait(value: int) -> int:
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        return -1
    return value


@profile(label="fails")
def fails(kind: type[Exception]) -> None:
    raise kind("mine")
