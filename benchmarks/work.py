"""Work to be profiled: of a known length, under any name, and a workload as programs have it."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

_F = TypeVar("_F")
_PROBES = 7


def fixed_work(turns: int) -> int:
    """The same work for the same number of turns, without a call of anything."""
    total = 0
    for turn in range(turns):
        total += turn * turn % 7
    return total


def pure_python(rounds: int) -> int:
    """Small functions, short strings, lists and dictionaries: what a tracing profiler has to follow."""
    return sum(_tally(_words(number)) for number in range(rounds))


def turns_for(duration_s: float) -> int:
    """How many turns of `fixed_work` take about so long here."""
    return _calibrated(fixed_work, 20_000, duration_s)


def rounds_for(duration_s: float) -> int:
    """How many rounds of `pure_python` take about so long here."""
    return _calibrated(pure_python, 2_000, duration_s)


def renamed(function: _F, name: str) -> _F:
    """The same function under another name, which stacks will show."""
    source: Any = function
    code = source.__code__.replace(co_name=name, co_qualname=name)
    made = FunctionType(code, source.__globals__, name, source.__defaults__, source.__closure__)
    made.__qualname__ = name
    return cast(_F, made)


def _calibrated(function: Callable[[int], int], amount: int, duration_s: float) -> int:
    """The amount that takes `duration_s`, by the quickest of some probes."""
    quickest_s = min(_timed_s(function, amount) for _ in range(_PROBES))
    return max(1, round(amount * duration_s / quickest_s))


def _timed_s(function: Callable[[int], int], amount: int) -> float:
    start_s = time.perf_counter()
    function(amount)
    return time.perf_counter() - start_s


def _words(number: int) -> list[str]:
    return [f"w{number * step % 97}" for step in range(12)]


def _tally(words: list[str]) -> int:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + _weight(word)
    return max(counts.values())


def _weight(word: str) -> int:
    return len(word) % 3 + 1
