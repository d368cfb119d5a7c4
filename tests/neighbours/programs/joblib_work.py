"""Tasks that workers import by their names."""

from __future__ import annotations

from colours import green, red

from profkit import profile

EXACT = {"rate": 100.0, "blocking": True}


@profile(label="red", **EXACT)
def first(number: int) -> int:
    red(0.05)
    return number * number


@profile(label="green", **EXACT)
def second(number: int, *, by: int = 2) -> int:
    green(0.05)
    return number * by
