"""Cost of tracking memory: a tracked call compared with the same call, and a start of the tracker."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from time import perf_counter

from benchmarks.figures import Figure
from benchmarks.pairs import difference_figure, interleaved, ratio_figure
from profkit import profile

_MANY = 20_000


def measure(quick: bool) -> list[Figure]:
    """Compare tracked calls to others, with the start and the end of the tracker."""
    pairs = 3 if quick else 21
    figures = []
    for what, work in {
        "few large allocations": _large,
        "calls of small functions": _calls,
        "JSON": _json,
    }.items():
        for kind, tracked in {
            "": profile(work, mode="memory", label=what),
            ", each object": profile(work, mode="memory", label=f"{what}, each", python_allocators=True),
        }.items():
            _time(tracked), _time(work)
            taken = interleaved(partial(_time, tracked), partial(_time, work), pairs)
            figures.append(ratio_figure(f"{what}{kind}: tracked ÷ not", taken))
    empty = profile(_nothing, mode="memory", label="empty")
    empty()
    taken = interleaved(partial(_time, empty), partial(_time, _nothing), pairs)
    return [*figures, difference_figure("an empty call: tracked - not", taken, 1, 1e6)]


def _time(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _large() -> int:
    return sum(len(bytearray(10**6)) for _ in range(2000))


def _calls() -> int:
    return sum(map(_small, range(10 * _MANY)))


def _small(number: int) -> int:
    return number & 7


def _json() -> object:
    return json.loads(json.dumps([{"name": str(number), "value": number} for number in range(_MANY)]))


def _nothing() -> None: ...
