"""Work to profile: of a known duration, under any name, and a typical workload."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

_F = TypeVar("_F")
_PROBES = 7


def fixed_work(turns: int) -> int:
    """Do the same work for the same number of turns, without any call."""
    total = 0
    for turn in range(turns):
        total += turn * turn % 7
    return total


def pure_python(rounds: int) -> int:
    """Run small functions on short strings, lists and dictionaries: many events for a tracing profiler."""
    return sum(_tally(_words(number)) for number in range(rounds))


def turns_for(duration_s: float) -> int:
    """Return the number of turns of `fixed_work` that take about this long here."""
    return _calibrated(fixed_work, 20_000, duration_s)


def rounds_for(duration_s: float) -> int:
    """Return the number of rounds of `pure_python` that take about this long here."""
    return _calibrated(pure_python, 2_000, duration_s)


def timed_s(function: Callable[[int], int], amount: int) -> float:
    """Return the wall time of one call."""
    start_s = time.perf_counter()
    function(amount)
    return time.perf_counter() - start_s


def renamed(function: _F, name: str) -> _F:
    """Return the same function under another name, which stacks show."""
    source: Any = function
    code = source.__code__.replace(co_name=name, co_qualname=name)
    made = FunctionType(code, source.__globals__, name, source.__defaults__, source.__closure__)
    made.__qualname__ = name
    return cast(_F, made)


def _calibrated(function: Callable[[int], int], amount: int, duration_s: float) -> int:
    """Return the amount that takes `duration_s`, by the fastest of several probes."""
    quickest_s = min(timed_s(function, amount) for _ in range(_PROBES))
    return max(1, round(amount * duration_s / quickest_s))


def _words(number: int) -> list[str]:
    return [f"w{number * step % 97}" for step in range(12)]


def _tally(words: list[str]) -> int:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + _weight(word)
    return max(counts.values())


def _weight(word: str) -> int:
    return len(word) % 3 + 1
